"""What a dataset holds, as in the paper's Table 1: videos a class and split, labels a video, class pairs."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from devcem.labels.dataset import SPLITS, Dataset, Segment

UNASSIGNED = "unassigned"  # how the empty split is shown


@dataclass(frozen=True)
class SplitStats:
    """One split, or the whole dataset. A video is a segment."""

    videos: int
    with_class: dict[str, int]  # class -> videos that carry it
    unknown: dict[str, int]  # class -> videos in which nobody can say
    label_counts: dict[int, int]  # labels of a video -> videos
    frames: int
    sources: int
    patients: int
    lengths: tuple[int, float, int]  # frames of a video: least, median, most

    @property
    def labels_a_video(self) -> float:
        """Mean number of labels, 1.75 and 1.86 in the paper's histograms."""
        return sum(self.with_class.values()) / self.videos if self.videos else 0.0


@dataclass(frozen=True)
class Stats:
    name: str
    synthetic: bool
    classes: tuple[str, ...]
    splits: dict[str, SplitStats]  # in the order train, test, val, unassigned; those that exist
    total: SplitStats
    together: list[list[int]]  # [K,K] videos that carry both classes; the diagonal counts one class

    def as_json(self) -> dict[str, Any]:
        data = asdict(self)
        for name, split in {**self.splits, "total": self.total}.items():
            (data["total"] if name == "total" else data["splits"][name])["labels_a_video"] = (
                split.labels_a_video
            )
        return data


def dataset_stats(dataset: Dataset) -> Stats:
    """Count everything once over all and once a split."""
    by_split = {split: [s for s in dataset.segments if s.split == split] for split in SPLITS}
    labels, _ = dataset.targets()
    carried = labels.astype(np.int64)
    return Stats(
        name=dataset.name,
        synthetic=dataset.synthetic,
        classes=dataset.classes,
        splits={split or UNASSIGNED: _count(dataset, chosen) for split, chosen in by_split.items() if chosen},
        total=_count(dataset, dataset.segments),
        together=(carried.T @ carried).tolist(),
    )


def _count(dataset: Dataset, segments: list[Segment]) -> SplitStats:
    labels, known = dataset.targets(segments)
    lengths = [len(segment) for segment in segments]
    return SplitStats(
        videos=len(segments),
        with_class=dict(zip(dataset.classes, labels.sum(0).tolist(), strict=True)),
        unknown=dict(zip(dataset.classes, (~known).sum(0).tolist(), strict=True)),
        label_counts=dict(sorted(Counter(labels.sum(1).tolist()).items())),
        frames=sum(lengths),
        sources=len({segment.source for segment in segments}),
        patients=len({segment.patient for segment in segments if segment.patient}),
        lengths=(min(lengths), float(np.median(lengths)), max(lengths)) if lengths else (0, 0.0, 0),
    )
