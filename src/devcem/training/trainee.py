"""What is trained: a method, with its encoder before it where that learns too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor, nn

from devcem.methods.bag import Batch
from devcem.methods.method import Method
from devcem.methods.output import MILOutput
from devcem.training.folding import Pair, folded, pairs

Prepare = Callable[[Tensor], Tensor]  # uint8 [R,3,H,W] -> float [R,3,S,S]


class Trainee(nn.Module):
    """A batch in, the method's output and its loss terms out."""

    def __init__(
        self,
        method: Method,
        encoder: nn.Module | None = None,
        prepare: Prepare | None = None,
        freeze_norm: bool = True,
        checkpointing: bool = False,
    ) -> None:
        super().__init__()
        self.method, self.encoder = method, encoder
        self._prepare, self._freeze_norm = prepare, freeze_norm
        # what is computed again in the backward pass has left the context in which norms are folded
        self._pairs: list[Pair] | None = None if freeze_norm and not checkpointing else []
        if encoder is not None:
            encoder.to(memory_format=torch.channels_last)
            if checkpointing:
                encoder.set_grad_checkpointing(True)  # type: ignore[operator]

    def forward(self, batch: Callable[[], Batch]) -> dict[str, Tensor]:
        """The loss terms of a training step. The batch comes behind a function, so that no wrapper for
        devices or precision takes it apart and casts its labels."""
        return self.judged(batch())[1]

    def judged(self, batch: Batch) -> tuple[MILOutput, dict[str, Tensor]]:
        if self.encoder is not None and batch.frames is not None:
            batch = batch.with_features(self.encode(batch.frames))
        output: MILOutput = self.method(batch.features, batch.mask)
        return output, self.method.loss(output, batch)

    def encode(self, frames: Tensor) -> Tensor:
        """uint8 [R,3,H,W], real frames alone, to [R,D]."""
        assert self.encoder is not None
        pixels = self._prepare(frames) if self._prepare is not None else frames.float()
        pixels = pixels.contiguous(memory_format=torch.channels_last)
        if self._pairs is None:
            self._pairs = pairs(self.encoder, pixels[:1])
            self.train(self.training)
        with folded(self._pairs):
            features: Tensor = self.encoder(pixels)
        return features

    def train(self, mode: bool = True) -> Self:
        """Batch-norm statistics of the encoder stay what they were, unless asked otherwise."""
        super().train(mode)
        if self._freeze_norm and self.encoder is not None:
            for module in self.encoder.modules():
                if isinstance(module, nn.modules.batchnorm._BatchNorm):
                    module.eval()
        return self
