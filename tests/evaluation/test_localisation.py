from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from devcem.evaluation.localisation import areas, localisation_metrics
from devcem.evaluation.pointing import pointing_game
from devcem.evaluation.ranking import auroc, average_precision

# two classes; the second is seen in no frame of the first segment and in all of the second
TRUTH = [np.array([[1, 0], [0, 0], [0, 0]]), np.array([[0, 1], [1, 1]])]
SCORES = [np.array([[0.3, 0.1], [0.2, 0.2], [0.1, 0.3]]), np.array([[0.6, 0.9], [0.7, 0.25]])]


def test_every_figure_by_hand() -> None:
    table = localisation_metrics(TRUTH, SCORES, classes=["polyp", "blood"])
    assert table.index.name == "class"
    assert list(table.index) == ["polyp", "blood", "macro"]
    assert list(table.columns) == ["positives", "negatives", "auroc", "ap", "bags", "bag_auroc", "pointing"]
    # polyp falls as .7+ .6 .3+ .2 .1: one of six pairs is wrong, AP (1 + 2/3) / 2; within segments none
    np.testing.assert_allclose(table.loc["polyp"].to_numpy(float), [2, 3, 5 / 6, 5 / 6, 2, 1, 1])
    # blood falls as .9+ .3 .25+ .2 .1: the same, but no segment holds both kinds of frame
    np.testing.assert_allclose(table.loc["blood"].to_numpy(float), [2, 3, 5 / 6, 5 / 6, 0, np.nan, 1])
    np.testing.assert_allclose(table.loc["macro"].to_numpy(float), [4, 6, 5 / 6, 5 / 6, 2, 1, 1])


def test_each_segment_weighs_the_same_however_long() -> None:
    """Six frames ranked wrongly and two ranked rightly: one half."""
    truth = [np.array([[1]] + [[0]] * 5), np.array([[1], [0]])]
    scores = [np.array([[0.0]] + [[0.9]] * 5), np.array([[0.8], [0.1]])]
    assert localisation_metrics(truth, scores).loc[0, "bag_auroc"] == 0.5


def test_unknown_frames_take_no_part() -> None:
    """Without the frame scored .6, polyps rank without a mistake in the one segment that is mixed."""
    known = [np.ones((3, 2)), np.array([[0, 1], [1, 1]])]
    scores = [SCORES[0], np.array([[np.nan, 0.9], [0.7, 0.25]])]
    row = localisation_metrics(TRUTH, scores, known).loc[0]
    np.testing.assert_allclose(row.to_numpy(float), [2, 2, 1, 1, 1, 1, 1])


def test_nothing_known_is_nothing_scored() -> None:
    table = localisation_metrics(TRUTH, SCORES, [np.zeros_like(t) for t in TRUTH])
    assert table.loc["macro", ["positives", "negatives", "bags"]].tolist() == [0, 0, 0]
    assert table[["auroc", "ap", "bag_auroc", "pointing"]].isna().all().all()


SEGMENT = st.integers(0, 6).flatmap(
    lambda t: st.tuples(
        hnp.arrays(bool, (t, 2)),
        hnp.arrays(np.float32, (t, 2), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])),
        hnp.arrays(bool, (t, 2)),
    )
)


@settings(deadline=None)
@given(st.lists(SEGMENT, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_scikit_learn_says_the_same_in_any_order(
    bags: list[tuple[np.ndarray, np.ndarray, np.ndarray]], random: object
) -> None:
    truth, scores, known = map(list, zip(*bags, strict=True))
    table = localisation_metrics(truth, scores, known)
    for k in range(2):
        chosen = [(t[u[:, k], k], s[u[:, k], k]) for t, s, u in bags]
        told, given_ = (np.concatenate(part) for part in zip(*chosen, strict=True))
        if 0 < told.sum() < len(told):
            assert table.loc[k, "auroc"] == pytest.approx(roc_auc_score(told, given_))
            assert table.loc[k, "ap"] == pytest.approx(average_precision_score(told, given_))
        else:
            assert np.isnan(table.loc[k, "auroc"])
        within = [roc_auc_score(t, s) for t, s in chosen if 0 < t.sum() < len(t)]
        assert table.loc[k, "bags"] == len(within)
        expected = np.mean(within) if within else np.nan
        assert table.loc[k, "bag_auroc"] == pytest.approx(expected, nan_ok=True)
        pointed = pointing_game(truth, scores, known).loc[k, "pointing"]
        assert table.loc[k, "pointing"] == pytest.approx(pointed, nan_ok=True)
        for side, ranked in chosen:
            expected = auroc(side, ranked), average_precision(side, ranked)
            assert areas(side, ranked) == pytest.approx(expected, nan_ok=True)
    flipped = [(t ^ ~u, np.where(u, s, np.nan), u) for t, s, u in bags]
    random.shuffle(flipped)  # type: ignore[attr-defined]
    again = localisation_metrics(*map(list, zip(*flipped, strict=True)))
    np.testing.assert_allclose(again.to_numpy(float), table.to_numpy(float))


def test_tables_taken_as_they_are_are_judged_like_others_and_left_alone() -> None:
    """Truth of bool and scores of float64, all known, are not copied."""
    truth, scores = [t.astype(bool) for t in TRUTH], [s.copy() for s in SCORES]
    assert localisation_metrics(truth, scores).equals(localisation_metrics(TRUTH, SCORES))
    assert all((a == b).all() for a, b in zip(scores + truth, SCORES + TRUTH, strict=True))
    scores[0][0, 1] = np.inf
    with pytest.raises(ValueError, match="1 scores are not finite"):
        localisation_metrics(truth, scores)


def test_times_change_nothing_but_must_fit() -> None:
    table = localisation_metrics(TRUTH, SCORES, None, [[0.0, 0.5, 1.0], [7.0, 8.0]])
    assert table.equals(localisation_metrics(TRUTH, SCORES))
    for times in ([[0.0, 0.5, 1.0]], [[0.0, 0.5], [7.0, 8.0]]):
        with pytest.raises(ValueError, match="times must have"):
            localisation_metrics(TRUTH, SCORES, None, times)


def test_lists_must_fit() -> None:
    with pytest.raises(ValueError, match="same segments"):
        localisation_metrics(TRUTH, SCORES[:1])
    with pytest.raises(ValueError, match="same segments"):
        localisation_metrics(TRUTH, SCORES, [np.ones((3, 2))])
    with pytest.raises(ValueError, match="no segment"):
        localisation_metrics([], [])
    with pytest.raises(ValueError, match="1 class names for 2 columns"):
        localisation_metrics(TRUTH, SCORES, classes=["polyp"])
