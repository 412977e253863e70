"""One row of figures for all classes together, in the ways that papers average.

Conventions, beside those at the head of `metrics`:
- "macro": the macro row of `multilabel_metrics`. Recall is what others call sensitivity.
- "macro, the paper's 14": over the canonical classes without bubbles; there if the dataset has all of them.
- "macro, pathologies": over `labels.PATHOLOGIES`; there if the dataset has one of them.
- "macro, absent as 0": a class without a known positive is not left out: precision, recall, F1, AUROC and AP
  count as 0. Its specificity is defined, and stays what it is.
- "micro": all known entries of all classes as if they were one class. Its ranking compares scores of
  different classes. Without a positive there is its specificity alone.
- "samples": each video as if it were a class and the classes its entries, then the mean over videos: a
  video without a known label has its specificity alone, one with nothing but labels has neither specificity
  nor AUROC, and one with a label of which nothing is called has precision 0.
- tp, fp, fn, tn count the known entries of the classes that the row is about.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from devcem.evaluation.entries import Floats, class_names
from devcem.evaluation.metrics import RATIOS
from devcem.evaluation.weighted import RECALL, SPECIFICITY, Entries, mean, ratio, weighted_figures
from devcem.labels import CLASSES, PATHOLOGIES, canonical

MACRO, PAPER, PATHOLOGICAL = "macro", "macro, the paper's 14", "macro, pathologies"
ABSENT, MICRO, SAMPLES = "macro, absent as 0", "micro", "samples"
PAPER_CLASSES = tuple(name for name in CLASSES if name != "bubbles")


def averages(
    truth: npt.ArrayLike,
    scores: npt.ArrayLike,
    known: npt.ArrayLike | None = None,
    threshold: npt.ArrayLike = 0.5,
    classes: Sequence[str] | None = None,
) -> pd.DataFrame:
    """A row an average, indexed by `average`: the ratios of `multilabel_metrics`, and tp, fp, fn, tn.

    *truth*, *scores* and *known* are [N,K]; *threshold* is one number or [K]. Rows of classes that the
    dataset does not have are missing. The conventions stand at the head of this file.
    """
    entries = Entries.checked(truth, scores, known, threshold)
    count = entries.truth.shape[1]
    chosen = chosen_classes(class_names(classes, count))
    figures = average_figures(entries, chosen, np.ones((1, len(entries.truth))))
    table = pd.DataFrame(
        [figure[0] for figure in figures.values()],
        index=pd.Index(list(figures), dtype=object, name="average"),
        columns=list(RATIOS),
    )
    for name, each in entries.counts().items():
        table[name] = [int(each[chosen.get(average, slice(None))].sum()) for average in figures]
    return table


def chosen_classes(names: Sequence[str] | Sequence[int]) -> dict[str, list[int]]:
    """The macro averages over some of the classes that exist for these names, with their columns."""
    meant = [canonical(name) if isinstance(name, str) else None for name in names]
    chosen = {}
    if set(PAPER_CLASSES) <= set(meant):
        chosen[PAPER] = [k for k, name in enumerate(meant) if name in PAPER_CLASSES]
    if set(PATHOLOGIES) & set(meant):
        chosen[PATHOLOGICAL] = [k for k, name in enumerate(meant) if name in PATHOLOGIES]
    return chosen


def average_figures(entries: Entries, chosen: dict[str, list[int]], weights: Floats) -> dict[str, Floats]:
    """Every average's figures [D,6] in draws with *weights* [D,N] of the videos."""
    each = weighted_figures(entries, weights)  # [D,K,6]
    found = {MACRO: mean(each), **{name: mean(each[:, columns]) for name, columns in chosen.items()}}
    absent = np.isnan(each[..., RECALL])
    specificity = each[..., SPECIFICITY].copy()
    each[absent] = 0.0
    each[..., SPECIFICITY] = specificity
    found[ABSENT] = mean(each)
    cells = np.repeat(weights, entries.truth.shape[1], axis=1)  # [D,NK]
    found[MICRO] = weighted_figures(entries.reshaped(-1, 1), cells)[:, 0]
    videos = weighted_figures(entries.transposed(), np.ones((1, entries.truth.shape[1])))[0]  # [N,6]
    there = ~np.isnan(videos)
    found[SAMPLES] = ratio(weights @ np.where(there, videos, 0.0), weights @ there.astype(np.float64))
    return found
