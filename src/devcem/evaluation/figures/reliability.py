"""What a score promises beside what comes true, before and after calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from devcem.evaluation.figures.page import GREY, PALETTE, page, styled, write

COLUMNS = ("class", "bin", "score", "rate", "count")
ABREAST = 5  # small panels a row
SAID = (
    "A point a bin of scores, larger the more videos it holds; on the diagonal a score comes true as "
    "often as it says. ECE: the mean distance from it, weighed by videos."
)


@styled
def reliability_plot(
    stem: str | Path,
    before: pd.DataFrame,
    after: pd.DataFrame | None = None,
    *,
    title: str = "",
    notices: Sequence[str] = (),
) -> list[Path]:
    """Writes STEM.svg and STEM.png: all classes pooled, then one by one. Rows: class, bin, score (mean
    predicted), rate (observed), count; a bin without videos may hold NaN."""
    tables = {
        name: _filled(table) for name, table in (("before", before), ("after", after)) if table is not None
    }
    classes = list(dict.fromkeys(name for table in tables.values() for name in table["class"]))
    if not classes:
        raise ValueError("no bin holds a video")
    down = math.ceil(len(classes) / ABREAST)
    figure = page(10, 3.9 + 2.0 * down, title, [SAID], notices)
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=(3.9, 2.0 * down))[:, 0]
    large, counts = upper.subplots(1, 2, width_ratios=(1, 1))
    pooled = {name: _pooled(table) for name, table in tables.items()}
    _panel(large, pooled, "all classes")
    large.set(xlabel="score", ylabel="comes true")
    large.legend(*large.get_legend_handles_labels(), loc="upper left", markerscale=0.8)
    width = 0.8 / len(pooled)
    for index, (name, table) in enumerate(pooled.items()):
        offset = (index - (len(pooled) - 1) / 2) * width
        counts.bar(table["bin"] + offset, table["count"], width, color=PALETTE[index], label=name)
    counts.set_yscale("log")
    counts.set_ylim(bottom=0.8)
    counts.yaxis.set_major_formatter("{x:g}")
    counts.yaxis.set_minor_formatter(NullFormatter())
    counts.set(xlabel="bin of scores, lowest first", ylabel="videos x classes in the bin (log scale)")
    counts.legend()
    axes = lower.subplots(down, ABREAST, squeeze=False)
    for index, (axis, label) in enumerate(zip(axes.ravel(), classes, strict=False)):
        _panel(axis, {name: table[table["class"] == label] for name, table in tables.items()}, str(label))
        axis.tick_params(labelleft=index % ABREAST == 0, labelbottom=index + ABREAST >= len(classes))
    for axis in axes.ravel()[len(classes) :]:
        axis.set_axis_off()
    return write(figure, stem, title)


def expected_error(table: pd.DataFrame) -> float:
    """ECE of the bins given: |score - rate|, weighed by their counts."""
    return float(np.average((table["score"] - table["rate"]).abs(), weights=table["count"]))


def _filled(table: pd.DataFrame) -> pd.DataFrame:
    lacking = [name for name in COLUMNS if name not in table]
    if lacking:
        raise ValueError(f"the table lacks {', '.join(lacking)}")
    return table[table["count"] > 0]


def _pooled(table: pd.DataFrame) -> pd.DataFrame:
    """One row a bin, over all classes."""
    count = table.groupby("bin")["count"].sum()
    means = {
        name: (table[name] * table["count"]).groupby(table["bin"]).sum() / count for name in ("score", "rate")
    }
    return pd.DataFrame({**means, "count": count}).rename_axis("bin").reset_index()


def _panel(axis: Axes, tables: dict[str, pd.DataFrame], name: str) -> None:
    axis.plot([0, 1], [0, 1], color=GREY, linewidth=0.7, linestyle="--")
    errors = []
    for index, (moment, table) in enumerate(tables.items()):
        if table.empty:
            continue
        errors.append(f"{expected_error(table):.3f}")
        marker, style = ("o", ":") if moment == "before" else ("s", "-")
        part = table.sort_values("score")
        axis.plot(part["score"], part["rate"], color=PALETTE[index], linewidth=0.9, linestyle=style)
        area = 6 + 60 * np.sqrt(part["count"] / part["count"].max())
        label = f"{moment}, ECE {errors[-1]}"
        axis.scatter(
            part["score"],
            part["rate"],
            area,
            PALETTE[index],
            marker=marker,
            alpha=0.8,
            linewidth=0,
            label=label,
        )
    axis.set_title(name if name == "all classes" else f"{name}\nECE {' → '.join(errors)}", fontsize=8)
    axis.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axis.set_aspect("equal")
