"""What every method is: bags of features in, logits out, with its own loss and decision rule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from devcem.methods.bag import Batch
from devcem.methods.composing import Bools, Step, shuffled
from devcem.methods.losses import video_bce
from devcem.methods.output import MILOutput


class Method(nn.Module, ABC):
    """Subclasses write `forward`, and `loss` or `scores` where theirs differ.

    The keyword-only arguments of a subclass, annotated with their help, are its options (see `options`).
    """

    additive: bool = False  # video_logits == (attention[...,None] * frame_logits).sum(1)
    order_free: ClassVar[bool] = False  # the order of the frames changes no score
    inert: ClassVar[tuple[str, ...]] = ()  # parameters that the loss cannot depend on, by mathematics
    relative: ClassVar[bool] = (
        False  # the loss ranks the classes of a bag and leaves where 0.5 lies to chance
    )
    least_batch: ClassVar[int] = 1  # bags without which a step has nothing to compare

    positive_weight: Tensor  # [K]
    class_weight: Tensor  # [K]

    def __init__(self, num_classes: int, feature_dim: int) -> None:
        super().__init__()
        self.name = ""  # the registry's, set by `create`
        self.num_classes, self.feature_dim = num_classes, feature_dim
        self.options: dict[str, Any] = {}  # resolved, JSON-able, set by `create`
        self.register_buffer("positive_weight", torch.ones(num_classes), persistent=False)
        self.register_buffer("class_weight", torch.ones(num_classes), persistent=False)

    @abstractmethod
    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        """*features* [B,T,D], *mask* [B,T] with each bag's real frames first."""

    def loss(self, output: MILOutput, batch: Batch) -> dict[str, Tensor]:
        """Named terms, each a mean over bags, and their weighted sum as "total"."""
        video = self.video_loss(output, batch)
        return {"video": video, "total": video}

    def video_loss(self, output: MILOutput, batch: Batch) -> Tensor:
        return video_bce(
            output.video_logits, batch.labels, batch.known, self.positive_weight, self.class_weight
        )

    def scores(self, output: MILOutput) -> Tensor:
        """[B,K] in 0..1."""
        return output.video_logits.float().sigmoid()

    def frame_scores(self, output: MILOutput) -> Tensor:
        """[B,T,K] in 0..1; what stands at padding means nothing."""
        return output.frame_logits.float().sigmoid()

    def compose(self, positive: Bools, size: int, rng: np.random.Generator) -> list[Step]:
        """The steps of a training epoch: each bag in one of them, *size* bags in each but the last ones.

        *positive* [N,K] is True where a training bag is known to carry a class. All chance comes from *rng*.
        """
        return shuffled(len(positive), size, rng)

    def weigh(self, positive: Tensor | None = None, classes: Tensor | None = None) -> None:
        """Weigh positive labels, and classes, in the loss: [K] each, None for ones; not in the state dict."""
        for buffer, given in ((self.positive_weight, positive), (self.class_weight, classes)):
            wanted = torch.ones(self.num_classes) if given is None else given
            if wanted.shape != buffer.shape or not bool((wanted >= 0).all() and wanted.isfinite().all()):
                raise ValueError(f"weights must be {self.num_classes} finite numbers of at least 0")
            buffer.copy_(wanted)
