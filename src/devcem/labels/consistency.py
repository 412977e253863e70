"""What no cell shows by itself: how the rows of a dataset fit each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from devcem.labels.classes import PATHOLOGIES, canonical
from devcem.labels.dataset import Run, Segment
from devcem.labels.description import Description
from devcem.labels.problems import Problem
from devcem.labels.rows import Item, Reading
from devcem.labels.spelling import nearest
from devcem.labels.table import Row


def check_segments(segments: Reading[Segment], description: Description) -> None:
    """Ids, labels that exclude each other, and whatever makes a split look better than it is."""
    table = segments.table
    if table.readable and not table.rows and not table.torn:
        table.problems.append(Problem("warning", table.file, 0, 0, "", "the dataset has no segments"))
    _check_ids(segments)
    _check_normal(segments)
    normal = next((name for name in description.classes if canonical(name) == "normal"), None)
    for segment, row in segments.items:
        if normal and not segment.labels and normal not in segment.unknown:
            message = f"no label, not even '{normal}': counts as a segment in which every class is absent"
            segments.table.warn(row, "labels", message)
    _check_patients(segments)
    _check_shared_frames(segments)


def check_runs(runs: Reading[Run], segments: Mapping[str, Segment | None] | None) -> None:
    """Runs against each other and against their segments: None for one whose frames are not known, and where
    no segment could be read at all."""
    of_segment: dict[str, list[tuple[Run, Row]]] = defaultdict(list)
    for run, row in runs.items:
        if segments is not None and run.segment not in segments:
            message = f"no segment '{run.segment}' in segments.csv"
            runs.table.error(row, "segment", message, near=nearest(run.segment, segments))
            continue
        of_segment[run.segment].append((run, row))
        if segment := segments and segments[run.segment]:
            _check_run(runs, run, row, segment)
    for group in of_segment.values():
        _check_overlaps(runs, sorted(group, key=lambda item: (item[0].start, item[0].stop)))
    _check_normal(runs)


def _check_ids(segments: Reading[Segment]) -> None:
    table = segments.table
    for row in table.rows:
        name = row.cells[table.columns["segment"]].strip()
        if name and segments.lines[name] != row.line:
            table.error(row, "segment", f"the segment '{name}' stands already on line {segments.lines[name]}")


def _check_normal(reading: Reading[Item]) -> None:
    for item, row in reading.items:
        meant = {canonical(name): name for name in item.labels} if len(item.labels) > 1 else {}
        sick = [meant[name] for name in PATHOLOGIES if name in meant]
        if "normal" in meant and sick:
            reading.table.warn(row, "labels", f"'{meant['normal']}' stands beside {', '.join(sick)}")


def _check_patients(segments: Reading[Segment]) -> None:
    """A patient on both sides of a split is told once: a dataset split by video has it everywhere."""
    owner: dict[str, tuple[str, int]] = {}
    splits: dict[str, set[str]] = defaultdict(set)
    shared: dict[str, Row] = {}
    for segment, row in segments.items:
        patient, line = owner.setdefault(segment.source, (segment.patient, row.line))
        if segment.patient != patient:
            message = f"the source '{segment.source}' is of patient '{patient}' on line {line}"
            segments.table.warn(row, "patient", message)
        if segment.patient and segment.split:
            splits[segment.patient].add(segment.split)
            if len(splits[segment.patient]) > 1:
                shared.setdefault(segment.patient, row)
    if shared:
        some = ", ".join(list(shared)[:3]) + (", ..." if len(shared) > 3 else "")
        count = "1 patient stands" if len(shared) == 1 else f"{len(shared)} patients stand"
        message = f"{count} in more than one split ({some}): scores will be optimistic"
        segments.table.warn(next(iter(shared.values())), "patient", message)


def _check_shared_frames(segments: Reading[Segment]) -> None:
    """The same frames in two splits are worse than the same patient."""
    of_source: dict[tuple[str, str], list[tuple[Segment, Row]]] = defaultdict(list)
    for segment, row in segments.items:
        if segment.split:
            of_source[segment.source, segment.camera].append((segment, row))
    for group in of_source.values():
        last: dict[str, tuple[Segment, Row]] = {}  # split -> the segment so far that reaches farthest
        for segment, row in sorted(group, key=lambda item: item[0].start):
            for split, (other, other_row) in last.items():
                if split != segment.split and segment.start < other.stop:
                    frames = f"frames {segment.start} to {min(segment.stop, other.stop) - 1}"
                    message = (
                        f"{frames} are in '{segment.split}' here and in '{split}' on line {other_row.line}"
                    )
                    segments.table.warn(row, "split", message)
            if segment.split not in last or last[segment.split][0].stop < segment.stop:
                last[segment.split] = segment, row


def _check_run(runs: Reading[Run], run: Run, row: Row, segment: Segment) -> None:
    reach = f"the segment's frames, {segment.start} to {segment.stop - 1}"
    if not segment.start <= run.start < segment.stop:
        runs.table.error(row, "start", f"start {run.start} lies outside {reach}")
    elif run.stop > segment.stop:
        runs.table.error(row, "stop", f"stop {run.stop} lies outside {reach}")
    for name in run.labels:
        if canonical(name) == "normal":  # normal stretches lie beside every lesion
            continue
        if name not in segment.labels and name not in segment.unknown:
            message = f"'{name}' is seen here, but the segment says it is absent"
            runs.table.warn(row, "labels", message, runs.spelt(row, "labels", name))


def _check_overlaps(runs: Reading[Run], group: list[tuple[Run, Row]]) -> None:
    """Runs in order of their starts. Each is held against the one before it that reaches farthest: whatever
    conflicts with any run conflicts with that one, or that one with another."""
    far, far_row = group[0]
    for run, row in group[1:]:
        if run.start < far.stop:
            overlap = (
                f"frames {run.start} to {min(run.stop, far.stop) - 1} stand already on line {far_row.line}"
            )
            if (run.labels, run.unknown) == (far.labels, far.unknown):
                runs.table.warn(row, "start", f"{overlap}, with the same truth")
            else:
                runs.table.error(row, "start", f"{overlap}, with another truth")
        if run.stop > far.stop:
            far, far_row = run, row
