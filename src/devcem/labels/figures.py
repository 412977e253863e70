"""A picture of what a dataset holds, and the same as tables for a spreadsheet."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from devcem.files import make_folder, writing
from devcem.labels.stats import Stats
from devcem.labels.stats_rows import class_rows, label_count_rows, split_rows, together_rows

COLOURS = {"train": "#2f6690", "test": "#e08e45", "val": "#7a9e7e", "unassigned": "#9a9a9a"}


def write_stats(stats: Stats, folder: Path) -> list[Path]:
    """stats.png, and a CSV file for each table; returns what was written."""
    make_folder(folder)
    picture = folder / "stats.png"
    with writing(picture, "wb") as file:
        stats_figure(stats).savefig(file, format="png", dpi=150)
    tables = {
        "classes.csv": class_rows(stats),
        "label_counts.csv": label_count_rows(stats),
        "splits.csv": split_rows(stats),
        "together.csv": together_rows(stats, numbered=False),
    }
    for name, rows in tables.items():
        with writing(folder / name) as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    return [picture, *(folder / name for name in tables)]


def stats_figure(stats: Stats) -> Figure:
    """Bars of videos a class and split, and the matrix of classes that occur together."""
    classes = range(len(stats.classes))
    figure = Figure(figsize=(13, 1.6 + 0.34 * len(stats.classes)), layout="constrained")
    bars, matrix = figure.subplots(1, 2, width_ratios=(1, 1.15))
    height = 0.8 / max(len(stats.splits), 1)
    for index, (name, split) in enumerate(stats.splits.items()):
        values = [split.with_class[c] for c in stats.classes]
        offset = (index - (len(stats.splits) - 1) / 2) * height
        drawn = bars.barh(
            np.array(classes) + offset,
            values,
            height,
            label=f"{name} ({split.videos} videos)",
            color=COLOURS[name],
        )
        bars.bar_label(drawn, fontsize=7, padding=2)
    bars.set_yticks(classes, stats.classes)
    bars.set_ylim(len(stats.classes) - 0.5, -0.5)  # as the matrix beside it
    bars.set_xlabel("videos with the class")
    bars.spines[["top", "right"]].set_visible(False)
    if stats.splits:
        bars.legend(frameon=False, fontsize=8)
    together = np.array(stats.together).reshape(len(stats.classes), -1)
    others = np.where(np.eye(len(together), dtype=bool), 0, together)  # colour shows pairs, not class sizes
    matrix.imshow(others, cmap="Blues", vmin=0, vmax=max(others.max(initial=0), 1))
    for row, column in zip(*np.nonzero(together), strict=True):
        dark = others[row, column] > 0.6 * max(others.max(), 1)
        own = row == column
        colour = "white" if dark else "#8a8a8a" if own else "black"
        matrix.text(
            column, row, str(together[row, column]), ha="center", va="center", fontsize=7, color=colour
        )
    matrix.set_xticks(classes, stats.classes, rotation=45, ha="right", rotation_mode="anchor")
    matrix.set_yticks(classes, stats.classes)
    matrix.set_title("videos that carry both classes (grey: one class)", fontsize=9)
    kind = "synthetic" if stats.synthetic else "real"
    total = stats.total
    figure.suptitle(
        f"{stats.name} ({kind}): {total.videos} videos, {total.frames:,} frames, {total.patients} patients. "
        "Research use only, not a medical device.",
        fontsize=10,
    )
    return figure
