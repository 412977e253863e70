from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from devcem.evaluation.figures import reliability_plot
from devcem.evaluation.figures.reliability import _pooled, expected_error
from devcem.labels.classes import CLASSES

ROWS = pd.DataFrame(
    [("a", 0, 0.1, 0.0, 30), ("a", 1, 0.8, 1.0, 10), ("b", 0, 0.3, 0.4, 10), ("b", 1, np.nan, np.nan, 0)],
    columns=["class", "bin", "score", "rate", "count"],
)


def bins(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (name, n, (n + rng.random()) / 10, rng.random(), rng.integers(0, 50))
        for name in CLASSES
        for n in range(10)
    ]
    return pd.DataFrame(rows, columns=ROWS.columns)


def test_fifteen_classes_before_and_after(draw: Any) -> None:
    drawn = draw(reliability_plot, bins(0), bins(1), title="Reliability", notices=["Synthetic video."])
    drawn.check()
    text = drawn.svg
    assert {*CLASSES, "all classes", "Reliability", "before", "after"} <= set(text)
    assert sum("→" in line for line in text) == 15


def test_points_are_the_bins(draw: Any) -> None:
    drawn = draw(reliability_plot, ROWS)
    drawn.check()
    pooled, counts, first, second, *_ = drawn.figure.axes
    np.testing.assert_allclose(pooled.collections[0].get_offsets(), [(0.15, 0.1), (0.8, 1)])
    np.testing.assert_allclose(first.collections[0].get_offsets(), [(0.1, 0), (0.8, 1)])
    np.testing.assert_allclose(second.collections[0].get_offsets(), [(0.3, 0.4)])
    assert [bar.get_height() for bar in counts.patches] == [40, 10]
    assert {"a", "ECE 0.125"} <= set(drawn.svg)  # (30 * 0.1 + 10 * 0.2) / 40
    assert "before, ECE 0.080" in drawn.svg  # (40 * 0.05 + 10 * 0.2) / 50


def test_pooled_bins_weigh_by_counts() -> None:
    pooled = _pooled(ROWS[ROWS["count"] > 0])
    np.testing.assert_allclose(pooled[["score", "rate", "count"]], [[0.15, 0.1, 40], [0.8, 1, 10]])
    assert expected_error(pooled) == pytest.approx((40 * 0.05 + 10 * 0.2) / 50)


def test_a_class_that_has_bins_on_one_side_only(draw: Any) -> None:
    drawn = draw(reliability_plot, ROWS, ROWS[ROWS["class"] == "a"])
    drawn.check()
    assert "ECE 0.125 → 0.125" in drawn.svg


def test_tables_without_columns_or_videos_are_refused(draw: Any) -> None:
    with pytest.raises(ValueError, match="lacks rate, count"):
        draw(reliability_plot, ROWS[["class", "bin", "score"]])
    with pytest.raises(ValueError, match="no bin"):
        draw(reliability_plot, ROWS.assign(count=0))
