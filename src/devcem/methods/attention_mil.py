"""Attention-based deep MIL (Ilse et al. 2018) on frame features, for many labels."""

from __future__ import annotations

from typing import Annotated

from torch import Tensor, nn

from devcem.methods.method import Method
from devcem.methods.options import About
from devcem.methods.output import MILOutput
from devcem.methods.pooling import Attention, SharedDropout, pool, real_only


class AttentionMIL(Method):
    """Attention straight on the frame features, each frame by itself, then a linear head.

    The original embeds instances first, by layers that belong to its data sets; here the encoder has done so.
    `embedding` puts one such layer back (500 on the original's MNIST bags).
    """

    additive = True
    order_free = True
    inert = (f"attention.{Attention.INERT}",)

    def __init__(
        self,
        num_classes: int,
        feature_dim: int,
        *,
        attention_dim: Annotated[int, About("hidden units of the attention", minimum=1)] = 128,
        gated: Annotated[bool, About("multiply a sigmoid gate into the attention's hidden layer")] = False,
        embedding: Annotated[int, About("units of a ReLU layer before all else; 0 for none", minimum=0)] = 0,
        dropout: Annotated[float, About("share dropped before the head", minimum=0, below=1)] = 0.0,
    ) -> None:
        super().__init__(num_classes, feature_dim)
        width = embedding or feature_dim
        self.embedding = nn.Sequential(nn.Linear(feature_dim, width), nn.ReLU()) if embedding else None
        self.attention = Attention(width, attention_dim, gated)
        self.dropout = SharedDropout(dropout)
        self.head = nn.Linear(width, num_classes)

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        h = real_only(features, mask)
        if self.embedding is not None:
            h = self.embedding(h)  # [B,T,W]
        attention = self.attention(h, mask)  # [B,T]
        frame_logits = real_only(self.head(self.dropout(h)).float(), mask)  # [B,T,K]
        return MILOutput(pool(attention, frame_logits), attention, frame_logits)
