from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from devcem.evaluation import multilabel_metrics, tune_thresholds


def tuned(truth: list[int], scores: list[float]) -> float:
    threshold, done = tune_thresholds(np.array(truth)[:, None], np.array(scores)[:, None])
    assert done.tolist() == [True]
    return float(threshold[0])


def test_by_hand() -> None:
    # calling .9 alone: F1 2/3; .9 and .3: 1; the middle of .3 and .1
    assert tuned([1, 1, 0], [0.9, 0.3, 0.1]) == pytest.approx(0.2)
    # calling 1: 2/3, 2: 1/2, 3: 4/5, 4: 2/3; the middle of .4 and .2
    assert tuned([1, 0, 1, 0], [0.8, 0.6, 0.4, 0.2]) == pytest.approx(0.3)


def test_equal_scores_are_called_together() -> None:
    assert tuned([1, 0, 0], [0.8, 0.8, 0.4]) == pytest.approx(0.6)


def test_calling_everything_puts_the_threshold_on_the_lowest_score() -> None:
    # calling 1: 0, 2: 1/2, 3: 4/5
    assert tuned([0, 1, 1], [0.9, 0.6, 0.2]) == 0.2


def test_ties_go_to_the_value_nearest_one_half_then_to_the_lower() -> None:
    # calling 1: 2/3, 2: 1/2, 3: 2/5, 4: 2/3; .85 is nearer .5 than .1
    assert tuned([1, 0, 0, 1], [0.9, 0.8, 0.6, 0.1]) == pytest.approx(0.85)
    assert tuned([1, 0, 0, 1], [0.99, 0.97, 0.7, 0.4]) == 0.4
    # .75 and .25 are equally far: in eighths, so that both are exact
    assert tuned([1, 0, 0, 1], [0.875, 0.625, 0.5, 0.25]) == 0.25


def test_neighbouring_floats_are_told_apart() -> None:
    upper = np.nextafter(0.7, 1)
    assert tuned([1, 0], [upper, 0.7]) == upper


def test_single_precision_scores_stay_on_their_side() -> None:
    scores = np.array([[np.nextafter(np.float32(0.7), np.float32(1))], [0.7]], np.float32)
    threshold, _ = tune_thresholds([[1], [0]], scores)
    assert multilabel_metrics([[1], [0]], scores, threshold=threshold).loc[0, "f1"] == 1


def test_one_sided_and_unknown_classes_keep_one_half() -> None:
    truth = np.array([[0, 1, 1, 1], [0, 1, 0, 0], [0, 1, 0, 0]])
    known = np.array([[1, 1, 0, 1], [1, 1, 1, 1], [1, 1, 1, 0]])
    scores = np.tile([[0.4], [0.2], [0.1]], (1, 4))
    threshold, done = tune_thresholds(truth, scores, known)
    assert done.tolist() == [False, False, False, True]
    np.testing.assert_allclose(threshold, [0.5, 0.5, 0.5, 0.3])


SIDES = (
    st.integers(2, 12)
    .flatmap(
        lambda n: st.tuples(
            hnp.arrays(bool, n), hnp.arrays(np.float64, n, elements=st.floats(0, 1)), hnp.arrays(bool, n)
        )
    )
    .filter(lambda case: len(set(case[0][case[2]].tolist())) == 2)
)


@given(SIDES, st.randoms(use_true_random=False))
def test_no_other_threshold_is_better(
    case: tuple[np.ndarray, np.ndarray, np.ndarray], random: object
) -> None:
    truth, scores, known = case
    threshold, done = tune_thresholds(truth[:, None], scores[:, None], known[:, None])
    assert done.all()
    best = max(f1_score(truth[known], scores[known] >= cut) for cut in scores[known])
    assert f1_score(truth[known], scores[known] >= threshold[0]) == pytest.approx(best)
    order = list(range(len(truth)))
    random.shuffle(order)  # type: ignore[attr-defined]
    again, _ = tune_thresholds((truth ^ ~known)[order, None], scores[order, None], known[order, None])
    assert again == threshold
