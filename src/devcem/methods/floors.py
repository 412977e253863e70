"""The floors every method must clear: a linear classifier of frames, pooled by mean or by maximum."""

from __future__ import annotations

from torch import Tensor, nn

from devcem.methods.method import Method
from devcem.methods.output import MILOutput
from devcem.methods.pooling import pool, real_only


class MeanPool(Method):
    """Every frame counts alike."""

    additive = True
    order_free = True

    def __init__(self, num_classes: int, feature_dim: int) -> None:
        super().__init__(num_classes, feature_dim)
        self.head = nn.Linear(feature_dim, num_classes)

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        frame_logits = real_only(self.head(real_only(features, mask)).float(), mask)  # [B,T,K]
        attention = mask / mask.sum(1, keepdim=True)  # [B,T]
        return MILOutput(pool(attention, frame_logits), attention, frame_logits)


class MaxPool(Method):
    """Each class by its highest frame (Eq. 2); frames that tie share the weight.

    The weights differ by class: extras["class_attention"] [B,T,K], and attention is their mean over classes.
    """

    order_free = True

    def __init__(self, num_classes: int, feature_dim: int) -> None:
        super().__init__(num_classes, feature_dim)
        self.head = nn.Linear(feature_dim, num_classes)

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        frame_logits = self.head(real_only(features, mask)).float()  # [B,T,K]
        real = mask[..., None]
        video_logits = frame_logits.masked_fill(~real, -float("inf")).amax(1)
        top = (frame_logits == video_logits[:, None]) & real
        weights = top / top.sum(1, keepdim=True)  # [B,T,K]
        extras = {"class_attention": weights}
        return MILOutput(video_logits, weights.mean(2), real_only(frame_logits, mask), extras)
