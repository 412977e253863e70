"""`tags`: exams and a table of tagged frames with free text -> 50 to 100 frames around each tag."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from devcem.errors import UserError
from devcem.frames import open_source
from devcem.frames.source import FrameSource
from devcem.frames.stamps import times_file
from devcem.labels.classes import CLASSES
from devcem.labels.dataset import Segment
from devcem.labels.importers.collection import (
    Collection,
    Footage,
    Offset,
    Options,
    Tag,
    reason,
    wordings,
)
from devcem.labels.importers.exam_table import TagRow, exam_names, patient_of, read_rows
from devcem.labels.tag_rules import load_rules
from devcem.labels.tags import join, parse_tag
from devcem.progress import track

SHORTEST, LONGEST = 50, 100  # frames of a segment, as in the paper


def read(src: Path, options: Options) -> Collection:
    """*src* is a table that names its exams, or one exam with its table in `options.tags` or beside it."""
    rules = load_rules(options.rules) if options.rules else None
    root = options.frames or src.parent
    table, rows, faults = read_rows(src, options.tags, root)
    found: dict[Path, list[TagRow]] = defaultdict(list)
    for row in rows:
        found[row.exam].append(row)
    collection = Collection("tags", CLASSES, [])
    names = exam_names([*found], root)
    patients: dict[str, str] = {}
    for number, (exam, group) in enumerate(track(found.items(), "exams", total=len(found)), 1):
        tags = {row: parse_tag(row.text, rules) for row in group}
        collection.tags += (Tag(row.line, outcome) for row, outcome in tags.items())
        patient, name = patient_of(group, faults) or names[exam], names[exam]
        try:
            frames = open_source(exam)
        except UserError as error:
            collection.failed[str(exam)] = reason(error, exam)
            continue
        _note(collection, exam, frames)
        if not options.keep_ids:
            patient, name = patients.setdefault(patient, f"P{len(patients) + 1:03d}"), f"exam-{number:03d}"
        places: dict[int, list[TagRow]] = defaultdict(list)  # ordinal -> the tags on that frame
        for row in group:
            with faults.caught(row.line):
                places[ordinal_of(row, frames, f"{table}, line {row.line}")].append(row)
        source = name + (exam.suffix if exam.is_file() else "")
        collection.media[source] = Footage(exam)
        for place in sorted(places):
            random = np.random.default_rng([options.seed, number, place])
            start, stop = window(place, len(frames), options.offset, random)
            inside = [tags[row] for p, rows in places.items() if start <= p < stop for row in rows]
            labels, unknown = join(inside).target(options.absent)
            first, last = int(frames.numbers[start]), int(frames.numbers[stop - 1])
            segment = f"{name}-{int(frames.numbers[place]):06d}"
            camera = places[place][0].camera
            collection.segments.append(
                Segment(segment, source, first, last + 1, patient, "", labels, unknown, camera)
            )
    faults.tell()
    collection.counts = wordings(collection.tags)
    return collection


def _note(collection: Collection, exam: Path, frames: FrameSource) -> None:
    if frames.damaged:
        collection.notes.append(f"{exam}: {frames.damaged} frames are damaged or missing")
    if len(frames) < SHORTEST:
        what = f"{len(frames)} frames, fewer than the {SHORTEST} of a segment: the exam is one whole"
        collection.notes.append(f"{exam}: {what}")


def window(tag: int, frames: int, offset: Offset, random: np.random.Generator) -> tuple[int, int]:
    """Ordinals of a segment of 50 to 100 frames that holds the tag and lies inside the exam."""
    length = min(int(random.integers(SHORTEST, LONGEST + 1)), frames)
    low, high = max(0, tag - length + 1), min(tag, frames - length)  # where it may start
    if offset == "random":
        start = int(random.integers(low, high + 1))
    else:
        start = min(max(tag - length // 2, low), high)
    return start, start + length


def ordinal_of(row: TagRow, frames: FrameSource, where: str) -> int:
    """The ordinal of the frame at a time, or of a number."""
    if not row.timed:
        number = int(row.when)
        at = int(np.searchsorted(frames.numbers, number))
        if at == len(frames) or frames.numbers[at] != number:
            span = f"{frames.numbers[0]} to {frames.numbers[-1]}"
            raise UserError(f"the exam has no frame {number}; it has {span}", where, "correct the number")
        return at
    if frames.path.is_dir() and not times_file(frames.path).is_file():
        remedy = f"write {times_file(frames.path).name} beside it, or name the tags' frames"
        raise UserError("the pictures of this exam have no times", where, remedy)
    at = int(np.argmin(np.abs(frames.times - row.when)))
    first, last = float(frames.times[0]), float(frames.times[-1])
    if not first - 1 <= row.when <= last + 1:
        what = f"{row.written} lies outside the exam, which runs from {first:.1f} to {last:.1f} seconds"
        raise UserError(what, where, "give times on that clock: of the file, or of the .times.csv beside it")
    return at
