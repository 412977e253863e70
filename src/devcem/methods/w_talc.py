"""W-TALC (Paul et al. 2018) on one stream, RGB: k-max multiple-instance learning and co-activity of pairs."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from devcem.methods.bag import Batch
from devcem.methods.composing import Bools, Step, paired
from devcem.methods.method import Method
from devcem.methods.options import About
from devcem.methods.output import MILOutput
from devcem.methods.pooling import glorot, masked_softmax, real_only, single, top_weights

PAIRS_OF_TEN = 3  # bags of ten stand in three pairs that share a class; four more are drawn from all


class WTALC(Method):
    """A video's logit of a class is the mean of its k = ceil(T/8) highest frame logits.

    x_t --- FC --- ReLU --- dropout: X_t --- W X_t + b: frame logits --- per class the mean of the top k

    The loss is weight * MIL + (1 - weight) * co-activity (`mil_loss`, `co_activity_loss`). Co-activity
    compares pairs of a step that share a class, so the batches are composed here; where a batch names no
    pairs, as in validation, the term is 0. Unknown classes enter neither term, and a bag without a known
    label is in none.

    A softmax over classes lets one class alone pass 0.5. The authors keep a class whose top-k mean is above
    0: the score is its sigmoid. Nothing in the loss holds that 0 in place, so thresholds are worth tuning.

    The authors draw pairs and bags with replacement, for as long as they train; here every bag comes once an
    epoch. Theirs divides co-activity by all classes that all pairs share; ours is the mean over pairs of the
    mean over the classes a pair shares.
    """

    order_free = True
    relative = True
    least_batch: ClassVar[int] = 2

    def __init__(
        self,
        num_classes: int,
        feature_dim: int,
        *,
        share: Annotated[int, About("the top T/share frames of a class make its score", minimum=1)] = 8,
        margin: Annotated[float, About("of the co-activity's hinge", minimum=0)] = 0.5,
        mil_weight: Annotated[
            float, About("weight of the MIL term; co-activity has the rest", minimum=0, below=1)
        ] = 0.5,
        dropout: Annotated[float, About("share dropped after the FC layer", minimum=0, below=1)] = 0.7,
    ) -> None:
        super().__init__(num_classes, feature_dim)
        self.share, self.margin, self.mil_weight = share, margin, mil_weight
        self.embedding = nn.Sequential(nn.Linear(feature_dim, feature_dim), nn.ReLU(), nn.Dropout(dropout))
        self.head = nn.Linear(feature_dim, num_classes)
        glorot(self)

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        x = real_only(self.embedding(real_only(features, mask)), mask)  # [B,T,D]
        frame_logits = real_only(self.head(x).float(), mask)  # [B,T,K]
        k = -(-mask.sum(1) // self.share)
        weights = top_weights(frame_logits, mask, k)  # [B,T,K]
        high, low = co_activity(x.float(), frame_logits, mask)
        extras = {"class_attention": weights, "high": high, "low": low}
        return MILOutput((weights * frame_logits).sum(1), weights.mean(2), frame_logits, extras)

    def loss(self, output: MILOutput, batch: Batch) -> dict[str, Tensor]:
        video = mil_loss(
            output.video_logits, batch.labels, batch.known, self.positive_weight, self.class_weight
        )
        together = video * 0
        if batch.pairs is not None:
            shared = shared_classes(batch.labels, batch.known, batch.pairs) * self.class_weight
            cost = co_activity_loss(
                output.extras["high"], output.extras["low"], batch.pairs, shared, self.margin
            )
            together = cost.sum() * batch.pair_weight / len(batch)
        total = self.mil_weight * video + (1 - self.mil_weight) * together
        return {"video": video, "co_activity": together, "total": total}

    def compose(self, positive: Bools, size: int, rng: np.random.Generator) -> list[Step]:
        return paired(positive, size, max(PAIRS_OF_TEN * size // 10, 1), rng)


def mil_loss(
    logits: Tensor, labels: Tensor, known: Tensor, positive_weight: Tensor, class_weight: Tensor
) -> Tensor:
    """Cross-entropy of softmax over classes [B,K] against labels that sum to 1; the mean over bags.

    Softmax and labels leave out what is not known; a bag without a known label contributes 0.
    *class_weight* [K] weighs the labels before they are made to sum to 1, *positive_weight* [K] the cost of
    each.
    """
    lowest = torch.finfo(torch.float32).min
    log_share = log_softmax(single(logits).masked_fill(~known, lowest), dim=1).masked_fill(~known, 0.0)
    there = ((labels > 0.5) & known) * class_weight.float()
    total = there.sum(1, keepdim=True)
    target = there / total.where(total > 0, 1.0)
    return -(target * positive_weight.float() * log_share).sum(1).mean()


def co_activity(x: Tensor, frame_logits: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """A class's mean feature where it is active and where it is not, [B,K,D] each, of *x* [B,T,D].

    With a = softmax over time of a class's frame logits: the sums of a x and of (1 - a) / max(T - 1, 1) x.
    """
    active = masked_softmax(frame_logits.transpose(1, 2), mask[:, None])  # [B,K,T]
    others = (mask.sum(1) - 1).clamp(min=1)[:, None, None]
    idle = (1 - active).masked_fill(~mask[:, None], 0.0) / others
    return active @ x, idle @ x


def shared_classes(labels: Tensor, known: Tensor, pairs: Tensor) -> Tensor:
    """[P,K] bool: what both bags of a pair are known to carry."""
    present = (labels > 0.5) & known
    return present[pairs[:, 0]] & present[pairs[:, 1]]


def co_activity_loss(high: Tensor, low: Tensor, pairs: Tensor, shared: Tensor, margin: float = 0.5) -> Tensor:
    """[P]: how far a class's active parts in two bags are from closer to each other than to the idle parts.

    *high*, *low* [B,K,D] of `co_activity`; d is the cosine distance. For each class
    (max(0, d(high1, high2) - d(high1, low2) + margin) + max(0, d(high1, high2) - d(low1, high2) + margin)) /
    2, averaged with the weights *shared* [P,K]; 0 where those are all 0.
    """
    (high1, high2), (low1, low2) = (
        (part[pairs[:, 0]], part[pairs[:, 1]]) for part in (_unit(high), _unit(low))
    )
    near = 1 - (high1 * high2).sum(2)  # [P,K]
    far1, far2 = 1 - (high1 * low2).sum(2), 1 - (low1 * high2).sum(2)
    hinge = ((near - far1 + margin).clamp(min=0) + (near - far2 + margin).clamp(min=0)) / 2
    total = shared.sum(1)
    return (hinge * shared).sum(1) / total.where(total > 0, 1.0)


def _unit(vectors: Tensor) -> Tensor:
    """Of length 1; what is shorter than rounding goes towards 0, whose distance from all is 1."""
    vectors = single(vectors)
    length: Tensor = torch.linalg.vector_norm(vectors, dim=2, keepdim=True)
    return vectors / length.clamp(min=1e-6)
