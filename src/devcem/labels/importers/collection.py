"""What an importer hands over: segments and truth in our words, and where their pixels lie."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from devcem.errors import UserError
from devcem.labels.classes import CLASSES, canonical
from devcem.labels.dataset import Run, Segment
from devcem.labels.tags import TagOutcome

Offset = Literal["random", "centre"]
Absent = Literal["absent", "unknown"]


@dataclass(frozen=True)
class Options:
    """What a user may choose. An importer reads what concerns it."""

    offset: Offset = "random"  # of a tagged frame in its segment; a centred tag teaches position
    seed: int = 0
    absent: Absent = "absent"  # what a class becomes that a tag does not mention
    tags: Path | None = None  # the table of an exam's tags
    rules: Path | None = None  # a rule table in place of ours
    keep_ids: bool = False  # else patients and exams are numbered
    official_splits: bool = False
    frames: Path | None = None  # where the pixels lie, if not beside the labels


@dataclass(frozen=True)
class Footage:
    """A file or an image folder that `open_source` reads."""

    path: Path


@dataclass(frozen=True)
class Pictures:
    """Single pictures by frame number."""

    files: dict[int, Path]


@dataclass(frozen=True)
class Tag:
    """A tag's place in its table and what was understood."""

    line: int
    outcome: TagOutcome


@dataclass
class Collection:
    """One data set as read, before anything is written."""

    name: str
    classes: tuple[str, ...]
    segments: list[Segment]
    runs: list[Run] = field(default_factory=list)  # frame truth, where there is any
    licence: str = "unknown"
    media: dict[str, Footage | Pictures] = field(default_factory=dict)  # by the segments' source
    counts: Counter[str] = field(default_factory=Counter)  # labels in the words of the set's own files
    notes: list[str] = field(default_factory=list)  # what a user of this set must know
    tags: list[Tag] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)  # source -> why it could not be brought in


def reason(error: UserError, source: Path) -> str:
    """Why a source failed, for a list that already names it."""
    where = None if str(error.where) == str(source) else error.where
    return str(UserError(error.what, where, error.remedy))


def class_of(name: str, own: dict[str, str] | None = None) -> str:
    """Our class for a set's label: the canonical one where it means the same, else its own in kebab case."""
    plain = re.sub(r"[\W_]+", "-", name.strip().lower()).strip("-")
    return (own or {}).get(plain) or canonical(name) or plain


def ordered(names: Iterable[str]) -> tuple[str, ...]:
    """Canonical classes in their order, then the others by name."""
    chosen = set(names)
    return (*(c for c in CLASSES if c in chosen), *sorted(chosen - set(CLASSES)))


def stretches(numbers: npt.NDArray[np.int64], codes: npt.NDArray[np.int64], step: int = 1) -> Iterator[slice]:
    """Slices of ascending *numbers* over which *codes* stays the same and no number is left out."""
    if len(numbers):
        breaks = np.flatnonzero((np.diff(codes) != 0) | (np.diff(numbers) > step)) + 1
        edges = [0, *breaks.tolist(), len(numbers)]
        yield from (slice(a, b) for a, b in pairwise(edges))


def runs_of(segment: str, frames: dict[int, tuple[str, ...]]) -> list[Run]:
    """Runs of equal labels over frame number -> labels."""
    numbers = sorted(frames)
    codebook = {labels: code for code, labels in enumerate(sorted(set(frames.values())))}
    codes = np.array([codebook[frames[n]] for n in numbers], np.int64)
    return [
        Run(segment, numbers[s.start], numbers[s.stop - 1] + 1, frames[numbers[s.start]])
        for s in stretches(np.array(numbers, np.int64), codes)
    ]


def wordings(tags: Iterable[Tag]) -> Counter[str]:
    """How often each term stands in the tags, and in what sense: a denied finding is no finding."""
    mentions = (m for tag in tags for m in tag.outcome.mentions if m.label)
    return Counter(
        m.term + (" (denied)" if m.negated else "") + (" (uncertain)" if m.uncertain else "")
        for m in mentions
    )
