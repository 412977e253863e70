"""How much a figure would vary with other patients: patients drawn again and again, with all their videos.

Videos of one patient resemble each other, so patients are the units: a draw holds as many patients as there
are, some twice or more, some not at all. A video without a patient ("") is a unit by itself. The interval
runs between percentiles of the draws. A draw in which a figure does not exist (NaN) is left out of that
figure's interval; how many counted is said beside it. A single unit has no spread: NaN, and no draw counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from devcem.evaluation.averages import average_figures, chosen_classes
from devcem.evaluation.draws import Intervals, Ints, draw_weights, percentiles
from devcem.evaluation.entries import Floats, class_names
from devcem.evaluation.metrics import RATIOS
from devcem.evaluation.weighted import Entries, mean, weighted_figures

Figure = Callable[[Ints], npt.ArrayLike]  # of rows, any number of times each: [F]
CELLS = 2**19  # weights held at once; a few MB


class Difference(NamedTuple):
    """First less second [F], the percentiles of that, and in how many draws both exist."""

    difference: Floats
    low: Floats
    high: Floats
    counted: Ints


def intervals(
    figure: Figure, patients: Sequence[str], draws: int = 1000, level: float = 0.95, seed: int = 0
) -> Intervals:
    """Of any figures: *figure* is given the rows of a draw and gives [F]; *patients* has one name a row."""
    drawn = draw_weights(patients, draws, seed)
    return percentiles(_each(figure, drawn), patients, level)


def paired(
    first: Figure,
    second: Figure,
    patients: Sequence[str],
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Difference:
    """First less second, both on the same draws, so that what makes a patient hard for both cancels out."""
    drawn = draw_weights(patients, draws, seed)
    every = np.arange(len(patients))
    whole = np.asarray(first(every), np.float64) - np.asarray(second(every), np.float64)
    return Difference(whole, *percentiles(_each(first, drawn) - _each(second, drawn), patients, level))


def metric_intervals(
    truth: npt.ArrayLike,
    scores: npt.ArrayLike,
    known: npt.ArrayLike | None,
    patients: Sequence[str],
    threshold: npt.ArrayLike = 0.5,
    classes: Sequence[str] | None = None,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """A row a class and "macro", for each ratio of `multilabel_metrics` FIGURE_low, _high and _draws.

    _draws says how many draws counted. One without a positive of a class does not count for its precision
    either. In "macro" each draw averages the classes that it can judge.
    """
    entries = _entries(truth, scores, known, threshold, patients)
    names = [*class_names(classes, entries.truth.shape[1]), "macro"]
    found = _over_draws(lambda w: _with_macro(weighted_figures(entries, w)), patients, draws, seed)
    return _table(percentiles(found, patients, level), names, "class")


def average_intervals(
    truth: npt.ArrayLike,
    scores: npt.ArrayLike,
    known: npt.ArrayLike | None,
    patients: Sequence[str],
    threshold: npt.ArrayLike = 0.5,
    classes: Sequence[str] | None = None,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """The same for the rows of `averages`."""
    entries = _entries(truth, scores, known, threshold, patients)
    chosen = chosen_classes(class_names(classes, entries.truth.shape[1]))
    names = list(average_figures(entries, chosen, np.ones((1, len(patients)))))

    def stacked(weights: Floats) -> Floats:
        return np.stack(list(average_figures(entries, chosen, weights).values()), axis=1)

    found = _over_draws(stacked, patients, draws, seed, entries.truth.shape[1])
    return _table(percentiles(found, patients, level), names, "average")


def metric_differences(
    truth: npt.ArrayLike,
    scores: tuple[npt.ArrayLike, npt.ArrayLike],
    known: npt.ArrayLike | None,
    patients: Sequence[str],
    threshold: tuple[npt.ArrayLike, npt.ArrayLike] = (0.5, 0.5),
    classes: Sequence[str] | None = None,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """The first method less the second on the same draws: `metric_intervals`, and a column FIGURE as well."""
    one, other = (
        _entries(truth, given, known, bar, patients) for given, bar in zip(scores, threshold, strict=True)
    )
    names = [*class_names(classes, one.truth.shape[1]), "macro"]

    def less(weights: Floats) -> Floats:
        figures = (_with_macro(weighted_figures(entries, weights)) for entries in (one, other))
        return next(figures) - next(figures)

    found = _over_draws(less, patients, draws, seed)
    whole = less(np.ones((1, len(patients))))[0]
    return _table(percentiles(found, patients, level), names, "class", whole)


def _each(figure: Figure, weights: Ints) -> Floats:
    rows = np.arange(weights.shape[1])
    return np.stack([np.asarray(figure(np.repeat(rows, drawn)), np.float64) for drawn in weights])


def _over_draws(
    figures: Callable[[Floats], Floats], patients: Sequence[str], draws: int, seed: int, columns: int = 1
) -> Floats:
    """[draws,...] from *figures* of weights [D,N], a few draws at a time where it needs [D,N x columns]."""
    drawn = draw_weights(patients, draws, seed)
    step = max(1, CELLS // (drawn.shape[1] * max(columns, 1)))
    return np.concatenate([figures(drawn[i : i + step].astype(np.float64)) for i in range(0, draws, step)])


def _entries(
    truth: npt.ArrayLike,
    scores: npt.ArrayLike,
    known: npt.ArrayLike | None,
    threshold: npt.ArrayLike,
    patients: Sequence[str],
) -> Entries:
    entries = Entries.checked(truth, scores, known, threshold)
    if len(patients) != len(entries.truth):
        raise ValueError(f"{len(patients)} patients for {len(entries.truth)} rows")
    return entries


def _with_macro(figures: Floats) -> Floats:
    """[D,K,6] and the mean over classes: [D,K+1,6]."""
    return np.concatenate([figures, mean(figures)[:, None]], axis=1)


def _table(
    found: Intervals, names: Sequence[str | int], index: str, whole: Floats | None = None
) -> pd.DataFrame:
    columns: dict[str, Floats | Ints] = {}
    for f, figure in enumerate(RATIOS):
        if whole is not None:
            columns[figure] = whole[:, f]
        columns[f"{figure}_low"] = found.low[:, f]
        columns[f"{figure}_high"] = found.high[:, f]
        columns[f"{figure}_draws"] = found.counted[:, f]
    return pd.DataFrame(columns, index=pd.Index(np.array(names, object), name=index))
