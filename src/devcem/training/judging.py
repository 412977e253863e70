"""How good the weights are on validation: losses, mAP, F1, on classes that validation can judge."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
import torch.distributed
from lightning_fabric import Fabric

from devcem.errors import UserError
from devcem.evaluation import mean_ap, multilabel_metrics
from devcem.frames.ahead import in_parallel
from devcem.methods.bag import collate
from devcem.training.bags import Bags, Bools
from devcem.training.trainee import Trainee

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """Validation after an epoch."""

    loss: float
    terms: dict[str, float]
    map: float  # NaN where no class has both sides
    f1: float
    scores: Scores  # [N,K]

    def rank(self, select: str) -> float:
        """Lower is better. By mAP, the loss decides between equals."""
        if select == "map" and not np.isnan(self.map):
            return -self.map + 1e-6 * min(self.loss, 1e3)
        return self.loss


def judgeable(bags: Bags) -> Bools:
    """[K] classes with a known positive and a known negative: the others take no part in selection."""
    positive = (bags.labels & bags.known).any(0)
    negative = (~bags.labels & bags.known).any(0)
    return np.asarray(positive & negative)


def judge(fabric: Fabric, trainee: Trainee, bags: Bags, size: int, workers: int) -> Verdict:
    """All bags once, in eval mode, each process its share; every process gets the same verdict.

    The loss counts classes that can be judged, all where none can. The bare module runs, not the one wrapped
    for data-parallel training: shares differ in length, and a collective call would wait for ever.
    """
    classes = judgeable(bags)
    counted = torch.from_numpy(classes if classes.any() else np.ones_like(classes))
    mine = np.arange(len(bags.ids))[fabric.global_rank :: fabric.world_size]
    sums: dict[str, float] = {}
    scores = np.zeros((len(bags.ids), bags.labels.shape[1]))
    trainee.eval()
    pieces = (mine[first : first + size] for first in range(0, len(mine), size))
    with torch.inference_mode(), fabric.autocast():
        for piece, batch in in_parallel(
            lambda piece: (piece, collate([bags.judge(int(i)) for i in piece])), pieces, workers
        ):
            batch = replace(batch, known=batch.known & counted).to(fabric.device)
            output, terms = trainee.judged(batch)
            scores[piece] = trainee.method.scores(output).float().cpu().numpy()
            for name, value in terms.items():
                sums[name] = sums.get(name, 0.0) + float(value) * len(piece)
    trainee.train()
    sums, scores = _gathered(fabric, sums, scores)
    unfit = np.flatnonzero(~np.isfinite(scores).all(1))
    if len(unfit):
        some = ", ".join(bags.ids[index] for index in unfit[:5]) + (", ..." if len(unfit) > 5 else "")
        remedy = "look at these segments, lower optimiser.lr, or set optimiser.clip=1"
        raise UserError(f"scores of validation are not finite on {some}", remedy=remedy)
    means = {name: value / len(bags.ids) for name, value in sums.items()}
    f1 = float(multilabel_metrics(bags.labels, scores, bags.known).loc["macro", "f1"])  # type: ignore[arg-type]
    return Verdict(means.pop("total"), means, mean_ap(bags.labels, scores, bags.known), f1, scores)


def _gathered(fabric: Fabric, sums: dict[str, float], scores: Scores) -> tuple[dict[str, float], Scores]:
    """Added up over processes; a process without a share brings nothing."""
    if fabric.world_size == 1:
        return sums, scores
    parts: list[tuple[dict[str, float], Scores]] = [({}, scores)] * fabric.world_size
    torch.distributed.all_gather_object(parts, (sums, scores))
    names = list(dict.fromkeys(name for part, _ in parts for name in part))
    total = {name: sum(part.get(name, 0.0) for part, _ in parts) for name in names}
    return total, np.sum([part for _, part in parts], axis=0)
