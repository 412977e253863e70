"""The dataset folder in memory: classes, segments, and, for scoring alone, runs of frame truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

SPLITS = ("train", "test", "val", "")  # the empty split: not assigned yet


@dataclass(frozen=True)
class Segment:
    """A stretch of a source with what its tag says. Frames start <= number < stop."""

    segment: str  # unique id
    source: str  # path below media/, with forward slashes
    start: int
    stop: int
    patient: str
    split: str = ""
    labels: tuple[str, ...] = ()  # in the order of the dataset's classes
    unknown: tuple[str, ...] = ()  # enter neither loss nor score
    camera: str = ""

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class Run:
    """A half-open run of frame numbers of a segment and what is seen in every one of them."""

    segment: str
    start: int
    stop: int
    labels: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass
class Dataset:
    """dataset.yaml, segments.csv and, on demand, frames.csv."""

    root: Path
    name: str
    classes: tuple[str, ...]  # their order is the output order
    segments: list[Segment]
    licence: str = "unknown"
    aliases: dict[str, str] = field(default_factory=dict)  # lower-case name -> class
    window: int = 30
    synthetic: bool = False

    def targets(
        self, segments: list[Segment] | None = None
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """labels [N,K] and known [N,K] of the segments, classes in output order."""
        chosen = self.segments if segments is None else segments
        labels = np.array([[c in s.labels for c in self.classes] for s in chosen], bool)
        known = np.array([[c not in s.unknown for c in self.classes] for s in chosen], bool)
        shape = (len(chosen), len(self.classes))
        return labels.reshape(shape), known.reshape(shape)
