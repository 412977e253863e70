"""How well scores rank positives before negatives: AUROC and AP of one class, exact under ties.

scikit-learn's functions agree to rounding, but spend most of their time on checks, which a training that
validates 15 classes after each epoch would feel.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from devcem.evaluation.entries import Bools, Floats

Ints = npt.NDArray[np.int64]


def cuts(truth: Bools, scores: Floats) -> tuple[Floats, Ints, Ints]:
    """Distinct scores, falling, with the true and the false positives of calling all that score as much."""
    order = np.argsort(-scores, kind="stable")
    falling, hits = scores[order], truth[order]
    ends = np.flatnonzero(np.diff(falling, append=-np.inf))  # the last of each group of equal scores
    called, true = (ends + 1).astype(np.int64), np.cumsum(hits, dtype=np.int64)[ends]
    return falling[ends], true, called - true


def auroc(truth: Bools, scores: Floats) -> float:
    """The chance that a positive outscores a negative, a tie counting half; NaN where one side is empty."""
    _, true, false = cuts(truth, scores)
    if not len(true) or not true[-1] or not false[-1]:
        return float("nan")
    before = np.concatenate(([0], true[:-1]))
    area = np.sum(np.diff(false, prepend=0) * (true + before)) / 2
    return float(area / (int(true[-1]) * int(false[-1])))


def average_precision(truth: Bools, scores: Floats) -> float:
    """Precision averaged over the steps of recall, not interpolated; NaN without a positive."""
    _, true, false = cuts(truth, scores)
    if not len(true) or not true[-1]:
        return float("nan")
    return float(np.sum(np.diff(true, prepend=0) * (true / (true + false))) / true[-1])
