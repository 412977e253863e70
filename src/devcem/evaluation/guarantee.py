"""A threshold a class that promises a recall, by conformal risk control (Angelopoulos et al. 2022).

A patient's loss is the share missed of the positive videos that he has of the class. A patient without a
known positive says nothing about recall and stays out. Over the n patients with one, the threshold is the
largest t with (sum of losses at t + 1) / (n + 1) <= 1 - recall. The 1 stands for the worst that a new patient
can do. As the loss only grows with t, the mean loss of a new patient, exchangeable with these n, is then at
most 1 - recall: in the mean over such collections and patients, not for each collection, and a class at a
time. The data must be new to the model: neither trained on nor used to choose it.

With t low enough the sum is 0, so a promise needs 1 / (n + 1) <= 1 - recall: 9 patients for 0.9, 19 for 0.95.
Where there are fewer, nothing short of calling every video can promise anything: the threshold is then 0.0,
or -inf where known scores lie below 0 and 0.0 would not call everything.

Sums are exact: *recall* is taken as the decimal it prints as, losses as fractions, so that 9 patients do
suffice for 0.9, which they would not in floating point. A score on the threshold is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from devcem.evaluation.draws import patient_units
from devcem.evaluation.entries import Bools, Floats, checked_entries


def guaranteed_thresholds(
    truth: npt.ArrayLike,
    scores: npt.ArrayLike,
    known: npt.ArrayLike | None,
    patients: Sequence[str],
    recall: float = 0.9,
) -> tuple[Floats, Bools]:
    """threshold [K] and possible [K], from tables [N,K] and *patients* [N] ("" is a patient by itself)."""
    told, given, use = checked_entries(truth, scores, known)
    if len(patients) != len(told):
        raise ValueError(f"{len(patients)} patients for {len(told)} rows")
    if not 0 < recall < 1:
        raise ValueError(f"a recall to promise lies between 0 and 1, not at {recall}")
    units = patient_units(patients)
    allowed = 1 - Fraction(str(float(recall)))
    everything = -np.inf if (given[use] < 0).any() else 0.0
    found = [_highest(given[told[:, k], k], units[told[:, k]], allowed) for k in range(told.shape[1])]
    possible = np.array([threshold is not None for threshold in found], bool)
    threshold = np.array([everything if value is None else value for value in found], np.float64)
    return threshold, possible


def _highest(scores: Floats, units: npt.NDArray[np.int64], allowed: Fraction) -> float | None:
    """Among the scores of the positives: between two of them the loss does not change."""
    _, patient, videos = np.unique(units, return_inverse=True, return_counts=True)
    budget = (len(videos) + 1) * allowed - 1  # what the losses may add up to
    if budget < 0:
        return None
    order = np.argsort(scores, kind="stable")
    missed = Fraction(0)  # by calling what scores as much as the next positive
    for i in order.tolist():
        missed += Fraction(1, int(videos[patient[i]]))
        if missed > budget:  # so this one must be called, and those that tie with it are
            return float(scores[i])
    raise AssertionError("missing every positive costs n, which is more than any budget below n")
