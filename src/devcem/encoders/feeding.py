"""An encoder kept busy: frames of many segments are decoded ahead of it and handed over in full batches.

Each source is opened once and read in order. A reader is a thread that is a few chunks ahead; there are as
many as half the processors, since decoders and the encoder want them too.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import torch

from devcem.encoders.encoder import Encoder, Features
from devcem.errors import UserError
from devcem.frames import open_source
from devcem.frames.ahead import ahead
from devcem.frames.augment import Augmentation
from devcem.frames.clip import CHUNK, lens_view, read_view, stretch
from devcem.frames.source import Frames
from devcem.labels.dataset import Segment

Draw = Augmentation | None  # None for the frames as they are

READERS = 8  # at most
DEPTH = 3  # chunks that a reader is ahead
BATCHES = 2  # gathered for one call of the encoder


@dataclass(frozen=True)
class Job:
    """A segment, and the draws of its frames whose features are wanted, each under a key."""

    segment: Segment
    path: Path
    wanted: dict[str, Draw]


@dataclass(frozen=True)
class Part:
    """Some frames of a job in one of its draws, and their place among the job's features."""

    job: int
    count: int  # T, frames of the segment
    draw: int
    first: int
    frames: Frames


def encoded(jobs: Sequence[Job], encoder: Encoder, view: str | None) -> Generator[tuple[Job, Features]]:
    """Each job once, as soon as it is done, with its features [draws,T,D]."""
    features: dict[int, Features] = {}
    left: dict[int, int] = {}  # frames a job still waits for
    with ExitStack() as readers:
        parts = _taken_in_turn([readers.enter_context(closing(one)) for one in _readers(jobs, encoder, view)])
        for batch in _gathered(parts, BATCHES * encoder.batch):
            rows = encoder.encode(np.concatenate([part.frames for part in batch]))
            for part in batch:
                count, draws = len(part.frames), len(jobs[part.job].wanted)
                if part.job not in features:
                    features[part.job] = np.empty((draws, part.count, encoder.dim), np.float32)
                    left[part.job] = draws * part.count
                features[part.job][part.draw, part.first : part.first + count] = rows[:count]
                rows = rows[count:]
                left[part.job] -= count
                if not left[part.job]:
                    yield jobs[part.job], features.pop(part.job)


def _readers(jobs: Sequence[Job], encoder: Encoder, view: str | None) -> list[Generator[Part]]:
    """Sources are dealt out; each reader takes those it got one after the other."""
    order = sorted(range(len(jobs)), key=lambda job: (jobs[job].segment.source, jobs[job].segment.start))
    sources = [list(group) for _, group in groupby(order, key=lambda job: jobs[job].path)]
    count = max(1, min((os.cpu_count() or 1) // 2, len(sources), READERS))

    def read(mine: Sequence[list[int]]) -> Iterator[Part]:
        for group in mine:
            yield from _read_source(jobs, group, encoder.size, view)

    return [ahead(read(sources[first::count]), DEPTH) for first in range(count)]


def _read_source(jobs: Sequence[Job], group: Sequence[int], size: int, view: str | None) -> Iterator[Part]:
    with open_source(jobs[group[0]].path) as source:
        lens = lens_view(source, view)
        for job in group:
            segment = jobs[job].segment
            chosen = stretch(source, segment.start, segment.stop)
            if not len(chosen):
                remedy = "correct start and stop in segments.csv, or leave the segment out"
                what = f"segment {segment.segment} has no frames in its source"
                raise UserError(what, source.path, remedy)
            for first in range(0, len(chosen), CHUNK):
                frames = read_view(source, chosen[first : first + CHUNK], size, lens)
                for draw, augmentation in enumerate(jobs[job].wanted.values()):
                    yield Part(job, len(chosen), draw, first, _augmented(frames, augmentation))


def _augmented(frames: Frames, augmentation: Draw) -> Frames:
    if augmentation is None:
        return frames
    video = augmentation(torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2))
    return np.asarray(video.as_subclass(torch.Tensor).permute(0, 2, 3, 1))


def _taken_in_turn(readers: Sequence[Iterator[Part]]) -> Iterator[Part]:
    waiting = deque(readers)
    while waiting:
        reader = waiting.popleft()
        if (part := next(reader, None)) is not None:
            waiting.append(reader)
            yield part


def _gathered(parts: Iterator[Part], count: int) -> Iterator[list[Part]]:
    """*count* frames at a time, parts cut where need be; fewer at the end and where another shape begins."""
    batch: list[Part] = []
    room = count
    for part in parts:
        if batch and part.frames.shape[1:] != batch[0].frames.shape[1:]:
            yield batch
            batch, room = [], count
        while len(part.frames) >= room:
            yield [*batch, _cut(part, 0, room)]
            part, batch, room = _cut(part, room, len(part.frames)), [], count
        if len(part.frames):
            batch.append(part)
            room -= len(part.frames)
    if batch:
        yield batch


def _cut(part: Part, start: int, stop: int) -> Part:
    return Part(part.job, part.count, part.draw, part.first + start, part.frames[start:stop])
