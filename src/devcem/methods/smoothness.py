"""Frames that look alike should score alike: the group-instance smoothness of Kotzias et al. 2015."""

from __future__ import annotations

import torch
from torch import Tensor


def similarity(x: Tensor, mask: Tensor, gamma: float = 0.0) -> Tensor:
    """exp(-gamma |x_i - x_j|^2) between the frames of a bag *x* [B,T,D]: [B,T,T], 0 at padding, no gradient.

    gamma = 1 is the paper's, for embeddings of length about 1; on features of hundreds of dimensions it makes
    each frame like itself alone. gamma = 0 stands for 1 / the mean of |x_i - x_j|^2 over the bag's pairs of
    frames.
    """
    x = x.detach().float()
    apart = torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist").square()
    both = mask[:, :, None] & mask[:, None]
    if gamma == 0:
        count = mask.sum(1)
        mean = (apart * both).sum((1, 2)) / (count * (count - 1)).clamp(min=1)
        apart = apart / mean.where(mean > 0, 1.0)[:, None, None]
    else:
        apart = gamma * apart
    return (-apart).exp().masked_fill(~both, 0.0)


def smoothness_loss(scores: Tensor, alike: Tensor, mask: Tensor, weight: Tensor) -> Tensor:
    """The mean over a bag's pairs of frames (i, j) of alike_ij (s_i - s_j)^2; over classes; over bags.

    *scores* [B,T,K], *alike* [B,T,T] of `similarity`, *weight* [B,K] of the classes of each bag, 0 for none.
    The original's sum runs over all frames of a minibatch; within a bag, the loss stays a mean over bags.
    """
    scores = scores.masked_fill(weight[:, None] == 0, 0.0)
    apart = (scores[:, :, None] - scores[:, None]).square()  # [B,T,T,K]
    each = (alike[..., None] * apart).sum((1, 2)) / mask.sum(1)[:, None].square()  # [B,K]
    total = weight.sum(1)
    return ((each * weight).sum(1) / total.where(total > 0, 1.0)).mean()
