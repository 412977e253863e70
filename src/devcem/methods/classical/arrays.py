"""NumPy arrays of any names and shapes inside a module: saved and loaded with all its tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

Array = npt.NDArray[Any]


class Arrays(nn.Module):
    """Buffers that take the names and shapes of whatever is put in or loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.register_load_state_dict_pre_hook(_make_room)  # type: ignore[no-untyped-call]

    def put(self, arrays: Mapping[str, Array]) -> None:
        self._buffers.clear()
        for name, value in arrays.items():
            self.register_buffer(name, torch.from_numpy(np.array(value)))

    def get(self) -> dict[str, Array]:
        return {name: value.detach().cpu().numpy() for name, value in self.named_buffers()}


def _make_room(module: nn.Module, state: Mapping[str, Tensor], prefix: str, *_: Any) -> None:
    module._buffers.clear()
    for name, value in state.items():
        if name.startswith(prefix):
            module.register_buffer(name.removeprefix(prefix), torch.empty_like(value))
