"""Which frames of a long stretch a model sees. All answers are sorted ordinals without repeats."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

WINDOW = 30  # frames a sample, as in the paper

Ordinals = npt.NDArray[np.int64]


def uniform(count: int, wanted: int = WINDOW) -> Ordinals:
    """The middles of *wanted* equal stretches of *count* frames; a shorter segment stays whole."""
    if count <= wanted:
        return np.arange(count)
    return (2 * np.arange(wanted) + 1) * count // (2 * wanted)


def stratified(count: int, wanted: int, rng: np.random.Generator) -> Ordinals:
    """One random frame from each of *wanted* stretches, so that every frame is equally likely, for training.

    Stretches of whole frames differ by one in length, which would favour the frames of the shorter ones for
    good. So they lie on a ring that is turned by a random amount: the one across both ends is one stretch.
    """
    if count <= wanted:
        return np.arange(count)
    edges = np.arange(wanted + 1) * count // wanted
    drawn = rng.integers(edges[:-1], edges[1:])
    return np.sort((drawn + rng.integers(count)) % count)


def interleaved(count: int, wanted: int = WINDOW) -> list[Ordinals]:
    """Every frame in one sample of at most *wanted*, each spanning the whole segment, for prediction."""
    samples = -(-count // wanted)
    return [np.arange(first, count, samples) for first in range(samples)]
