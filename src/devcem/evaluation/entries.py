"""Truth beside scores, checked once: which entries count, and the arrays that all figures are made from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def checked_entries(
    truth: npt.ArrayLike, scores: npt.ArrayLike, known: npt.ArrayLike | None = None
) -> tuple[Bools, Floats, Bools]:
    """truth, scores and known, all [N,K]. An unknown entry may hold anything, NaN included; it becomes 0.

    Scores are widened to float64, so that a threshold between two of them stays between them.
    """
    told, given = np.asarray(truth), np.asarray(scores, np.float64)
    use = np.ones(told.shape, bool) if known is None else np.asarray(known).astype(bool)
    if told.ndim != 2 or not told.shape == given.shape == use.shape:
        raise ValueError(
            "truth, scores and known must be tables of one shape [N,K], "
            f"not {told.shape}, {given.shape} and {use.shape}"
        )
    if not np.isin(told[use], (0, 1)).all():
        raise ValueError("truth holds something other than 0 and 1 where it is known")
    unfit = use & ~np.isfinite(given)
    if unfit.any():
        row, column = np.argwhere(unfit)[0].tolist()
        raise ValueError(
            f"{int(unfit.sum())} scores are not finite, the first in row {row}, class number {column}"
        )
    return use & (told == 1), np.where(use, given, 0.0), use


def class_names(classes: Sequence[str] | None, count: int) -> list[str] | list[int]:
    """One name a column; without names, the column numbers."""
    if classes is None:
        return list(range(count))
    if len(classes) != count:
        raise ValueError(f"{len(classes)} class names for {count} columns of scores")
    return list(classes)
