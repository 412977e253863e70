"""The paper's self-supervision: frames that are attended to should look unlike the others."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from devcem.methods.losses import binary_cross_entropy

TOLERANCE = 1e-4  # attention * N above 1 by less than this is rounding, not attention
HIDDEN = 256  # of the two-layered bag classifier, whose width the paper does not say

Kind = Literal["none", "polarity", "pair"]
Aggregate = Literal["sum", "mean"]


class SelfSupervision(nn.Module):
    """The bag classifier g over embeddings of the two sides of a bag.

    A frame is on the positive side where attention > 1/N (N real frames, with a tolerance), else on the
    negative one. The choice is hard: no gradient reaches the attention through it. Z+ and Z- are the sums (or
    means) of h over the sides.

    - polarity: g(Z+) -> 1, g(Z-) -> 0, as in the paper's listing and discussion. The term is their mean.
    - pair: g(|Za - Zb|) -> 1 for the same side, 0 for different ones, as in the paper's section. (Z+, Z-) are
      different; the even and the odd frames of one side, counted in time, are the same. A side of one frame
      gives no pair. The term is the mean of the different pair's cost and of the mean cost of the same pairs,
      or the different pair's alone where no side has two frames.

    A bag whose positive side is empty (all attention equal, or one frame) contributes 0, with gradients of 0.
    """

    def __init__(
        self, width: int, kind: Kind, aggregate: Aggregate = "sum", layers: Literal[1, 2] = 1
    ) -> None:
        super().__init__()
        self.kind, self.aggregate = kind, aggregate
        self.classifier: nn.Module = (
            nn.Linear(width, 1)
            if layers == 1
            else nn.Sequential(nn.Linear(width, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
        )

    def forward(self, h: Tensor, attention: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """Logits of g, their targets, their weights in the bag's term: [B,P] each, P judged bags or pairs."""
        positive = selected(attention, mask)
        negative = mask & ~positive
        if self.kind == "polarity":
            judged = [self._gather(h, positive), self._gather(h, negative)]
            targets = h.new_tensor([1.0, 0.0], dtype=torch.float32)
            weights = torch.full((len(h), 2), 0.5, device=h.device)
        else:
            halves = [_alternate(side) for side in (positive, negative)]
            judged = [(self._gather(h, positive) - self._gather(h, negative)).abs()]
            judged += [(self._gather(h, even) - self._gather(h, odd)).abs() for even, odd in halves]
            targets = h.new_tensor([0.0, 1.0, 1.0], dtype=torch.float32)
            same = torch.stack([odd.any(1) for _, odd in halves], dim=1).float()  # [B,2]
            pairs = same.sum(1, keepdim=True)
            weights = torch.cat([1 - 0.5 * pairs.clamp(max=1), 0.5 * same / pairs.clamp(min=1)], dim=1)
        logits = self.classifier(torch.stack(judged, dim=1)).squeeze(-1).float()
        return {
            "selfsup_logits": logits,
            "selfsup_targets": targets.expand_as(logits),
            "selfsup_weights": weights * positive.any(1, keepdim=True),
        }

    def _gather(self, h: Tensor, side: Tensor) -> Tensor:
        """[B,T,W] and [B,T] to [B,W]: the side's sum or mean; zeros where it is empty."""
        total = (h.float() * side[..., None]).sum(1)
        return total if self.aggregate == "sum" else total / side.sum(1, keepdim=True).clamp(min=1)


def selected(attention: Tensor, mask: Tensor) -> Tensor:
    """[B,T] bool: the real frames with more than an equal share of attention."""
    share = attention.detach().float() * mask.sum(1, keepdim=True)
    return (share > 1 + TOLERANCE) & mask


def selfsup_loss(extras: dict[str, Tensor]) -> Tensor:
    """The mean over bags of each one's term, from what `SelfSupervision` gave."""
    cost = binary_cross_entropy(extras["selfsup_logits"], extras["selfsup_targets"])
    return (cost * extras["selfsup_weights"]).sum(1).mean()


def _alternate(side: Tensor) -> tuple[Tensor, Tensor]:
    """The 1st, 3rd, ... and the 2nd, 4th, ... frame of a side [B,T]."""
    odd = side.cumsum(1) % 2 == 1
    return side & odd, side & ~odd
