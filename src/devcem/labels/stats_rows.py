"""Statistics as rows of a table, the header first: for a screen, a log or a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence

from devcem.labels.stats import SplitStats, Stats

Rows = list[Sequence[object]]


def class_rows(stats: Stats) -> Rows:
    """Videos a class: a column a split, the total, and in how many videos the class is unknown."""
    columns = [*stats.splits.values(), stats.total]
    rows: Rows = [["class", *stats.splits, "total", "unknown"]]
    for name in stats.classes:
        rows.append([name, *(column.with_class[name] for column in columns), stats.total.unknown[name]])
    return [*rows, ["videos", *(column.videos for column in columns), ""]]


def label_count_rows(stats: Stats) -> Rows:
    """Videos with 0, 1, 2, ... labels, and the mean number of labels."""
    columns = [*stats.splits.values(), stats.total]
    rows: Rows = [["labels a video", *stats.splits, "total"]]
    for count in range(max(stats.total.label_counts, default=0) + 1):
        rows.append([count, *(column.label_counts.get(count, 0) for column in columns)])
    return [*rows, ["mean", *(f"{column.labels_a_video:.2f}" for column in columns)]]


def split_rows(stats: Stats) -> Rows:
    """Videos, frames, sources, patients, and how long the videos are."""
    rows: Rows = [["split", "videos", "frames", "sources", "patients", "frames a video", "median"]]
    for name, split in {**stats.splits, "total": stats.total}.items():
        rows.append([name, *_size(split)])
    return rows


def together_rows(stats: Stats, numbered: bool = True) -> Rows:
    """Videos that carry both classes. *numbered* columns fit a screen."""
    names = [f"{index} {name}" for index, name in enumerate(stats.classes, 1)] if numbered else stats.classes
    heads = [str(index) for index in range(1, len(names) + 1)] if numbered else stats.classes
    return [["class", *heads], *([name, *row] for name, row in zip(names, stats.together, strict=True))]


def _size(split: SplitStats) -> list[object]:
    least, median, most = split.lengths
    return [split.videos, split.frames, split.sources, split.patients, f"{least} to {most}", f"{median:g}"]
