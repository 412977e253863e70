"""A figure a class for several methods: bars side by side, or a panel a method where there are many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from devcem.evaluation.entries import Floats
from devcem.evaluation.figures.page import GREY, PALE, PALETTE, page, styled, write

TOGETHER, ABREAST = 4, 5  # methods whose bars share a panel; panels a row
HATCHES = ("", "////", "....", "xxxx")


@styled
def class_bars(
    stem: str | Path,
    table: pd.DataFrame,
    low: pd.DataFrame | None = None,
    high: pd.DataFrame | None = None,
    *,
    name: str = "",
    title: str = "",
    notices: Sequence[str] = (),
) -> list[Path]:
    """Writes STEM.svg and STEM.png. *table*: a row a class, a column a method; *low* and *high*, of the same
    shape, end the error bars. *name* says what the values are. A value that is NaN is a dash."""
    if table.empty:
        raise ValueError("the table has no classes or no methods")
    if (low is None) != (high is None):
        raise ValueError("low and high come together or not at all")
    values, errors = table.to_numpy(np.float64), None
    if low is not None and high is not None:
        ends = [part.reindex_like(table).to_numpy(np.float64) for part in (low, high)]
        errors = np.nan_to_num(np.stack([values - ends[0], ends[1] - values])).clip(0)  # [2,K,M]
    together = len(table.columns) <= TOGETHER
    said = [
        "A dash: no value." if np.isnan(values).any() else "",
        "" if errors is None else "Whiskers: from the low to the high end given.",
        "" if together else "Grey tick: the best of all methods in that class.",
    ]
    classes = [str(name) for name in table.index]
    letters = 0.065 * max(map(len, classes))
    if together:
        height = 0.13 * len(table.columns) + 0.1  # inches a class
        figure = page(letters + 6, height * len(classes) + 1.1, title, said, notices)
        axis = figure.subplots()
        thick = 0.84 / len(table.columns)
        for index, method in enumerate(table.columns):
            part = None if errors is None else errors[:, :, index]
            offset = (index - (len(table.columns) - 1) / 2) * thick
            look = {"color": PALETTE[index], "hatch": HATCHES[index], "label": str(method)}
            _bars(axis, values[:, index], part, offset, thick, **look)
        _dress(axis, classes, values, errors, name)
        axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2)
        return write(figure, stem, title)
    down, across = math.ceil(len(table.columns) / ABREAST), ABREAST
    figure = page(letters + 1.75 * across, down * (0.155 * len(classes) + 0.5), title, said, notices)
    axes = figure.subplots(down, across, sharex=True, squeeze=False)
    best = np.fmax.reduce(values, axis=1)
    for index, (axis, method) in enumerate(zip(axes.ravel(), table.columns, strict=False)):
        part = None if errors is None else errors[:, :, index]
        _bars(axis, values[:, index], part, 0, 0.75, color=PALETTE[0])
        axis.scatter(best, range(len(classes)), marker="|", s=22, color=GREY, linewidth=1)
        _dress(axis, classes if index % across == 0 else [""] * len(classes), values, errors, "")
        axis.set_title(str(method), fontsize=8, fontweight="bold", loc="left")
        axis.tick_params(labelbottom=index + across >= len(table.columns))
        if index + across >= len(table.columns):
            axis.set_xlabel(name)
    for axis in axes.ravel()[len(table.columns) :]:
        axis.set_axis_off()
    return write(figure, stem, title)


def _bars(
    axis: Axes, values: Floats, errors: Floats | None, offset: float, thick: float, **look: str
) -> None:
    places = np.arange(len(values)) + offset
    whiskers = {"elinewidth": 0.7, "ecolor": "black"}
    axis.barh(
        places,
        np.nan_to_num(values),
        thick,
        xerr=errors,
        error_kw=whiskers,
        edgecolor="white",
        linewidth=0.3,
        **look,  # type: ignore[arg-type]
    )
    for place in places[np.isnan(values)]:
        axis.text(0, place, " –", va="center", fontsize=8, color=GREY)


def _dress(axis: Axes, classes: list[str], values: Floats, errors: Floats | None, name: str) -> None:
    """Classes from the top down; from 0 to 1, or to the greatest value where that is more."""
    top = np.nanmax(values + (0 if errors is None else errors[1]), initial=0)
    axis.set_yticks(range(len(classes)), classes)
    axis.set_ylim(len(classes) - 0.4, -0.6)
    axis.set_xlim(0, 1.02 if top <= 1.02 else 1.05 * float(top))
    axis.grid(axis="x", color=PALE, linewidth=0.5)
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel(name)
