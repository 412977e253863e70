from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.metrics import confusion_matrix, precision_score, recall_score

from devcem.evaluation.confusion import multilabel_confusion, row_shares

SHAPES = st.tuples(st.integers(0, 8), st.integers(1, 5))


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    shape = draw(SHAPES)
    return tuple(draw(arrays.arrays(np.int64, shape, elements=st.integers(0, 1))) for _ in range(3))


def slow(truth: np.ndarray, called: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Video by video, with sets and fractions."""
    videos, classes = truth.shape
    cells = [[Fraction(0)] * (classes + 1) for _ in range(classes + 1)]
    for n in range(videos):
        labels = {k for k in range(classes) if known[n, k] and truth[n, k]}
        calls = {k for k in range(classes) if known[n, k] and called[n, k]}
        for k in labels & calls:
            cells[k][k] += 1
        missed, false = labels - calls, calls - labels
        for i in missed:
            rest = Fraction(1)
            for j in false:
                part = Fraction(1, max(len(missed), len(false)))
                cells[i][j] += part
                rest -= part
            cells[i][classes] += rest
        for j in false:
            cells[classes][j] += 1 - Fraction(len(missed), max(len(missed), len(false)))
    return np.array(cells, np.float64)


def test_by_hand() -> None:
    truth = [
        [1, 1, 0, 0],  # 0 hit, 1 missed; 2 and 3 called: half of 1 each, half of each call beside nothing
        [1, 1, 0, 0],  # both missed, 3 called: half of each there, half nowhere
        [0, 0, 1, 0],  # missed, nothing called
        [0, 0, 0, 0],  # nothing there, 0 called
        [0, 0, 0, 0],  # nothing at all
    ]
    called = [[1, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert multilabel_confusion(truth, called).tolist() == [
        [1, 0, 0, 0.5, 0.5],
        [0, 0, 0.5, 1, 0.5],
        [0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0],
        [1, 0, 0.5, 0.5, 0],
    ]


def test_an_unknown_entry_is_neither_label_nor_call() -> None:
    matrix = multilabel_confusion([[1, 5, 0]], [[0, 1, np.nan]], [[1, 0, 0]])
    assert matrix.tolist() == [[0, 0, 0, 1], [0] * 4, [0] * 4, [0] * 4]


@settings(max_examples=100, deadline=None)
@given(tables())
def test_equals_the_slow_way(given: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    np.testing.assert_allclose(multilabel_confusion(*given), slow(*given), atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(tables())
def test_rows_are_labels_and_columns_calls(given: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """So the diagonal over its row is recall and over its column precision, as scikit-learn has them."""
    truth, called, _ = given
    matrix = multilabel_confusion(truth, called)
    assert (matrix >= 0).all()
    np.testing.assert_allclose(matrix[:-1].sum(axis=1), truth.sum(axis=0), atol=1e-9)
    np.testing.assert_allclose(matrix[:, :-1].sum(axis=0), called.sum(axis=0), atol=1e-9)
    for k in range(truth.shape[1]):
        if truth[:, k].any():
            recall = recall_score(truth[:, k], called[:, k])
            assert row_shares(matrix)[k, k] == pytest.approx(recall)
        if called[:, k].any():
            precision = precision_score(truth[:, k], called[:, k])
            assert row_shares(matrix.T)[k, k] == pytest.approx(precision)


@pytest.mark.filterwarnings("ignore:A single label")
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 5), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=20))
def test_one_label_a_video_gives_the_ordinary_matrix(classes: int, videos: list[tuple[int, int]]) -> None:
    true, called = (np.array(part) % classes for part in zip(*videos, strict=True))
    matrix = multilabel_confusion(np.eye(classes)[true], np.eye(classes)[called])
    ordinary = confusion_matrix(true, called, labels=range(classes))
    np.testing.assert_array_equal(matrix[:-1, :-1], ordinary)
    assert not matrix[-1].any() and not matrix[:, -1].any()


def test_row_shares() -> None:
    np.testing.assert_allclose(row_shares([[1, 3], [0, 0]]), [[0.25, 0.75], [np.nan, np.nan]])


@pytest.mark.parametrize(
    ("truth", "called", "message"),
    [
        ([[1, 2]], [[1, 1]], "truth holds something other"),
        ([[1, 0]], [[0.7, 0]], "called holds something other"),
        ([[1, 0]], [[np.nan, 0]], "not finite"),
        ([[1, 0]], [[1, 0, 1]], "one shape"),
    ],
)
def test_what_is_no_table_of_labels_is_refused(truth: object, called: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        multilabel_confusion(truth, called)
