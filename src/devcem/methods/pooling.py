"""Attention over the real frames of padded bags."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def single(values: Tensor) -> Tensor:
    """Half precision becomes float32; float64 stays, for numeric checks of gradients."""
    return values if values.dtype == torch.float64 else values.float()


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax of *scores* [B,T] over the frames where *mask* is True, exactly 0 elsewhere; in float32."""
    lowest = torch.finfo(torch.float32).min  # not -inf: a row that is masked throughout gives 0, not NaN
    weights = single(scores).masked_fill(~mask, lowest).softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0)


def real_only(values: Tensor, mask: Tensor) -> Tensor:
    """*values* [B,T,...] with zeros at padding, whatever stood there, in the gradient as well."""
    return values.masked_fill(~mask.reshape(*mask.shape, *[1] * (values.dim() - 2)), 0.0)


def pool(attention: Tensor, frame_logits: Tensor) -> Tensor:
    """Video logits [B,K] as the sum of attention [B,T] x frame logits [B,T,K], in float32.

    The same number as the head gives for the attention-weighted mean of its inputs, since the head is linear
    and attention sums to 1; written in this order, each frame's share of a video's evidence is exact.
    """
    return (attention[..., None] * frame_logits.float()).sum(1)


def top_weights(values: Tensor, mask: Tensor, count: Tensor | int = 1) -> Tensor:
    """Weights [B,T,K] that make a weighted sum of *values* [B,T,K] the mean of each column's *count* [B]
    highest real frames. Frames that tie for the last place share it, so that order means nothing."""
    real = mask[..., None]
    held = values.detach().masked_fill(~real, -torch.inf)
    k = torch.as_tensor(count, device=values.device).expand(len(values))[:, None, None]  # [B,1,1]
    last = held.sort(1, descending=True).values.gather(1, (k - 1).expand(-1, 1, held.shape[2]))
    above, tied = (held > last) & real, (held == last) & real
    rest = (k - above.sum(1, keepdim=True)) / tied.sum(1, keepdim=True)  # what each of the tied gets of 1
    return (above + tied * rest) / k


def glorot(module: nn.Module) -> None:
    """Linear layers as Keras and the authors of W-TALC begin them: Glorot's uniform weights, biases of 0."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)


class Attention(nn.Module):
    """Eq. 4: softmax over frames of w^T tanh(V h); gated: w^T (tanh(V h) * sigmoid(U h))."""

    INERT = "score.bias"  # moves every frame's score alike, which a softmax does not see

    def __init__(self, width: int, hidden: int, gated: bool = False) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, hidden)  # V
        self.gate = nn.Linear(width, hidden) if gated else None  # U
        self.score = nn.Linear(hidden, 1)  # w

    def forward(self, h: Tensor, mask: Tensor) -> Tensor:
        """[B,T,W] to [B,T]."""
        seen = self.hidden(h).tanh()
        if self.gate is not None:
            seen = seen * self.gate(h).sigmoid()
        return masked_softmax(self.score(seen).squeeze(-1), mask)


class SharedDropout(nn.Module):
    """Drops features of a bag, the same in each of its frames, so that pooling before or after agrees."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(share)

    def forward(self, h: Tensor) -> Tensor:
        """[B,T,W] to [B,T,W]."""
        if not self.training or self.dropout.p == 0:
            return h
        kept: Tensor = self.dropout(h.new_ones(h.shape[0], 1, h.shape[2]))
        return h * kept
