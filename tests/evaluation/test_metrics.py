from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    average_precision_score,
    precision_recall_fscore_support,
    recall_score,
    roc_auc_score,
)

from devcem.evaluation import mean_ap, multilabel_metrics

# four videos; polyp: calls 1, 0, 1, 0; blood: calls none; debris: no positive; normal: no negative
TRUTH = np.array([[1, 1, 0, 1], [1, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]])
SCORES = np.array([[0.9, 0.3, 0.6, 0.9], [0.4, 0.3, 0.1, 0.8], [0.6, 0.1, 0.2, 0.2], [0.1, 0.2, 0.3, 0.7]])
CLASSES = ["polyp", "blood", "debris", "normal"]
TABLES = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        hnp.arrays(bool, (n, 3)),
        hnp.arrays(np.float64, (n, 3), elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0])),
        hnp.arrays(bool, (n, 3)),
    )
)


def test_every_figure_by_hand() -> None:
    table = multilabel_metrics(TRUTH, SCORES, classes=CLASSES)
    nan = np.nan
    expected = {
        # polyp: one of two found, one false call; of the 4 pairs only .4 < .6 is wrong; AP = (1 + 2/3) / 2
        "polyp": [2, 2, 1 / 2, 1 / 2, 1 / 2, 1 / 2, 3 / 4, 5 / 6],
        # blood: nothing called; the positive ties with one of three negatives; AP: the tie counts whole, 1/2
        "blood": [1, 3, 0, 0, 0, 1, 2.5 / 3, 1 / 2],
        "debris": [0, 4, 0, nan, nan, 3 / 4, nan, nan],
        # normal: three of four called, F1 = 6 / 7
        "normal": [4, 0, 1, 3 / 4, 6 / 7, nan, nan, 1],
    }
    columns = ["positives", "negatives", "precision", "recall", "f1", "specificity", "auroc", "ap"]
    assert table.index.name == "class"
    assert list(table.index) == [*CLASSES, "macro"]
    assert list(table.columns) == columns
    for name, row in expected.items():
        np.testing.assert_allclose(table.loc[name].to_numpy(float), row, rtol=1e-12, err_msg=name)
    macro = [7, 9, 1.5 / 3, 1.25 / 3, (1 / 2 + 6 / 7) / 3, 2.25 / 3, (3 / 4 + 2.5 / 3) / 2, (5 / 6 + 1.5) / 3]
    np.testing.assert_allclose(table.loc["macro"].to_numpy(float), macro, rtol=1e-12)


def test_a_score_on_the_threshold_is_called() -> None:
    table = multilabel_metrics([[1], [0]], [[0.5], [0.49]])
    assert table.loc[0, ["precision", "recall", "specificity"]].tolist() == [1, 1, 1]
    above = multilabel_metrics([[1], [0]], [[0.5], [0.49]], threshold=np.nextafter(0.5, 1))
    assert above.loc[0, ["precision", "recall", "f1", "specificity"]].tolist() == [0, 0, 0, 1]


def test_each_class_has_its_own_threshold() -> None:
    table = multilabel_metrics(TRUTH, SCORES, threshold=[0.3, 0.3, 0.5, 0.0], classes=CLASSES)
    assert table.loc["polyp", ["precision", "recall", "specificity"]].tolist() == [2 / 3, 1, 1 / 2]
    assert table.loc["blood", ["precision", "recall", "specificity"]].tolist() == [1 / 2, 1, 2 / 3]
    assert table.loc["normal", "recall"] == 1


def test_unknown_entries_never_enter() -> None:
    """Without the third video, polyps are ranked without a mistake; its entry may hold anything."""
    known = np.ones((4, 4), bool)
    known[2, 0] = False
    scores = SCORES.copy()
    scores[2, 0] = np.nan
    row = multilabel_metrics(TRUTH, scores, known, classes=CLASSES).loc["polyp"]
    np.testing.assert_allclose(row.to_numpy(float), [2, 1, 1, 1 / 2, 2 / 3, 1, 1, 1])


def test_nothing_known_is_nothing_scored() -> None:
    for rows in (4, 0):
        table = multilabel_metrics(np.zeros((rows, 2)), np.zeros((rows, 2)), np.zeros((rows, 2)))
        assert table.loc["macro", ["positives", "negatives"]].tolist() == [0, 0]
        assert table.loc["macro"].drop(["positives", "negatives"]).isna().all()
    assert np.isnan(mean_ap(np.zeros((4, 2)), np.zeros((4, 2))))


def test_mean_ap_leaves_out_one_sided_classes() -> None:
    assert mean_ap(TRUTH, SCORES) == pytest.approx((5 / 6 + 1 / 2) / 2)
    known = np.ones((4, 4), bool)
    known[2, 0] = False
    assert mean_ap(TRUTH, SCORES, known) == pytest.approx((1 + 1 / 2) / 2)


@given(TABLES)
def test_scikit_learn_says_the_same(case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    truth, scores, known = case
    table = multilabel_metrics(truth, scores, known, threshold=0.25)
    precisions = []
    for k in range(3):
        use = known[:, k]
        told, given_ = truth[use, k], scores[use, k]
        if not told.any():
            assert table.loc[k, ["recall", "f1", "auroc", "ap"]].isna().all()
            continue
        precision, recall, f1, _ = precision_recall_fscore_support(
            told, given_ >= 0.25, average="binary", zero_division=0
        )
        np.testing.assert_allclose(table.loc[k, ["precision", "recall", "f1"]], [precision, recall, f1])
        assert table.loc[k, "ap"] == pytest.approx(average_precision_score(told, given_))
        if told.all():
            assert table.loc[k, ["specificity", "auroc"]].isna().all()
            continue
        assert table.loc[k, "specificity"] == pytest.approx(recall_score(~told, given_ < 0.25))
        assert table.loc[k, "auroc"] == pytest.approx(roc_auc_score(told, given_))
        precisions.append(average_precision_score(told, given_))
    expected = np.mean(precisions) if precisions else np.nan
    assert mean_ap(truth, scores, known) == pytest.approx(expected, nan_ok=True)


@given(TABLES, st.randoms(use_true_random=False))
def test_neither_order_nor_what_is_unknown_matters(
    case: tuple[np.ndarray, np.ndarray, np.ndarray], random: object
) -> None:
    truth, scores, known = case
    order = list(range(len(truth)))
    random.shuffle(order)  # type: ignore[attr-defined]
    table = multilabel_metrics(truth, scores, known)
    shuffled = multilabel_metrics(truth[order], scores[order], known[order])
    np.testing.assert_allclose(shuffled.to_numpy(float), table.to_numpy(float))
    flipped = multilabel_metrics(np.where(known, truth, ~truth), np.where(known, scores, 7), known)
    np.testing.assert_array_equal(flipped.to_numpy(float), table.to_numpy(float))
    assert mean_ap(truth ^ ~known, scores, known) == pytest.approx(mean_ap(truth, scores, known), nan_ok=True)


@pytest.mark.parametrize(
    ("truth", "scores", "known", "message"),
    [
        ([[1, 0]], [[1.0]], None, r"one shape \[N,K\]"),
        ([1, 0], [1.0, 0.0], None, r"one shape \[N,K\]"),
        ([[1], [0]], [[1.0], [0.0]], [[1]], r"one shape \[N,K\]"),
        ([[2], [0]], [[1.0], [0.0]], None, "other than 0 and 1"),
        ([[1, 0], [0, 0]], [[1.0, 0.0], [0.0, np.nan]], None, "1 scores .* row 1, class number 1"),
    ],
)
def test_what_is_not_a_table_of_truth_beside_scores_is_refused(
    truth: list[object], scores: list[object], known: list[object] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        multilabel_metrics(truth, scores, known)  # type: ignore[arg-type]


def test_names_and_thresholds_must_fit() -> None:
    with pytest.raises(ValueError, match="3 class names for 4 columns"):
        multilabel_metrics(TRUTH, SCORES, classes=CLASSES[:3])
    with pytest.raises(ValueError, match="not a number"):
        multilabel_metrics(TRUTH, SCORES, threshold=np.nan)
    with pytest.raises(ValueError, match="broadcast"):
        multilabel_metrics(TRUTH, SCORES, threshold=[0.5, 0.5])
