"""Runs of frame truth as one row a frame, for scoring."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from devcem.labels.dataset import Dataset, Run, Segment

Truth = tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]  # labels [T,K], known [T,K]


def frame_truth(
    dataset: Dataset, runs: Iterable[Run], numbers: Mapping[str, npt.NDArray[np.int64]] | None = None
) -> dict[str, Truth]:
    """Segment id -> truth of its frames. *numbers*: the frame numbers [T] that exist in a segment, ascending;
    without it all from start to stop. A frame that no run covers is unknown in every class."""
    of_segment: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        of_segment[run.segment].append(run)
    given = numbers or {}
    return {
        segment.segment: segment_truth(
            dataset, segment, of_segment[segment.segment], given.get(segment.segment)
        )
        for segment in dataset.segments
    }


def segment_truth(
    dataset: Dataset, segment: Segment, runs: Iterable[Run], numbers: npt.NDArray[np.int64] | None = None
) -> Truth:
    """Truth of one segment from its own runs."""
    frames = np.arange(segment.start, segment.stop) if numbers is None else numbers
    labels = np.zeros((len(frames), len(dataset.classes)), bool)
    known = np.zeros_like(labels)
    for run in runs:
        first, stop = np.searchsorted(frames, (run.start, run.stop))
        labels[first:stop] = [c in run.labels for c in dataset.classes]
        known[first:stop] = [c not in run.unknown for c in dataset.classes]
    return labels, known
