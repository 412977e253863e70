"""Loss terms that methods share. Each is a mean over bags of one value a bag."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus


def binary_cross_entropy(logits: Tensor, labels: Tensor, positive_weight: Tensor | None = None) -> Tensor:
    """Elementwise, for labels 0 or 1, in float32; infinite logits on the right side cost 0, not NaN."""
    logits = logits.float()
    missed = softplus(-logits)  # -log sigmoid
    if positive_weight is not None:
        missed = missed * positive_weight
    return torch.where(labels > 0.5, missed, softplus(logits))


def video_bce(
    logits: Tensor, labels: Tensor, known: Tensor, positive_weight: Tensor, class_weight: Tensor
) -> Tensor:
    """Multi-label binary cross-entropy: *logits*, *labels*, *known* [B,K], weights [K], to a scalar.

    A bag's value is the mean over its known classes, weighted by *class_weight*, and 0 where it knows none;
    *positive_weight* multiplies the cost of a positive label. The loss is the mean over all B bags, so that
    the losses of parts of a batch, weighted by their bags, are the loss of the batch. What stands at an
    unknown class, be it NaN, changes neither the loss nor a gradient.
    """
    logits = logits.float().masked_fill(~known, 0.0)
    cost = binary_cross_entropy(logits, labels, positive_weight.float())  # [B,K]
    weight = known * class_weight.float()
    total = weight.sum(1)
    return ((cost * weight).sum(1) / total.where(total > 0, 1.0)).mean()
