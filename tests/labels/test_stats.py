"""Counts worked out by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from PIL import Image

from devcem.labels import Dataset, Segment, dataset_stats
from devcem.labels.figures import write_stats
from devcem.labels.stats_rows import class_rows, label_count_rows, split_rows, together_rows

CLASSES = ("polyp", "erosion", "normal")
DATASET = Dataset(
    Path("d"),
    "hand",
    CLASSES,
    [
        Segment("s1", "a.avi", 0, 50, "p1", "train", ("polyp", "erosion")),
        Segment("s2", "a.avi", 50, 110, "p1", "train", ("polyp",), ("erosion",)),
        Segment("s3", "b.avi", 0, 70, "p2", "test", ("normal",)),
        Segment("s4", "c.avi", 5, 6, "", "", (), ("polyp", "erosion")),
    ],
    synthetic=True,
)


def test_counts_of_a_small_dataset() -> None:
    stats = dataset_stats(DATASET)
    assert list(stats.splits) == ["train", "test", "unassigned"]
    train = stats.splits["train"]
    assert (train.videos, train.frames, train.sources, train.patients) == (2, 110, 1, 1)
    assert train.with_class == {"polyp": 2, "erosion": 1, "normal": 0}
    assert train.unknown == {"polyp": 0, "erosion": 1, "normal": 0}
    assert train.label_counts == {1: 1, 2: 1}
    assert train.lengths == (50, 55.0, 60)
    assert train.labels_a_video == 1.5
    total = stats.total
    assert (total.videos, total.frames, total.sources, total.patients) == (4, 181, 3, 2)
    assert total.with_class == {"polyp": 2, "erosion": 1, "normal": 1}
    assert total.label_counts == {0: 1, 1: 2, 2: 1}
    assert total.lengths == (1, 55.0, 70)
    assert stats.together == [[2, 1, 0], [1, 1, 0], [0, 0, 1]]


def test_the_papers_means_follow_from_its_histograms() -> None:
    """107/88/16/14/2 and 98/89/21/17/2/1 videos with 1, 2, ... labels."""
    names = tuple(f"c{i}" for i in range(6))
    counts = {"train": (107, 88, 16, 14, 2), "test": (98, 89, 21, 17, 2, 1)}
    segments = [
        Segment(f"{split}{labels}-{i}", "a", 0, 50, "p", split, names[:labels])
        for split, histogram in counts.items()
        for labels, videos in enumerate(histogram, 1)
        for i in range(videos)
    ]
    stats = dataset_stats(Dataset(Path(), "paper", names, segments))
    assert [round(s.labels_a_video, 2) for s in stats.splits.values()] == [1.75, 1.86]
    assert tuple(stats.splits["test"].label_counts.values()) == counts["test"]
    assert label_count_rows(stats)[-1] == ["mean", "1.75", "1.86", "1.80"]


def test_rows_for_people() -> None:
    stats = dataset_stats(DATASET)
    assert class_rows(stats) == [
        ["class", "train", "test", "unassigned", "total", "unknown"],
        ["polyp", 2, 0, 0, 2, 1],
        ["erosion", 1, 0, 0, 1, 2],
        ["normal", 0, 1, 0, 1, 0],
        ["videos", 2, 1, 1, 4, ""],
    ]
    assert split_rows(stats)[1] == ["train", 2, 110, 1, 1, "50 to 60", "55"]
    assert together_rows(stats)[:2] == [["class", "1", "2", "3"], ["1 polyp", 2, 1, 0]]


def test_an_empty_dataset_has_empty_counts() -> None:
    stats = dataset_stats(Dataset(Path(), "empty", CLASSES, []))
    assert (stats.splits, stats.total.videos, stats.total.labels_a_video) == ({}, 0, 0.0)
    assert stats.together == [[0, 0, 0]] * 3
    assert label_count_rows(stats) == [["labels a video", "total"], [0, 0], ["mean", "0.00"]]


def test_json_holds_the_means() -> None:
    data = json.loads(json.dumps(dataset_stats(DATASET).as_json()))
    assert data["splits"]["train"]["labels_a_video"] == 1.5
    assert data["total"]["labels_a_video"] == 1.0


@pytest.mark.parametrize("segments", [DATASET.segments, []], ids=["some", "none"])
def test_a_picture_and_tables(tmp_path: Path, segments: list[Segment]) -> None:
    stats = dataset_stats(Dataset(Path(), "hand", CLASSES, segments))
    written = write_stats(stats, tmp_path / "out")
    assert sorted(path.name for path in written) == sorted(p.name for p in (tmp_path / "out").iterdir())
    with Image.open(tmp_path / "out" / "stats.png") as image:
        assert image.width == 13 * 150
        colours = image.convert("RGB").getcolors(1 << 24) or []
    has_bars = (0x2F, 0x66, 0x90) in {colour for _, colour in colours}
    assert has_bars == bool(segments)
    with (tmp_path / "out" / "classes.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows == [[str(cell) for cell in row] for row in class_rows(stats)]
    with (tmp_path / "out" / "together.csv").open() as file:
        assert next(csv.reader(file)) == ["class", *CLASSES]
