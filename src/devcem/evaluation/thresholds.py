"""A threshold a class, chosen on validation data for the best F1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from devcem.evaluation.entries import Bools, Floats, checked_entries
from devcem.evaluation.ranking import cuts

UNTUNED = 0.5


def tune_thresholds(
    truth: npt.ArrayLike, scores: npt.ArrayLike, known: npt.ArrayLike | None = None
) -> tuple[Floats, Bools]:
    """threshold [K] and tuned [K], for scores of probability-like range; score >= threshold is called.

    Thresholds lie midway between neighbouring scores. Of equally good ones the one nearest 0.5 is taken, then
    the lower. A class without a known positive or without a known negative keeps 0.5 and is not tuned.
    """
    told, given, use = checked_entries(truth, scores, known)
    threshold = np.full(told.shape[1], UNTUNED)
    tuned = np.zeros(told.shape[1], bool)
    for k in range(told.shape[1]):
        side = told[use[:, k], k]
        tuned[k] = side.any() and not side.all()
        if tuned[k]:
            threshold[k] = _best(side, given[use[:, k], k])
    return threshold, tuned


def _best(truth: Bools, scores: Floats) -> float:
    values, true, false = cuts(truth, scores)
    below = np.append(
        values[1:], values[-1]
    )  # calling all: the lowest score itself, as nothing lies below it
    middles = below + (values - below) / 2
    middles = np.where(middles > below, middles, values)  # neighbouring floats have no middle
    f1 = 2 * true / (true + false + truth.sum())
    best = middles[f1 == f1.max()]  # equal fractions round equally
    return float(best[np.lexsort((best, np.abs(best - UNTUNED)))[0]])
