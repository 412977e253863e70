"""The figures of many draws of the same videos at once: a draw is a weight a video, how often it holds it.

Draw by draw equal to `multilabel_metrics` on the repeated videos, but for one thing: where the draw holds no
positive of a class, its precision is NaN too, so that a plain mean over classes is the macro figure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from devcem.evaluation.entries import Bools, Floats, checked_entries
from devcem.evaluation.metrics import RATIOS

PRECISION, RECALL, F1, SPECIFICITY, AUROC, AP = range(len(RATIOS))


@dataclass(frozen=True)
class Entries:
    """Truth, scores, which of them are known, and what is called positive, all [N,K]."""

    truth: Bools
    scores: Floats
    known: Bools
    called: Bools

    @classmethod
    def checked(
        cls,
        truth: npt.ArrayLike,
        scores: npt.ArrayLike,
        known: npt.ArrayLike | None = None,
        threshold: npt.ArrayLike = 0.5,
    ) -> Entries:
        told, given, use = checked_entries(truth, scores, known)
        bar = np.broadcast_to(np.asarray(threshold, np.float64), (told.shape[1],))
        if np.isnan(bar).any():
            raise ValueError("a threshold is not a number")
        return cls(told, given, use, use & (given >= bar))

    def reshaped(self, *shape: int) -> Entries:
        return Entries(
            self.truth.reshape(shape),
            self.scores.reshape(shape),
            self.known.reshape(shape),
            self.called.reshape(shape),
        )

    def transposed(self) -> Entries:
        return Entries(self.truth.T, self.scores.T, self.known.T, self.called.T)

    def counts(self) -> dict[str, npt.NDArray[np.int64]]:
        """tp, fp, fn and tn [K]."""
        told, other = self.truth, self.known & ~self.truth
        parts = {
            "tp": self.called & told,
            "fp": self.called & other,
            "fn": told & ~self.called,
            "tn": other & ~self.called,
        }
        return {name: part.sum(axis=0, dtype=np.int64) for name, part in parts.items()}


def weighted_figures(entries: Entries, weights: Floats) -> Floats:
    """[D,K,6] in the order of `RATIOS`, for *weights* [D,N]."""
    told, other = entries.truth, entries.known & ~entries.truth
    positives, negatives, true, false = (
        weights @ part.astype(np.float64)
        for part in (told, other, entries.called & told, entries.called & other)
    )  # each [D,K]
    found = np.full((*positives.shape, len(RATIOS)), np.nan)
    there = positives > 0
    called = ratio(true, true + false)
    found[..., PRECISION] = np.where(there, np.where(np.isnan(called), 0.0, called), np.nan)
    found[..., RECALL] = ratio(true, positives)
    found[..., F1] = np.where(there, ratio(2 * true, true + false + positives), np.nan)
    found[..., SPECIFICITY] = ratio(negatives - false, negatives)
    for k in np.flatnonzero(told.any(axis=0)):
        use = entries.known[:, k]
        areas = _ranking(told[use, k], entries.scores[use, k], weights[:, use])
        found[:, k, AUROC], found[:, k, AP] = areas
    return found


def ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, NaN where the whole is 0."""
    found: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return found


def mean(figures: Floats) -> Floats:
    """Of [D,M,F] over M, NaN left out: [D,F]; NaN where nothing is left."""
    there = ~np.isnan(figures)
    return ratio(np.where(there, figures, 0.0).sum(axis=1), there.sum(axis=1, dtype=np.float64))


def _ranking(truth: Bools, scores: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """AUROC [D] and AP [D] of one class with a positive, as in `ranking`."""
    order = np.argsort(-scores, kind="stable")
    hits, falling = truth[order], scores[order]
    ends = np.flatnonzero(np.diff(falling, append=-np.inf))  # the last of each group of equal scores
    drawn = weights[:, order]
    true = np.cumsum(drawn * hits, axis=1)[:, ends]
    called = np.cumsum(drawn, axis=1)[:, ends]
    false = called - true
    more = np.diff(true, axis=1, prepend=0)
    area = np.sum(np.diff(false, axis=1, prepend=0) * (2 * true - more), axis=1) / 2
    shares = np.divide(true, called, out=np.zeros_like(true), where=called > 0)
    return ratio(area, true[:, -1] * false[:, -1]), ratio(np.sum(more * shares, axis=1), true[:, -1])
