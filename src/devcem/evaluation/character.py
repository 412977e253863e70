"""Attention's character in numbers, where the paper has words: smooth, narrow, blind to what fills a video.

Everything is measured on the relative attention r = T * a of a bag, whose mean is 1: where attention is
uniform, r is 1 all along, whatever the length.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from devcem.evaluation.entries import Bools, Floats, checked_entries
from devcem.evaluation.ranking import auroc

STEPS = 5  # of the share of positive frames
RANGES = [f"{100 * step // STEPS}_{100 * (step + 1) // STEPS}" for step in range(STEPS)]
TOLERANCE = 1e-4  # r above 1 by less is rounding, as in self-supervision
SUM = 1e-3  # how far from 1 rounding may take the sum of attention


def attention_character(
    attention: Sequence[npt.ArrayLike],
    features: Sequence[npt.ArrayLike] | None = None,
    truth: Sequence[npt.ArrayLike] | None = None,
    known: Sequence[npt.ArrayLike] | None = None,
    *,
    alike: float = 0.98,
) -> pd.Series:
    """One method's figures over its bags, under names that are always the same; NaN where nothing gives them.

    A list each, a bag an item: *attention* [T], *features* [T,D], *truth* [T] (does the frame show any
    pathology) and *known* [T]. Figures of a bag are averaged over bags.

    - `total_variation`: sum of |r_t - r_(t+1)|. 0 if uniform, at most 2T. A bag with each frame shown twice
      has the same.
    - `effective_frames`: 1 / sum a^2, from 1 to T; `effective_share`: that over T.
    - `alike_jump`: mean |r_t - r_(t+1)| over all neighbours of all bags whose features, less the mean of all
      frames given, have a cosine of at least *alike*; `alike_neighbours` counts them. `other_jump` is that of
      the rest.
    - `auroc_0_20` ... `auroc_80_100`: the chance that a positive frame has more attention than a negative one
      of its bag, over bags whose known frames are positive to that share: the lower bound in, the upper out.
      `bags_0_20` ... count the bags.
    - `above_uniform_100`: where all known frames are positive, and an AUROC does not exist, the share of them
      with r > 1, which can't be all: the paper's "underestimates" where a pathology fills the video. 0 if
      uniform. `bags_100` counts the bags.
    """
    if not attention:
        raise ValueError("no bag to judge")
    given = [_relative(one) for one in attention]
    found = {"bags": float(len(given))}
    found["total_variation"] = float(np.mean([np.abs(np.diff(r)).sum() for r in given]))
    share = [1 / np.mean(r**2) for r in given]
    found["effective_frames"] = float(np.mean([len(r) * one for r, one in zip(given, share, strict=True)]))
    found["effective_share"] = float(np.mean(share))
    found |= _jumps(given, None if features is None else _matched(features, given), alike)
    return pd.Series(found | _localisation(given, truth, known), dtype=np.float64)


def _relative(attention: npt.ArrayLike) -> Floats:
    """T * a, its mean 1 exactly."""
    weights = np.asarray(attention, np.float64)
    if weights.ndim != 1 or not len(weights):
        raise ValueError(f"attention must be [T] with a frame at least, not {[*weights.shape]}")
    if not (weights >= 0).all() or not abs(weights.sum() - 1) <= SUM:
        raise ValueError("attention must not be negative and must sum to 1")
    return np.asarray(weights / weights.mean())


def _matched(bags: Sequence[npt.ArrayLike], given: list[Floats]) -> list[Floats]:
    arrays = [np.asarray(one, np.float64) for one in bags]
    if [len(one) for one in arrays] != [len(r) for r in given] or any(one.ndim != 2 for one in arrays):
        raise ValueError("features must be [T,D] for each bag of attention")
    return arrays


def _jumps(given: list[Floats], features: list[Floats] | None, alike: float) -> dict[str, float]:
    """Centred over all bags: raw features are alike everywhere, and a still bag by itself is all noise."""
    if features is None:
        return {"alike_neighbours": np.nan, "alike_jump": np.nan, "other_jump": np.nan}
    middle = np.concatenate(features).mean(axis=0)
    jumps = np.concatenate([np.abs(np.diff(r)) for r in given])
    near = np.concatenate([_cosines(one - middle) for one in features]) >= alike
    return {
        "alike_neighbours": float(near.sum()),
        "alike_jump": _mean(jumps[near]),
        "other_jump": _mean(jumps[~near]),
    }


def _cosines(features: Floats) -> Floats:
    """Of each frame and the next, [T-1]; equal ones are alike even where both are nought."""
    one, other = features[:-1], features[1:]
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    cosines = (one * other).sum(axis=1) / np.where(lengths > 0, lengths, 1)
    return np.where((one == other).all(axis=1), 1.0, cosines)


def _localisation(
    given: list[Floats], truth: Sequence[npt.ArrayLike] | None, known: Sequence[npt.ArrayLike] | None
) -> dict[str, float]:
    areas: list[list[float]] = [[] for _ in RANGES]
    filled: list[float] = []
    for side, r in _known_frames(given, truth, known):
        if side.all():
            filled.append(float(np.mean(r > 1 + TOLERANCE)))
        elif side.any():
            areas[STEPS * int(side.sum()) // len(side)].append(auroc(side, r))
    found = {f"auroc_{name}": _mean(area) for name, area in zip(RANGES, areas, strict=True)}
    found["above_uniform_100"] = _mean(filled)
    found |= {f"bags_{name}": float(len(area)) for name, area in zip(RANGES, areas, strict=True)}
    return found | {"bags_100": float(len(filled))}


def _known_frames(
    given: list[Floats], truth: Sequence[npt.ArrayLike] | None, known: Sequence[npt.ArrayLike] | None
) -> list[tuple[Bools, Floats]]:
    """Truth and relative attention of the known frames of each bag that has some."""
    if truth is None:
        return []
    if len(truth) != len(given) or (known is not None and len(known) != len(given)):
        raise ValueError("attention, truth and known must list the same bags")
    bags = []
    for index, r in enumerate(given):
        use = None if known is None else np.asarray(known[index])[..., None]
        told, _, sure = checked_entries(np.asarray(truth[index])[..., None], r[:, None], use)
        if sure.any():
            bags.append((told[sure], r[sure[:, 0]]))
    return bags


def _mean(values: Sequence[float] | Floats) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
