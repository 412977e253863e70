from __future__ import annotations

from fractions import Fraction

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.evaluation.guarantee import guaranteed_thresholds


def one(scores: list[float], patients: list[str], recall: float) -> tuple[float, bool]:
    """Of one class whose videos all show it."""
    column = np.array(scores)[:, None]
    threshold, possible = guaranteed_thresholds(np.ones_like(column), column, None, patients, recall)
    return float(threshold[0]), bool(possible[0])


def test_by_hand() -> None:
    scores, patients = [0.9, 0.3, 0.8], ["a", "a", "b"]
    # two patients: the losses may add up to 3 * .5 - 1 = 1/2. At .3 nothing is missed; at .8 half of a's;
    # at .9 all of b's as well
    assert one(scores, patients, 0.5) == (0.8, True)
    # 3 * .6 - 1 = .8 allows no more; 3 * .7 - 1 = 1.1 neither; 3 * .9 - 1 = 1.7 the next
    assert one(scores, patients, 0.4) == (0.8, True)
    assert one(scores, patients, 0.3) == (0.8, True)
    assert one(scores, patients, 0.1) == (0.9, True)
    assert one(scores, patients, 0.51) == (0.3, True)  # less than half of a patient
    assert one(scores, patients, 0.67) == (0.0, False)  # 3 * .33 < 1


def test_nine_patients_promise_nine_tenths_and_eight_do_not() -> None:
    """In floating point 1 / 10 <= 1 - 0.9 is false."""
    scores = np.linspace(0.1, 0.9, 9).tolist()
    names = [f"p{i}" for i in range(9)]
    assert one(scores, names, 0.9) == (scores[0], True)
    assert one(scores[:8], names[:8], 0.9) == (0.0, False)
    assert one(scores, [""] * 9, 0.9) == (scores[0], True)
    assert one(scores * 2, ["p"] * 9 + [""] * 9, 0.9)[1]
    assert one(np.linspace(0, 1, 19).tolist(), [""] * 19, 0.95) == (0.0, True)


def test_equal_scores_are_called_together() -> None:
    # ten patients: the losses may add up to 11 * .2 - 1 = 1.2: one patient, but two tie
    assert one([0.2, 0.2, *[0.7] * 8], [""] * 10, 0.8) == (0.2, True)
    assert one([0.1, 0.2, 0.2, *[0.7] * 7], [""] * 10, 0.8) == (0.2, True)


def test_negatives_and_what_is_unknown_say_nothing() -> None:
    truth = np.array([[1], [1], [1], [0], [1]])
    scores = np.array([[0.9], [0.3], [0.8], [0.01], [np.nan]])
    known = np.array([[1], [1], [1], [1], [0]])
    threshold, possible = guaranteed_thresholds(truth, scores, known, ["a", "a", "b", "c", "d"], 0.5)
    assert (threshold.tolist(), possible.tolist()) == ([0.8], [True])


def test_what_can_not_be_promised_calls_everything() -> None:
    truth, scores = [[1, 0], [0, 0]], np.array([[0.9, 0.2], [0.1, 0.3]])
    for shift, wanted in ((0, 0.0), (0.5, -np.inf)):
        threshold, possible = guaranteed_thresholds(truth, scores - shift, None, ["a", "b"])
        assert threshold.tolist() == [wanted, wanted] and not possible.any()
        assert (scores - shift >= threshold).all()


@settings(deadline=None)
@given(
    st.integers(0, 14).flatmap(
        lambda n: st.tuples(
            hnp.arrays(bool, n, elements=st.sampled_from([True, True, False])),
            hnp.arrays(np.float64, n, elements=st.sampled_from(np.linspace(0, 1, 7).tolist())),
            hnp.arrays(bool, n, elements=st.sampled_from([True, True, True, False])),
            st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=n, max_size=n),
        )
    ),
    st.sampled_from(["0.1", "0.25", "0.5", "0.6", "0.75", "0.8", "0.9"]),
)
def test_no_larger_threshold_keeps_the_promise(
    case: tuple[np.ndarray, np.ndarray, np.ndarray, list[str]], recall: str
) -> None:
    """All thresholds that differ: each score, just above it, and above all."""
    truth, scores, known, patients = case
    units = [name or str(i) for i, name in enumerate(patients)]
    losses = {unit: [i for i in range(len(units)) if units[i] == unit] for unit in units}
    losses = {unit: [i for i in rows if truth[i] and known[i]] for unit, rows in losses.items()}
    positives = [rows for rows in losses.values() if rows]

    def kept(threshold: float) -> bool:
        missed = sum(Fraction(sum(scores[i] < threshold for i in rows), len(rows)) for rows in positives)
        return (missed + 1) / Fraction(len(positives) + 1) <= 1 - Fraction(recall)

    candidates = sorted({0.0, *scores.tolist(), *np.nextafter(scores, 2).tolist(), 2.0})
    fit = [threshold for threshold in candidates if kept(threshold)]
    found, possible = guaranteed_thresholds(
        truth[:, None], scores[:, None], known[:, None], patients, float(recall)
    )
    assert possible.tolist() == [bool(fit)]
    assert found.tolist() == [max(fit, default=0.0)]


@given(hnp.arrays(np.float64, 12, elements=st.floats(0, 1)), st.lists(st.floats(0.01, 0.99), min_size=2))
def test_a_higher_promise_never_calls_less(scores: np.ndarray, recalls: list[float]) -> None:
    patients = [f"p{i // 2}" for i in range(8)] + [""] * 4
    found = [one(scores.tolist(), patients, recall) for recall in sorted(recalls)]
    thresholds, possible = zip(*found, strict=True)
    assert sorted(thresholds, reverse=True) == list(thresholds)
    assert sorted(possible, reverse=True) == list(possible)


@pytest.mark.parametrize(("recall", "patients"), [(0.8, 12), (0.9, 30)])
def test_new_patients_get_the_recall_that_was_promised(recall: float, patients: int) -> None:
    """4,000 collections with one new patient each, videos of a patient alike; the promise is not idle either.

    Theory puts the mean between recall and recall + 2 / (n + 1) where scores do not tie.
    """
    rng = np.random.default_rng(patients)
    worlds, most = 4000, 5
    rows = (patients + 1) * most
    who = np.repeat(np.arange(patients + 1), most)
    shape = (patients + 1, 1, worlds)
    ill = rng.normal(size=shape) + 0.7 * rng.normal(size=(patients + 1, most, worlds))
    exists = np.arange(most)[None, :, None] <= rng.integers(most, size=shape)  # one to five videos a patient
    truth = rng.random((patients + 1, most, worlds)) < 0.8
    scores = (1 / (1 + np.exp(-ill - truth))).reshape(rows, worlds)
    truth, known = truth.reshape(rows, worlds), exists.reshape(rows, worlds)
    old = who < patients
    names = [f"p{i}" for i in who[old]]
    threshold, possible = guaranteed_thresholds(truth[old], scores[old], known[old], names, recall)
    new = (truth & known)[~old]
    there = new.any(axis=0)
    assert possible[there].mean() > 0.95
    found = (new & (scores[~old] >= threshold)).sum(axis=0)[there] / new.sum(axis=0)[there]
    error = found.std() / np.sqrt(len(found))
    assert recall - 3 * error <= found.mean() <= recall + 2 / (patients * 0.8 + 1) + 3 * error


def test_counting_videos_instead_of_patients_would_break_the_promise() -> None:
    """Why patients: the videos of one are all alike, so 30 videos of 3 patients are worth 3 of them."""
    rng = np.random.default_rng(5)
    worlds, patients, videos = 4000, 3, 10
    scores = np.repeat(rng.random((patients + 1, worlds)), videos, axis=0)
    old, truth = scores[:-videos], np.ones((patients * videos, worlds))
    honest = [f"p{i // videos}" for i in range(patients * videos)]
    blind, _ = guaranteed_thresholds(truth, old, None, [""] * len(honest), 0.9)
    assert (scores[-1] >= blind).mean() < 0.8
    _, possible = guaranteed_thresholds(truth, old, None, honest, 0.9)
    assert not possible.any()
    sure, possible = guaranteed_thresholds(truth, old, None, honest, 0.7)
    assert possible.all() and (scores[-1] >= sure).mean() >= 0.7


def test_what_does_not_fit_is_refused() -> None:
    for recall in (0, 1, 90, np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            guaranteed_thresholds([[1]], [[0.5]], None, ["a"], recall)
    with pytest.raises(ValueError, match="2 patients for 1 rows"):
        guaranteed_thresholds([[1]], [[0.5]], None, ["a", "b"])
    with pytest.raises(ValueError, match=r"one shape \[N,K\]"):
        guaranteed_thresholds([[1]], [[0.5, 0.5]], None, ["a"])
