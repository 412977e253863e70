"""All methods as points: recall against precision, and false alarms against recall."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

from devcem.evaluation.figures.page import GREY, PALE, looks, page, styled, write
from devcem.evaluation.figures.placing import MOST, place

PANEL, MARKER, LETTERS = 4.7, 6.5, 7.0  # inches, points, points
IN_COLUMN = 28  # names in a column of the legend
FIGURES = ("precision", "recall", "specificity")


@styled
def scatter(
    stem: str | Path, table: pd.DataFrame, *, title: str = "", notices: Sequence[str] = ()
) -> list[Path]:
    """Writes STEM.svg and STEM.png. *table*: a row a method, columns precision, recall and specificity, and
    where seeds differ FIGURE_spread, drawn as a bar to both sides.

    Each point bears its name; where the names do not fit, a legend has them. A method without a value is
    named below instead.
    """
    lacking = [name for name in FIGURES if name not in table]
    if lacking or not len(table):
        raise ValueError(f"the table lacks {', '.join(lacking) or 'methods'}")
    table = table.set_axis(table.index.map(str))
    drawn = table[np.isfinite(table[list(FIGURES)].to_numpy(np.float64)).all(axis=1)]
    key = [
        "Grey lines: equal F1.",
        "Dashed: what chance gives."
        if _limits(_alarms(drawn), "alarms")[1] > _limits(drawn, "recall")[0]
        else "",
        "Bars: spread over seeds." if any(f"{name}_spread" in table for name in FIGURES) else "",
        f"Without a value: {', '.join(name for name in table.index if name not in drawn.index)}."
        if len(drawn) < len(table)
        else "",
    ]
    figure = _draw(drawn, title, key, notices, named=True) if len(drawn) <= MOST else None
    figure = figure or _draw(drawn, title, key, notices, named=False)
    assert figure is not None
    return write(figure, stem, title)


def _draw(
    table: pd.DataFrame, title: str, key: Sequence[str], notices: Sequence[str], named: bool
) -> Figure | None:
    """None where names are wished and do not fit."""
    columns = 0 if named else math.ceil(len(table) / IN_COLUMN)
    letters = 0.5 + 0.062 * max(table.index.str.len(), default=0)  # inches of a legend's column
    figure = page(2 * PANEL + columns * letters, PANEL, title, key, notices)
    left, right = figure.subplots(1, 2)
    handles = _points(left, table, "recall", "precision")
    _points(right, _alarms(table), "alarms", "recall")
    left.set(xlabel="recall", ylabel="precision")
    right.set(xlabel="1 - specificity", ylabel="recall (sensitivity)")
    right.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--", zorder=0.5)
    _equal_f1(left)
    if not named:
        figure.legend(handles, table.index.to_list(), loc="outside right upper", ncols=columns)
        return figure
    names = [_names(left, table, "recall", "precision"), _names(right, _alarms(table), "alarms", "recall")]
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # from here on nothing moves
    return figure if all(map(_spread_out, (left, right), names)) else None


def _alarms(table: pd.DataFrame) -> pd.DataFrame:
    spread = table.get("specificity_spread", pd.Series(np.nan, table.index))
    return table.assign(alarms=1 - table["specificity"], alarms_spread=spread)


def _points(axis: Axes, table: pd.DataFrame, x: str, y: str) -> list[Artist]:
    """The markers, for a legend."""
    handles: list[Artist] = []
    for look, (_, row) in zip(looks(len(table)), table.iterrows(), strict=True):
        drawn = axis.errorbar(
            row[x],
            row[y],
            xerr=_spread(row, x),
            yerr=_spread(row, y),
            fmt=look.marker,
            color=look.colour,
            markersize=MARKER,
            markeredgecolor="white",
            markeredgewidth=0.4,
            elinewidth=0.7,
        )
        handles.append(drawn[0])
    axis.set_xlim(*_limits(table, x))
    axis.set_ylim(*_limits(table, y))
    return handles


def _spread(row: pd.Series, name: str) -> float | None:
    value = float(row.get(f"{name}_spread", np.nan))
    return value if np.isfinite(value) else None


def _limits(table: pd.DataFrame, name: str) -> tuple[float, float]:
    """From 0 to 1, cut to the tenths between which the points lie."""
    if not len(table):
        return 0.0, 1.0
    spread = table[f"{name}_spread"].fillna(0) if f"{name}_spread" in table else 0.0
    low = float(np.floor(((table[name] - spread).min() - 0.03) * 10) / 10)
    high = float(np.ceil(((table[name] + spread).max() + 0.03) * 10) / 10)
    return max(low, -0.02), min(high, 1.02)


def _equal_f1(axis: Axes) -> None:
    """precision = F1 * recall / (2 * recall - F1), named where it leaves the panel."""
    (left, right), (low, high) = axis.get_xlim(), axis.get_ylim()
    for f1 in np.arange(1, 10) / 10:
        recall = np.linspace(f1 / 2 + 1e-3, 1, 400)
        axis.plot(recall, f1 * recall / (2 * recall - f1), color=PALE, linewidth=0.8, zorder=0.4)
        edge = min(right, 1.0)
        end = f1 * edge / (2 * edge - f1) if edge > f1 / 2 else np.inf
        if low <= end <= high:
            axis.text(right, end, f" F1 {f1:.1f}", fontsize=6.5, color=GREY, va="center")
    axis.set_xlim(left, right)
    axis.set_ylim(low, high)


def _names(axis: Axes, table: pd.DataFrame, x: str, y: str) -> list[Annotation]:
    return [
        axis.annotate(
            str(name),
            (row[x], row[y]),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=LETTERS,
            ha="center",
            va="center",
            color="black",
            arrowprops={
                "arrowstyle": "-",
                "color": look.colour,
                "linewidth": 0.7,
                "shrinkA": 0,
                "shrinkB": 2,
            },
        )
        for look, (name, row) in zip(looks(len(table)), table.iterrows(), strict=True)
    ]


def _spread_out(axis: Axes, names: list[Annotation]) -> bool:
    """Moves names beside their points; False where there is no room."""
    if not names:
        return True
    scale = axis.figure.dpi / 72  # pixels a point
    points = axis.transData.transform([name.xy for name in names])
    boxes = [Text.get_window_extent(name) for name in names]  # without the arrow
    sizes = np.array([(box.width, box.height) for box in boxes])
    area = axis.get_window_extent()
    bars = [line for part in axis.collections for line in part.get_segments()]  # type: ignore[attr-defined]
    ends = axis.transData.transform(np.reshape(bars, (-1, 2))).reshape(-1, 2, 2)
    middles = place(points, sizes, np.array(area.extents), 0.6 * MARKER * scale, ends)
    if middles is None:
        return False
    for name, middle, point in zip(names, middles, points, strict=True):
        name.set_position(tuple((middle - point) / scale))
    return True
