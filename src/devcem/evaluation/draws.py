"""Patients drawn again and again with all their videos, and the percentiles of what the draws give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from devcem.evaluation.entries import Floats

Ints = npt.NDArray[np.int64]


class Intervals(NamedTuple):
    """Percentiles [F] of a figure's draws, and in how many draws each figure exists."""

    low: Floats
    high: Floats
    counted: Ints


def patient_units(patients: Sequence[str]) -> Ints:
    """The unit of each row [N], numbered as they come; a row without a patient is one of its own."""
    if not all(isinstance(patient, str) for patient in patients):
        raise ValueError('patients must be text, "" where a video has none')
    numbers: dict[str | int, int] = {}
    return np.array([numbers.setdefault(p or row, len(numbers)) for row, p in enumerate(patients)], np.int64)


def draw_weights(patients: Sequence[str], draws: int, seed: int) -> Ints:
    """How often each draw holds each row: [draws,N]."""
    if not len(patients):
        raise ValueError("no row to draw from")
    if draws < 1:
        raise ValueError(f"{draws} draws give no interval")
    units = patient_units(patients)
    count = int(units.max()) + 1
    drawn = np.random.default_rng(seed).integers(count, size=(draws, count))
    times = np.stack([np.bincount(draw, minlength=count) for draw in drawn])  # [draws, units]
    return times[:, units]


def percentiles(values: Floats, patients: Sequence[str], level: float) -> Intervals:
    """Over the draws [D,...], between neighbours in proportion, as numpy does, NaN left out."""
    if not 0 < level < 1:
        raise ValueError(f"the level of an interval lies between 0 and 1, not at {level}")
    if patient_units(patients).max() == 0:  # a single unit has no spread
        values = np.full_like(values, np.nan)
    rising = np.sort(values, axis=0)  # NaN last
    counted = (~np.isnan(rising)).sum(axis=0, dtype=np.int64)
    low, high = (_at(rising, counted, share) for share in ((1 - level) / 2, (1 + level) / 2))
    return Intervals(low, high, counted)


def _at(rising: Floats, counted: Ints, share: float) -> Floats:
    last = np.maximum(counted - 1, 0)
    place = share * last
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, last)
    lower, upper = (np.take_along_axis(rising, index[None], axis=0)[0] for index in (below, above))
    found: Floats = lower + (upper - lower) * (place - below)
    return found
