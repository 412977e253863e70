"""Rules that look at no pixel: what a method's figures have to be compared with.

| name | a frame's score for class k |
|---|---|
| empty | 0 |
| everything | 1 |
| training prior | prior[k], the share of training frames that show the class |
| centre frame | prior[k] at the middle of the segment, falling in a straight line to 0 just beyond its ends |
| uniform sampling | 1 less the van der Corput sequence: the bits of its ordinal in reverse behind the point |
| random | drawn evenly from 0 to 1, by the seed |

Uniform sampling keeps every 8th frame first, then every 4th, then every 2nd: whatever the score from which
frames are kept, each segment gives the same share of its frames, evenly spread, so that no budget has to be
chosen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
BASELINES = ("empty", "everything", "training prior", "centre frame", "uniform sampling", "random")


def baseline_scores(name: str, lengths: Sequence[int], prior: npt.ArrayLike, seed: int = 0) -> list[Floats]:
    """Frame scores, one table [T,K] for each of the *lengths*; *prior* [K]."""
    shares = _prior(name, prior)
    if any(length < 0 for length in lengths):
        raise ValueError(f"a segment has no fewer than 0 frames: {min(lengths)}")
    if name == "random":
        rng = np.random.default_rng(seed)
        return [rng.random((length, len(shares))) for length in lengths]
    if name == "centre frame":
        return [_centre(length)[:, None] * shares for length in lengths]
    if name == "uniform sampling":
        return [np.repeat(1 - _reversed_bits(length)[:, None], len(shares), axis=1) for length in lengths]
    return [np.tile(_constant(name, shares), (length, 1)) for length in lengths]


def baseline_video_scores(name: str, segments: int, prior: npt.ArrayLike, seed: int = 0) -> Floats:
    """Video scores [segments, K]. *prior* [K] is the share of training segments with the class, and the score
    of the rules that only place frames (centre frame, uniform sampling)."""
    shares = _prior(name, prior)
    if name == "random":
        return np.random.default_rng(seed).random((segments, len(shares)))
    return np.tile(_constant(name, shares), (segments, 1))


def _prior(name: str, prior: npt.ArrayLike) -> Floats:
    if name not in BASELINES:
        raise ValueError(f"no baseline is called '{name}'; there are {', '.join(BASELINES)}")
    shares = np.asarray(prior, np.float64)
    if shares.ndim != 1 or not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("prior must be one share from 0 to 1 a class")
    return shares


def _constant(name: str, shares: Floats) -> Floats:
    return {"empty": np.zeros_like(shares), "everything": np.ones_like(shares)}.get(name, shares)


def _centre(length: int) -> Floats:
    """1 at the middle, falling to both sides by equal steps that reach 0 half a frame beyond the ends."""
    places = np.arange(length) + 0.5
    height: Floats = 1 - np.abs(2 * places - length) / max(length, 1)
    return height


def _reversed_bits(length: int) -> Floats:
    """The bits of 0, 1, 2, 3, 4 ... in reverse behind the point: 0, 1/2, 1/4, 3/4, 1/8 ... [length]"""
    left, value, weight = np.arange(length), np.zeros(length), 0.5
    while left.any():
        value += weight * (left & 1)
        left, weight = left >> 1, weight / 2
    return value
