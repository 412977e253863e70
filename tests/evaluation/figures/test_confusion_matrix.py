from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from devcem.evaluation.confusion import multilabel_confusion
from devcem.evaluation.figures import confusion
from devcem.labels.classes import CLASSES


def test_three_methods_side_by_side(draw: Any) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, (60, 15))
    matrices = {
        name: multilabel_confusion(truth, rng.integers(0, 2, (60, 15))) for name in ("a1", "b2", "c3")
    }
    drawn = draw(confusion, matrices, CLASSES, title="Confusion", notices=["Synthetic video."])
    drawn.check()
    counted = {f"{name} ({count})" for name, count in zip(CLASSES, truth.sum(axis=0), strict=True)}
    assert {"a1", "b2", "c3", "none", *CLASSES, *counted} <= set(drawn.svg)
    heights = {round(axis.get_position().y0, 3) for axis in drawn.figure.axes}
    assert len(drawn.figure.axes) == 3 and len(heights) == 1


def test_percent_of_the_true_row_and_counts_of_what_nothing_was_missed_beside(draw: Any) -> None:
    matrix = [[3, 1, 0], [0, 0, 0], [0, 7, 0]]
    drawn = draw(confusion, {"m": matrix}, ["polyp", "blood"])
    drawn.check()
    axis = drawn.figure.axes[0]
    cells = {text.get_position()[::-1]: text.get_text() for text in axis.texts}  # (row, column)
    assert cells == {(0, 0): "75", (0, 1): "25", (2, 1): "7"}
    assert np.asarray(axis.images[0].get_array()).tolist() == [[0.75, 0.25, 0], [0, 0, 0], [0, 0, 0]]
    assert {"polyp (4)", "blood (0)"} <= set(drawn.svg)


def test_counts_are_not_shown_where_methods_do_not_agree_on_them(draw: Any) -> None:
    drawn = draw(confusion, {"m": [[3, 1], [0, 2]], "n": [[3, 0], [0, 2]]}, ["polyp", "blood"])
    drawn.check()
    assert {"polyp", "blood"} <= set(drawn.svg) and "none" not in " ".join(drawn.svg)


def test_a_fourth_method_begins_a_second_row(draw: Any) -> None:
    drawn = draw(confusion, {name: np.eye(3) for name in "pqrs"}, ["polyp", "blood"])
    drawn.check()
    assert len({round(axis.get_position().y0, 3) for axis in drawn.figure.axes if axis.images}) == 2


def test_matrices_of_another_size_are_refused(draw: Any) -> None:
    with pytest.raises(ValueError, match="for 2 classes"):
        draw(confusion, {"m": np.eye(4)}, ["a", "b"])
    with pytest.raises(ValueError, match="for 2 classes"):
        draw(confusion, {"m": np.eye(2), "n": np.eye(3)}, ["a", "b"])
    with pytest.raises(ValueError, match="no matrix"):
        draw(confusion, {}, ["a", "b"])
