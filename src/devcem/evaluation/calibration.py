"""How far scores can be read as probabilities, a class, and the maps fitted on validation that mend them.

Known entries alone count. A class has no figure (NaN) and is not calibrated where nothing is known of it, or
where its scores leave 0..1 and so are no probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from devcem.evaluation.entries import Bools, Floats, checked_entries, class_names

if TYPE_CHECKING:
    from devcem.model.calibration import Calibration, Isotonic, Platt, ScoreMap, Temperature, Unchanged

KINDS = ("none", "temperature", "platt", "isotonic")  # the simpler first, which wins a tie
FOLDS = 5
LEAST = FOLDS  # positives, and negatives: one of each in every fold that is held out
MANY, MANY_EACH = 1000, 100  # for isotonic: with fewer its steps follow the noise (scikit-learn's advice)
HOTTEST = 20.0  # temperatures from 1/20 to 20: beyond lie separable classes and inverted ones
FLAT = 1e-9  # spread of logits below which all scores are one


def expected_calibration_error(
    truth: npt.ArrayLike, scores: npt.ArrayLike, known: npt.ArrayLike | None = None, bins: int = 10
) -> Floats:
    """[K]: the mean distance of a bin's mean score from its share of positives, weighed by its entries.

    Bins hold equally many entries, ties together: with equal widths, a rare class would fill the lowest bin
    and the others would be noise. Noise can only raise this figure, in bins of a few entries by a tenth and
    more: compare it on the same entries alone, and look at the Brier score beside it.
    """
    table = reliability(truth, scores, known, bins)
    gaps = table["count"] * (table["share"] - table["score"]).abs()
    sums = pd.DataFrame({"gap": gaps, "count": table["count"]}).groupby(table["class"]).sum()
    found = (sums["gap"] / sums["count"]).reindex(range(np.shape(truth)[1]))
    return found.to_numpy(np.float64)


def brier(truth: npt.ArrayLike, scores: npt.ArrayLike, known: npt.ArrayLike | None = None) -> Floats:
    """[K]: the mean squared distance of scores from truth."""
    told, given, use = checked_entries(truth, scores, known)
    found = np.full(told.shape[1], np.nan)
    for k, side, ranked in _columns(told, given, use):
        found[k] = np.mean((ranked - side) ** 2)
    return found


def reliability(
    truth: npt.ArrayLike,
    scores: npt.ArrayLike,
    known: npt.ArrayLike | None = None,
    bins: int = 10,
    classes: Sequence[str] | None = None,
) -> pd.DataFrame:
    """A row for each class and each bin that holds entries: class, bin, count, lowest and highest score, mean
    score, share of positives.

    The bin of an entry is the share of entries with a lower score, in steps of 1 / bins.
    """
    if bins < 1:
        raise ValueError(f"{bins} bins")
    told, given, use = checked_entries(truth, scores, known)
    names = class_names(classes, told.shape[1])
    rows = []
    for k, side, ranked in _columns(told, given, use):
        place = np.searchsorted(np.sort(ranked), ranked) * bins // len(ranked)
        for which in np.unique(place):
            inside, hits = ranked[place == which], side[place == which]
            edges = (inside.min(), inside.max())
            rows.append((names[k], which, len(inside), *edges, inside.mean(), hits.mean()))
    return pd.DataFrame(rows, columns=["class", "bin", "count", "lowest", "highest", "score", "share"])


def fit_calibration(
    truth: npt.ArrayLike,
    scores: npt.ArrayLike,
    known: npt.ArrayLike | None = None,
    how: str = "auto",
    classes: Sequence[str] | None = None,
) -> Calibration:
    """Maps from score to probability, fitted on validation; the same arrays always give the same maps.

    A class with fewer than 5 known positives or negatives stays as it is. `auto` takes the kind with the
    lowest log loss on held-out fifths: none, temperature or Platt; isotonic too, from 1,000 entries on with
    100 of each side. Folds are stretches of the rows as they come, so that a patient's mostly stay together.
    Without *classes* the maps are named by column number.
    """
    from devcem.model.calibration import Calibration, Unchanged  # that room needs torch

    if how not in ("auto", *KINDS):
        raise ValueError(f"no calibration is called '{how}'; use one of auto, {', '.join(KINDS)}")
    told, given, use = checked_entries(truth, scores, known)
    maps: list[ScoreMap] = [Unchanged() for _ in range(told.shape[1])]
    for k, side, ranked in _columns(told, given, use):
        if min(side.sum(), (~side).sum()) >= LEAST:
            maps[k] = FITS[_best(side, ranked) if how == "auto" else how](side, ranked)
    return Calibration(
        {str(name): one for name, one in zip(class_names(classes, len(maps)), maps, strict=True)}
    )


def _columns(told: Bools, given: Floats, use: Bools) -> Iterator[tuple[int, Bools, Floats]]:
    """Number, truth and scores of each class that has known entries, all of them in 0..1."""
    for k in range(told.shape[1]):
        side, ranked = told[use[:, k], k], given[use[:, k], k]
        if len(ranked) and ranked.min() >= 0 and ranked.max() <= 1:
            yield k, side, ranked


def _best(truth: Bools, scores: Floats) -> str:
    many = len(truth) >= MANY and min(truth.sum(), (~truth).sum()) >= MANY_EACH
    kinds = KINDS if many else KINDS[:-1]
    return kinds[int(np.argmin([_held_out_loss(kind, truth, scores) for kind in kinds]))]


def _held_out_loss(kind: str, truth: Bools, scores: Floats) -> float:
    """Log loss, summed over all entries, each by the map that the other folds give."""
    from devcem.model.calibration import logits

    fold = np.empty(len(truth), np.int64)
    for side in (truth, ~truth):
        fold[side] = np.arange(side.sum()) * FOLDS // side.sum()
    loss = 0.0
    for held in range(FOLDS):
        out = fold == held
        z = logits(FITS[kind](truth[~out], scores[~out]).apply(scores[out]))
        loss += _log_loss(z, truth[out])
    return loss


def _log_loss(z: Floats, target: Bools | Floats) -> float:
    """Of logits; a target may lie between 0 and 1."""
    return float(np.sum(np.logaddexp(0, z) - target * z))


def _none(_truth: Bools, _scores: Floats) -> Unchanged:
    from devcem.model.calibration import Unchanged

    return Unchanged()


def _temperature(truth: Bools, scores: Floats) -> Temperature:
    """The log loss is convex in 1 / T, hence has one valley in log T."""
    from devcem.model.calibration import Temperature, logits

    z, edge = logits(scores), float(np.log(HOTTEST))
    found = minimize_scalar(
        lambda log: _log_loss(z / np.exp(log), truth),
        bounds=(-edge, edge),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return Temperature(temperature=float(np.exp(found.x)))


def _targets(truth: Bools) -> tuple[float, float]:
    """Platt's for negatives and positives: as if one more of either side had been seen; never 0 or 1."""
    return float(1 / ((~truth).sum() + 2)), float((truth.sum() + 1) / (truth.sum() + 2))


def _platt(truth: Bools, scores: Floats) -> Platt:
    """Without a rise, where scores say nothing or the reverse, the best level line."""
    from devcem.model.calibration import Platt, logits

    z = logits(scores)
    low, high = _targets(truth)
    target = np.where(truth, high, low)
    level = float(logit(target.mean()))
    middle, spread = z.mean(), z.std()
    if spread < FLAT:
        return Platt(slope=0, bias=level)
    design = np.stack([(z - middle) / spread, np.ones_like(z)])  # [2,N]

    def loss(line: Floats) -> float:
        return _log_loss(line @ design, target) / len(z)

    def gradient(line: Floats) -> Floats:
        return np.asarray(design @ (expit(line @ design) - target) / len(z))

    def curvature(line: Floats) -> Floats:
        share = expit(line @ design)
        return np.asarray((design * (share * (1 - share))) @ design.T / len(z))

    found = minimize(
        loss,
        np.array([0.0, level]),
        jac=gradient,
        hess=curvature,
        method="trust-exact",
        options={"gtol": 1e-10},
    )
    slope = float(found.x[0] / spread)
    return (
        Platt(slope=slope, bias=float(found.x[1] - slope * middle))
        if slope > 0
        else Platt(slope=0, bias=level)
    )


def _isotonic(truth: Bools, scores: Floats) -> Isotonic:
    """Held within Platt's targets, since no sample shows that a score makes something certain."""
    from devcem.model.calibration import Isotonic

    low, high = _targets(truth)
    found = IsotonicRegression(y_min=low, y_max=high).fit(scores, truth.astype(np.float64))
    xs, first = np.unique(found.X_thresholds_, return_index=True)
    return Isotonic(scores=tuple(xs.tolist()), probabilities=tuple(found.y_thresholds_[first].tolist()))


FITS: dict[str, Callable[[Bools, Floats], ScoreMap]] = {
    "none": _none,
    "temperature": _temperature,
    "platt": _platt,
    "isotonic": _isotonic,
}
