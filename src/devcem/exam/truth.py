"""What a dataset knows about the frames of a clip."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from devcem.errors import UserError
from devcem.labels import Dataset, Truth, load_runs, segment_truth


def clip_truth(
    dataset: Dataset, classes: tuple[str, ...], source: Path, numbers: npt.NDArray[np.int64]
) -> Truth:
    """Truth [T,K] of the frames at *numbers*, classes in the order asked for, from the segments in *source*.

    Unknown is what no segment covers, and every class that the dataset does not have.
    """
    segments = [
        segment for segment in dataset.segments if _same(dataset.root / "media" / segment.source, source)
    ]
    if not segments:
        remedy = "give the dataset whose media the clip is, or leave --truth out"
        raise UserError(f"no segment of the dataset lies in {source}", dataset.root, remedy)
    runs = load_runs(dataset)
    labels = np.zeros((len(numbers), len(classes)), bool)
    known = np.zeros_like(labels)
    columns = [(classes.index(name), k) for k, name in enumerate(dataset.classes) if name in classes]
    for segment in segments:
        rows = np.flatnonzero((numbers >= segment.start) & (numbers < segment.stop))
        mine = [run for run in runs if run.segment == segment.segment]
        truth, told = segment_truth(dataset, segment, mine, numbers[rows])
        for here, there in columns:
            labels[rows, here] |= truth[:, there] & told[:, there]
            known[rows, here] |= told[:, there]
    return labels, known


def _same(one: Path, other: Path) -> bool:
    return one.exists() and one.samefile(other)
