"""Figures of a multi-label classifier, a class a row, over known entries alone.

Conventions:
- An entry is called positive where score >= threshold.
- Precision is 0 where nothing is called, as in the paper.
- A class without a known positive has no recall, F1, AUROC or AP (NaN). One without a known negative has no
  specificity and no AUROC; its AP is 1 whatever the scores.
- Macro figures are plain means over classes: specificity over those with a negative, AUROC over those with
  both sides, everything else over those with a positive, so that a class that cannot be found does not lower
  the precision.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from devcem.evaluation.entries import Bools, Floats, checked_entries, class_names
from devcem.evaluation.ranking import auroc, average_precision

RATIOS = ("precision", "recall", "f1", "specificity", "auroc", "ap")


def multilabel_metrics(
    truth: npt.ArrayLike,
    scores: npt.ArrayLike,
    known: npt.ArrayLike | None = None,
    threshold: npt.ArrayLike = 0.5,
    classes: Sequence[str] | None = None,
) -> pd.DataFrame:
    """A row a class and "macro", indexed by `class`: positives, negatives, and the ratios.

    *truth*, *scores* and *known* are [N,K]; *threshold* is one number or [K]. The conventions for classes
    with an empty side stand at the head of this file. "macro" counts the known entries of all classes.
    """
    told, given, use = checked_entries(truth, scores, known)
    names = class_names(classes, told.shape[1])
    bar = np.broadcast_to(np.asarray(threshold, np.float64), (told.shape[1],))
    if np.isnan(bar).any():
        raise ValueError("a threshold is not a number")
    called = use & (given >= bar)
    positives, negatives = told.sum(axis=0), (use & ~told).sum(axis=0)
    true, false = (called & told).sum(axis=0), (called & ~told).sum(axis=0)
    ranks = [_ranking(told[use[:, k], k], given[use[:, k], k]) for k in range(len(names))]
    table = pd.DataFrame(
        {
            "positives": positives,
            "negatives": negatives,
            "precision": _ratio(true, true + false, empty=0.0),
            "recall": _ratio(true, positives),
            "f1": np.where(positives, _ratio(2 * true, true + false + positives), np.nan),
            "specificity": _ratio(negatives - false, negatives),
            "auroc": [area for area, _ in ranks],
            "ap": [precision for _, precision in ranks],
        },
        index=pd.Index(names, dtype=object, name="class"),
    )
    table.loc["macro"] = [table["positives"].sum(), table["negatives"].sum(), *_macro(table)]
    return table.astype({"positives": int, "negatives": int})


def mean_ap(truth: npt.ArrayLike, scores: npt.ArrayLike, known: npt.ArrayLike | None = None) -> float:
    """Mean AP over the classes with known positives and known negatives; NaN where there are none."""
    told, given, use = checked_entries(truth, scores, known)
    values = []
    for k in range(told.shape[1]):
        side = told[use[:, k], k]
        if side.any() and not side.all():
            values.append(average_precision(side, given[use[:, k], k]))
    return float(np.mean(values)) if values else float("nan")


def _ranking(truth: Bools, scores: Floats) -> tuple[float, float]:
    return auroc(truth, scores), average_precision(truth, scores)


def _ratio(part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64], empty: float = np.nan) -> Floats:
    """part / whole [K], and *empty* where the whole is 0."""
    return np.where(whole > 0, part / np.maximum(whole, 1), empty)


def _macro(table: pd.DataFrame) -> list[float]:
    values = []
    for column in RATIOS:
        judged = table[column][table["positives"] > 0] if column == "precision" else table[column]
        values.append(float(judged.mean()))  # NaN left out
    return values
