from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    average_precision_score,
    label_ranking_average_precision_score,
    precision_recall_fscore_support,
    recall_score,
    roc_auc_score,
)

from devcem.evaluation.averages import PAPER_CLASSES, averages
from devcem.evaluation.metrics import RATIOS, multilabel_metrics
from devcem.labels import CLASSES, PATHOLOGIES

Case = tuple[np.ndarray, np.ndarray, np.ndarray]
GRID = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0])
TABLES = st.integers(0, 8).flatmap(
    lambda n: st.tuples(
        hnp.arrays(bool, (n, 4)), hnp.arrays(np.float64, (n, 4), elements=GRID), hnp.arrays(bool, (n, 4))
    )
)
NAMES = ["polyp", "bubbles", "Bleeding", "normal"]
THRESHOLD = [0.5, 0.25, 0.75, 0.1]


def mean(values: list[float]) -> float:
    """Of what there is."""
    there = [value for value in values if not np.isnan(value)]
    return sum(there) / len(there) if there else float("nan")


def by_hand(truth: np.ndarray, scores: np.ndarray, called: np.ndarray) -> list[float]:
    """The figures of one list of entries, by scikit-learn; NaN by the conventions of `averages`."""
    nan = float("nan")
    specificity = nan if truth.all() else recall_score(~truth, ~called)
    if not truth.any():
        return [nan, nan, nan, specificity, nan, nan]
    precision, recall, f1, _ = precision_recall_fscore_support(
        truth, called, average="binary", zero_division=0
    )
    area = nan if truth.all() else roc_auc_score(truth, scores)
    return [precision, recall, f1, specificity, area, average_precision_score(truth, scores)]


@settings(deadline=None, max_examples=60)
@given(TABLES)
def test_every_average_as_scikit_learn_figures_put_together(case: Case) -> None:
    truth, scores, known = case
    called = scores >= THRESHOLD
    table = averages(truth, scores, known, THRESHOLD, NAMES)
    assert list(table.index) == ["macro", "macro, pathologies", "macro, absent as 0", "micro", "samples"]
    assert list(table.columns) == [*RATIOS, "tp", "fp", "fn", "tn"]

    def figures(chosen: list[np.ndarray]) -> list[list[float]]:
        return [by_hand(truth[use], scores[use], called[use]) for use in chosen]

    cells = [known & (np.arange(4) == k) for k in range(4)]
    rows = [known & (np.arange(len(truth)) == i)[:, None] for i in range(len(truth))]
    each = figures(cells)
    as_zero = [[0, 0, 0, one[3], 0, 0] if np.isnan(one[1]) else one for one in each]
    expected = {
        "macro": each,
        "macro, pathologies": [each[0], each[2]],  # Bleeding is haemorrhage
        "macro, absent as 0": as_zero,
        "micro": figures([known]),
        "samples": figures(rows),
    }
    for name, parts in expected.items():
        wanted = [mean([part[f] for part in parts]) for f in range(len(RATIOS))]
        np.testing.assert_allclose(table.loc[name, list(RATIOS)].to_numpy(float), wanted, err_msg=name)
    for name, part in (("macro", known), ("macro, pathologies", known & np.array([1, 0, 1, 0], bool))):
        counts = [(part & told & said).sum() for told, said in ((truth, called), (~truth, called))]
        counts += [(part & told & ~called).sum() for told in (truth, ~truth)]
        assert table.loc[name, ["tp", "fp", "fn", "tn"]].tolist() == counts
    macro = multilabel_metrics(truth, scores, known, THRESHOLD).loc["macro", list(RATIOS)]
    np.testing.assert_allclose(table.loc["macro", list(RATIOS)].to_numpy(float), macro.to_numpy(float))


@settings(deadline=None)
@given(
    st.integers(1, 8).flatmap(
        lambda n: st.tuples(hnp.arrays(bool, (n, 4)), hnp.arrays(np.float64, (n, 4), elements=GRID))
    )
)
def test_samples_and_micro_are_those_of_scikit_learn(case: tuple[np.ndarray, np.ndarray]) -> None:
    """It knows both for tables without gaps; a video without a label is left out beforehand."""
    truth, scores = case
    table = averages(truth, scores)
    labelled = truth.any(axis=1)
    if labelled.any():
        told, given_ = truth[labelled], scores[labelled]
        wanted = precision_recall_fscore_support(told, given_ >= 0.5, average="samples", zero_division=0)[:3]
        row = table.loc["samples", ["precision", "recall", "f1"]].to_numpy(float)
        np.testing.assert_allclose(row, np.array(wanted, float))
        ranked = label_ranking_average_precision_score(told, given_)
        assert table.loc["samples", "ap"] == pytest.approx(ranked)
        wanted = precision_recall_fscore_support(truth, scores >= 0.5, average="micro", zero_division=0)[:3]
        row = table.loc["micro", ["precision", "recall", "f1"]].to_numpy(float)
        np.testing.assert_allclose(row, np.array(wanted, float))
        assert table.loc["micro", "ap"] == pytest.approx(
            average_precision_score(truth, scores, average="micro")
        )
    else:
        assert table.loc[["micro", "samples"], ["precision", "recall", "f1", "ap"]].isna().all().all()


def test_the_papers_14_leave_bubbles_out_and_stand_alone_if_complete() -> None:
    rng = np.random.default_rng(0)
    truth, scores = rng.random((30, 15)) < 0.3, rng.random((30, 15))
    table = averages(truth, scores, classes=CLASSES)
    assert len(PAPER_CLASSES) == 14 and len(PATHOLOGIES) == 12
    each = multilabel_metrics(truth, scores, classes=CLASSES)
    for name, chosen in (("macro, the paper's 14", PAPER_CLASSES), ("macro, pathologies", PATHOLOGIES)):
        wanted = each.loc[list(chosen), list(RATIOS)].mean().to_numpy(float)
        np.testing.assert_allclose(table.loc[name, list(RATIOS)].to_numpy(float), wanted)
    assert "macro, the paper's 14" in averages(truth[:, :14], scores[:, :14], classes=CLASSES[:14]).index
    fewer = averages(truth[:, :13], scores[:, :13], classes=CLASSES[:13])
    assert "macro, the paper's 14" not in fewer.index and "macro, pathologies" in fewer.index


def test_rows_of_classes_that_are_not_there_are_missing() -> None:
    everywhere = ["macro", "macro, absent as 0", "micro", "samples"]
    assert list(averages([[1, 0]], [[0.9, 0.1]]).index) == everywhere
    assert list(averages([[1, 0]], [[0.9, 0.1]], classes=["normal", "pylorus"]).index) == everywhere


def test_an_absent_class_counts_as_nothing_and_keeps_its_specificity() -> None:
    """The first is found; the second has no positive and one false call in two; the third is unknown."""
    truth, scores = [[1, 0, 0], [0, 0, 0]], [[0.9, 0.9, 0.9], [0.1, 0.1, 0.9]]
    known = [[1, 1, 0], [1, 1, 0]]
    table = averages(truth, scores, known)
    assert table.loc["macro", list(RATIOS)].tolist() == [1, 1, 1, 3 / 4, 1, 1]
    third = pytest.approx(1 / 3)
    assert table.loc["macro, absent as 0", list(RATIOS)].tolist() == [
        third,
        third,
        third,
        3 / 4,
        third,
        third,
    ]


def test_nothing_known_is_nothing_scored() -> None:
    for rows in (4, 0):
        table = averages(np.zeros((rows, 2)), np.zeros((rows, 2)), np.zeros((rows, 2)))
        assert (table[["tp", "fp", "fn", "tn"]] == 0).all().all()
        assert table.loc[["macro", "micro", "samples"], list(RATIOS)].isna().all().all()


def test_what_is_not_a_table_of_truth_beside_scores_is_refused() -> None:
    with pytest.raises(ValueError, match=r"one shape \[N,K\]"):
        averages([[1, 0]], [[1.0]])
    with pytest.raises(ValueError, match="not a number"):
        averages([[1]], [[1.0]], threshold=np.nan)
    with pytest.raises(ValueError, match="2 class names for 1 columns"):
        averages([[1]], [[1.0]], classes=["a", "b"])
