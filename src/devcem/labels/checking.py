"""Everything that is wrong with a dataset folder, in one list."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from devcem.labels.consistency import check_runs, check_segments
from devcem.labels.dataset import Segment
from devcem.labels.description import FILE, read_description
from devcem.labels.media import check_media
from devcem.labels.problems import Problem
from devcem.labels.reading import dataset_folder
from devcem.labels.rows import RUNS, SEGMENTS, Reading, read_runs, read_segments


def check_dataset(path: str | Path, frames: bool = False) -> list[Problem]:
    """Every problem, by file, line and column. *frames* opens the sources and looks the frame numbers up."""
    root, problems = dataset_folder(path), list[Problem]()
    description = read_description(root, problems)
    if description is not None:
        segments = read_segments(root, description, problems)
        check_segments(segments, description)
        if (root / RUNS).exists():
            runs = read_runs(root, description, problems)
            check_runs(runs, _first(segments) if segments.table.readable else None)
        check_media(root, segments, frames)
    order = (FILE, SEGMENTS, RUNS)
    return sorted(problems, key=lambda p: (order.index(p.file), p.line, p.column))


def _first(segments: Reading[Segment]) -> dict[str, Segment | None]:
    """Id -> the first row that has it as a segment, None where nobody knows which frames that is. Where its
    labels are broken every class is unknown, so that no truth of frames contradicts them."""
    placed = {row.line: segment for segment, row in segments.sound_in("start", "stop")}
    labelled = {row.line for _, row in segments.sound_in("labels", "unknown")}
    every = tuple(segments.description.classes)
    for line in placed.keys() - labelled:
        placed[line] = replace(placed[line], unknown=every)
    return {name: placed.get(line) for name, line in segments.lines.items()}
