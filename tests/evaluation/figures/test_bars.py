from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from devcem.evaluation.figures import class_bars
from devcem.labels.classes import CLASSES


def table(methods: int) -> pd.DataFrame:
    values = np.random.default_rng(methods).uniform(0.1, 0.9, (15, methods))
    return pd.DataFrame(values, index=CLASSES, columns=[f"method-{number}" for number in range(methods)])


def widths(axis: Any) -> np.ndarray:
    return np.array(
        [[bar.get_width() for bar in part] for part in axis.containers if hasattr(part, "patches")]
    )


def test_four_methods_share_a_panel(draw: Any) -> None:
    values = table(4)
    drawn = draw(class_bars, values, values - 0.1, values + 0.05, name="F1", title="F1 of each class")
    drawn.check()
    assert {*CLASSES, *values.columns, "F1", "F1 of each class"} <= set(drawn.svg)
    (axis,) = drawn.figure.axes
    np.testing.assert_allclose(widths(axis), values.to_numpy().T)
    ends = axis.containers[1].errorbar[2][0].get_segments()
    np.testing.assert_allclose(
        [segment[:, 0] for segment in ends], np.c_[values.iloc[:, 0] - 0.1, values.iloc[:, 0] + 0.05]
    )
    assert axis.yaxis_inverted()  # the first class on top


def test_many_methods_have_a_panel_each(draw: Any) -> None:
    values = table(11)
    drawn = draw(class_bars, values, name="F1", notices=["Synthetic video."])
    drawn.check()
    assert {*CLASSES, *values.columns} <= set(drawn.svg)
    panels = drawn.figure.axes[:11]
    assert not any(axis.axison for axis in drawn.figure.axes[11:])
    np.testing.assert_allclose([widths(axis)[0] for axis in panels], values.to_numpy().T)
    for axis in panels:
        best = axis.collections[-1].get_offsets()
        np.testing.assert_allclose(np.asarray(best)[:, 0], values.max(axis=1))


def test_a_value_that_is_not_there_is_a_dash(draw: Any) -> None:
    values = table(6)
    values.iloc[3, 5] = np.nan
    values.iloc[4] = np.nan
    drawn = draw(class_bars, values)
    drawn.check()
    assert drawn.svg.count("–") == 7
    assert "A dash: no value." in " ".join(drawn.svg)
    assert widths(drawn.figure.axes[5])[0, 3] == 0


def test_values_beyond_one_are_not_cut_off(draw: Any) -> None:
    (axis,) = draw(class_bars, table(2) * 40).figure.axes
    assert axis.get_xlim()[1] > table(2).to_numpy().max() * 40


def test_half_an_interval_is_refused(draw: Any) -> None:
    with pytest.raises(ValueError, match="together"):
        draw(class_bars, table(2), table(2))
    with pytest.raises(ValueError, match="no classes"):
        draw(class_bars, table(2).iloc[:0])
