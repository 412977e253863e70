from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from matplotlib.text import Annotation, Text

from devcem.evaluation.figures import scatter
from devcem.evaluation.figures.placing import _cross, _hits, place


def table(count: int, spread: float | None = 0.02) -> pd.DataFrame:
    rng = np.random.default_rng(count)
    values = np.c_[rng.uniform(0.3, 0.7, (count, 2)), rng.uniform(0.8, 0.99, count)]
    names = [f"method-{number}" for number in range(count)]
    given = pd.DataFrame(values, index=names, columns=["precision", "recall", "specificity"])
    return given if spread is None else given.assign(recall_spread=spread, precision_spread=spread)


def points(axis: Any) -> list[tuple[float, float]]:
    return [tuple(np.ravel(part[0].get_data())) for part in axis.containers]


def test_twenty_methods_bear_their_names(draw: Any) -> None:
    methods = table(20)
    drawn = draw(scatter, methods, title="All methods", notices=["Synthetic video."])
    drawn.check()
    assert all(drawn.svg.count(name) == 2 for name in methods.index)
    left, right = drawn.figure.axes
    assert points(left) == list(zip(methods["recall"], methods["precision"], strict=True))
    np.testing.assert_allclose(points(right), np.c_[1 - methods["specificity"], methods["recall"]])
    for axis, (x, y) in itertools.chain.from_iterable(
        [(axis, at) for at in points(axis)] for axis in (left, right)
    ):
        assert axis.get_xlim()[0] <= x <= axis.get_xlim()[1] and axis.get_ylim()[0] <= y <= axis.get_ylim()[1]
    looks = {(part[0].get_color(), part[0].get_marker()) for part in left.containers}
    assert len(looks) == 20


def test_no_line_of_a_crowd_runs_through_a_name(draw: Any) -> None:
    methods = table(14)
    methods[["precision", "recall"]] = 0.5 + 0.1 * (methods[["precision", "recall"]] - 0.5)
    methods.iloc[0, :3], methods.iloc[1, :3] = (0.05, 0.9, 0.7), (0.9, 0.05, 0.99)
    drawn = draw(scatter, methods)
    drawn.check()
    for axis in drawn.figure.axes:
        names = [text for text in axis.texts if isinstance(text, Annotation)]
        assert len(names) == 14
        boxes = {name: Text.get_window_extent(name) for name in names}
        for name, other in itertools.permutations(names, 2):
            line = name.arrow_patch.get_path().transformed(name.arrow_patch.get_transform())
            assert not line.intersects_bbox(boxes[other], filled=False), (name.get_text(), other.get_text())


def test_bars_are_the_spread_over_seeds(draw: Any) -> None:
    methods = table(2).assign(specificity_spread=0.01)
    left, right = draw(scatter, methods).figure.axes
    across, up = (part.get_segments()[0] for part in left.containers[0][2])
    np.testing.assert_allclose(np.ptp(across[:, 0]), 0.04)
    np.testing.assert_allclose(np.ptp(up[:, 1]), 0.04)
    np.testing.assert_allclose(np.ptp(right.containers[0][2][0].get_segments()[0][:, 0]), 0.02)


def test_equal_f1_lines_are_true(draw: Any) -> None:
    methods = table(3, None)
    methods.iloc[0], methods.iloc[1] = (0.05, 0.95, 0.9), (0.95, 0.05, 0.9)
    left = draw(scatter, methods).figure.axes[0]
    drawn = {}
    for line in left.lines:
        recall, precision = line.get_data()
        if len(recall) > 2:
            f1 = 2 * precision * recall / (precision + recall)
            assert np.ptp(f1) < 1e-9
            drawn[round(float(f1[0]), 6)] = True
    assert list(drawn) == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])


def test_many_methods_have_a_legend(draw: Any) -> None:
    drawn = draw(scatter, table(60))
    drawn.check()
    assert [text.get_text() for text in drawn.figure.legends[0].get_texts()] == list(table(60).index)


def test_a_method_without_a_value_is_named_below(draw: Any) -> None:
    methods = table(3, None)
    methods.loc["method-1", "precision"] = np.nan
    drawn = draw(scatter, methods)
    drawn.check()
    assert "Without a value: method-1." in " ".join(drawn.svg) and "method-1" not in drawn.svg
    assert len(drawn.figure.axes[0].containers) == 2
    draw(scatter, methods.iloc[1:2]).check()  # nothing to draw at all


def test_extreme_values_lie_inside(draw: Any) -> None:
    methods = pd.DataFrame(
        {"precision": [0, 1.0], "recall": [0, 1.0], "specificity": [0, 1.0]}, index=["none", "all"]
    )
    draw(scatter, methods).check()


def test_a_table_without_a_column_is_refused(draw: Any) -> None:
    with pytest.raises(ValueError, match="lacks recall"):
        draw(scatter, table(3).drop(columns="recall"))
    with pytest.raises(ValueError, match="lacks methods"):
        draw(scatter, table(3).iloc[:0])


BOX = np.array([0.0, 0.0, 400.0, 300.0])


@settings(max_examples=15, deadline=None)
@given(arrays.arrays(np.float64, (8, 2), elements=st.floats(60, 240)))
def test_labels_lie_free(points: np.ndarray) -> None:
    sizes = np.full((8, 2), (50.0, 10.0))
    middles = place(points, sizes, BOX, 4)
    assert middles is not None
    low, high = middles - sizes / 2, middles + sizes / 2
    assert (low >= BOX[:2]).all() and (high <= BOX[2:]).all()
    for i, j in itertools.permutations(range(8), 2):
        assert not ((low[i] < high[j]) & (low[j] < high[i])).all()
        assert not ((low[i] < points[j] + 4) & (points[j] - 4 < high[i])).all()
        assert not _hits(points[j], middles[j], np.r_[low[i], high[i]])


def test_what_has_no_room_is_said() -> None:
    one = np.array([[200.0, 150.0]])
    assert place(one, np.array([[500.0, 10.0]]), BOX, 4) is None
    assert place(np.repeat(one, 41, axis=0), np.full((41, 2), 5.0), BOX, 4) is None
    crowd = np.repeat(one, 40, axis=0)
    assert place(crowd, np.full((40, 2), (150.0, 60.0)), BOX, 4) is None


@settings(max_examples=60, deadline=None)
@given(arrays.arrays(np.float64, (4, 2), elements=st.integers(-9, 9).map(float)))
def test_lines_hit_boxes_and_cross(four: np.ndarray) -> None:
    """Against many points along the one line."""
    start, end, a, b = four
    along = start + np.linspace(0, 1, 400)[:, None] * (end - start)
    area = np.r_[np.minimum(a, b), np.maximum(a, b) + 1]
    inside = ((along > area[:2] + 0.05) & (along < area[2:] - 0.05)).all(axis=1).any()
    outside = ((along < area[:2] - 0.05) | (along > area[2:] + 0.05)).any(axis=1).all()
    touched = bool(_hits(start, end, area))
    assert touched or not inside
    assert not touched or not outside
    way = b - a
    sides = way[0] * (along - a)[:, 1] - way[1] * (along - a)[:, 0]
    spots = (along - a) @ way
    near = (
        (np.sign(sides[:-1]) * np.sign(sides[1:]) < 0) & (spots[:-1] > 0.2) & (spots[:-1] < way @ way - 0.2)
    )
    crossed = bool(_cross(start, end, a, b))
    beyond = (spots < -0.2).all() or (spots > way @ way + 0.2).all() or (sides > 0).all() or (sides < 0).all()
    assert not crossed or not beyond
    if near.any() and np.abs(sides[[0, -1]]).min() > 1:
        position = along[:-1][near][0]
        other = end - start
        ends = [other[0] * (p - start)[1] - other[1] * (p - start)[0] for p in (a, b)]
        if min(map(abs, ends)) > 1 and np.isfinite(position).all():
            assert crossed
