"""Features computed by PyTorch, on a CPU, an NVIDIA or an Apple GPU."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import torch

from devcem.encoders.backbone import Backbone
from devcem.encoders.encoder import Features, Precision
from devcem.errors import UserError
from devcem.frames.source import Frames


class TorchEncoder:
    """A copy of a backbone as it is now. In fp32 the batch size moves features by rounding alone."""

    BATCH_BOUND = 1e-5  # largest difference between batch sizes, as a share of the feature's largest value

    def __init__(
        self, backbone: Backbone, device: str = "cpu", precision: Precision | None = None, batch: int = 0
    ) -> None:
        self.name, self.dim, self.size = backbone.name, backbone.dim, backbone.size
        self._device = usable(device)
        on_gpu = self._device.type == "cuda"
        self.precision = precision or ("bf16" if on_gpu else "fp32")
        self.batch = batch or (64 if on_gpu else 8)
        self._prepare = backbone.prepare
        self._fingerprint = backbone.identity()
        network = deepcopy(backbone.network).eval().requires_grad_(False)
        self._network = network.to(self._device, memory_format=torch.channels_last)  # type: ignore[call-overload]

    @torch.inference_mode()
    def encode(self, frames: Frames) -> Features:
        features = np.empty((len(frames), self.dim), np.float32)
        for start in range(0, len(frames), self.batch):
            part = torch.from_numpy(np.ascontiguousarray(frames[start : start + self.batch]))
            pixels = self._prepare(part.to(self._device).permute(0, 3, 1, 2))  # channels last in memory
            with torch.autocast(self._device.type, torch.bfloat16, enabled=self.precision == "bf16"):
                pooled = self._network(pixels)  # [B,D]
            features[start : start + self.batch] = pooled.float().cpu().numpy()
        return features

    @property
    def fingerprint(self) -> dict[str, Any]:
        return self._fingerprint | {"engine": f"torch {self._device.type}", "precision": self.precision}


def usable(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise UserError(f"the device '{name}' can't be used here", remedy="use --device cpu") from error
    return device
