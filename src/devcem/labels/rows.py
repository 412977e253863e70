"""segments.csv and frames.csv: rows into segments and runs, every cell checked by itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from devcem.errors import UserError
from devcem.files import contained
from devcem.labels.dataset import SPLITS, Run, Segment
from devcem.labels.description import Description
from devcem.labels.problems import Problem
from devcem.labels.spelling import nearest
from devcem.labels.table import CONTROL, Part, Row, Table, read_table

SEGMENTS, RUNS = "segments.csv", "frames.csv"
SEGMENT_COLUMNS = ("segment", "source", "start", "stop", "patient", "split", "labels", "unknown")
RUN_COLUMNS = ("segment", "start", "stop", "labels", "unknown")
Item = TypeVar("Item", Segment, Run)


@dataclass
class Reading(Generic[Item]):
    """The rows as segments or runs, each with the row it came from; problems gather in the table."""

    table: Table
    description: Description
    items: list[tuple[Item, Row]] = field(default_factory=list)  # of the rows without an error
    faulty: list[tuple[Item, Row, set[str]]] = field(default_factory=list)  # and the columns with an error

    def __post_init__(self) -> None:
        self.lines = _first_lines(self.table)
        self.meant = {name.lower(): name for name in self.description.classes} | self.description.aliases

    def sound_in(self, *columns: str) -> list[tuple[Item, Row]]:
        """Every row that has no error in these columns, whatever stands in the others."""
        usable: list[tuple[Item, Row]] = [
            (item, row) for item, row, faults in self.faulty if faults.isdisjoint(columns)
        ]
        return sorted(self.items + usable, key=lambda each: each[1].line)

    def names(self, row: Row, column: str) -> list[tuple[Part, str | None]]:
        """What is joined by ';' in a cell, and the class that it means, if any."""
        return [(part, self.meant.get(part[0].lower())) for part in self.table.parts(row, column, ";")]

    def spelt(self, row: Row, column: str, name: str) -> Part:
        """Where the class *name* is written in the cell, and how: it may be an alias."""
        return next(part for part, meant in self.names(row, column) if meant == name)


def read_segments(root: Path, description: Description, problems: list[Problem]) -> Reading[Segment]:
    """segments.csv; a row with an error is told, and is none of the items."""
    table = read_table(root / SEGMENTS, problems, SEGMENT_COLUMNS, ("camera",))
    looked_up: dict[str, tuple[str, str | None] | None] = {}  # a source may stand in many rows

    def segment(cells: _Cells[Segment]) -> Segment:
        source = cells.text("source", needed=True)
        if source not in looked_up:
            looked_up[source] = _trouble(root, source)
        if trouble := looked_up[source]:
            cells.error("source", trouble[0], near=trouble[1])
        if not (patient := cells.text("patient")):
            cells.warn("patient", "no patient: this segment cannot be split by patient")
        split = cells.text("split")
        if split not in SPLITS:
            valid = [name for name in SPLITS if name]
            message = f"'{split}' is not a split ({', '.join(valid)}, or empty)"
            cells.error("split", message, near=nearest(split, valid))
        start, stop = cells.stretch()
        labels, unknown = cells.truth()
        camera = cells.text("camera") if "camera" in table.columns else ""
        name = cells.text("segment", needed=True)
        return Segment(name, source, start, stop, patient, split, labels, unknown, camera)

    return _read(Reading(table, description), segment)


def read_runs(root: Path, description: Description, problems: list[Problem]) -> Reading[Run]:
    """frames.csv, the truth of frames, for scoring and checking alone."""

    def run(cells: _Cells[Run]) -> Run:
        return Run(cells.text("segment", needed=True), *cells.stretch(), *cells.truth())

    return _read(Reading(read_table(root / RUNS, problems, RUN_COLUMNS), description), run)


def _read(reading: Reading[Item], make: Callable[[_Cells[Item]], Item]) -> Reading[Item]:
    for row in reading.table.rows:
        cells = _Cells(reading, row)
        item = make(cells)
        if cells.faults:
            reading.faulty.append((item, row, cells.faults))
        else:
            reading.items.append((item, row))
    return reading


def _first_lines(table: Table) -> dict[str, int]:
    """Segment id -> the line where it stands first, on a broken row too: what is there is there."""
    if not table.readable:
        return {}
    column = table.columns["segment"]
    rows = sorted([*table.rows, *table.torn], key=lambda row: row.line, reverse=True)
    ids = ((row.cells[column].strip(), row.line) for row in rows if column < len(row.cells))
    return {name: line for name, line in ids if name}


@dataclass
class _Cells(Generic[Item]):
    """The cells of one row, as what they should be. Complaints find their own place."""

    reading: Reading[Item]
    row: Row
    faults: set[str] = field(default_factory=set)  # columns with an error

    def warn(self, column: str, message: str, part: Part | None = None) -> None:
        self.reading.table.warn(self.row, column, message, part)

    def error(self, column: str, message: str, part: Part | None = None, near: str | None = None) -> None:
        self.faults.add(column)
        self.reading.table.error(self.row, column, message, part, near)

    def text(self, column: str, needed: bool = False) -> str:
        text = self.row.cells[self.reading.table.columns[column]].strip()  # spaces round a value are forgiven
        if needed and not text:
            self.error(column, f"{column} is empty")
        elif CONTROL.search(text):
            self.error(column, f"{column} holds a control character or a line break")
        return text

    def stretch(self) -> tuple[int, int]:
        """start and stop, half-open."""
        start, stop = self._number("start"), self._number("stop")
        if start is None or stop is None:
            return 0, 0
        if start >= stop:
            self.error(
                "stop", f"stop {stop} must be greater than start {start}: a stretch is start <= frame < stop"
            )
        return start, stop

    def _number(self, column: str) -> int | None:
        text = self.text(column)
        if re.fullmatch("[0-9]{1,18}", text):
            return int(text)
        near = re.match(r"[0-9]+(?=[.,]0*$)", text)  # what a spreadsheet makes of it
        message = f"{column} must be a whole number from 0 up, not '{text}'"
        self.error(column, message, near=near[0] if near else None)
        return None

    def truth(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """labels and unknown, in the order of the dataset's classes."""
        labels, unknown = self._classes("labels"), self._classes("unknown")
        for name in sorted(labels & unknown):
            part = self.reading.spelt(self.row, "unknown", name)
            self.error("unknown", f"'{name}' stands in labels and in unknown", part)
        order = self.reading.description.classes
        return tuple(c for c in order if c in labels), tuple(c for c in order if c in unknown)

    def _classes(self, column: str) -> set[str]:
        found: set[str] = set()
        for part, name in self.reading.names(self.row, column):
            if name is None and part[0]:
                near = nearest(part[0], self.reading.description.classes)
                self.error(column, f"'{part[0]}' is not a class of this dataset", part, near)
            elif name is None:
                self.warn(column, f"{column} has an empty place between ';'", part)
            elif name in found:
                self.warn(column, f"'{name}' stands twice in {column}", part)
            else:
                found.add(name)
        return found


def _trouble(root: Path, source: str) -> tuple[str, str | None] | None:
    """Why a source is refused, and what may be meant. It is a path below media/, with forward slashes."""
    slashed = source.replace("\\", "/")
    if slashed.startswith("/") or re.match("[A-Za-z]:", slashed):
        return "a source is a path below media/, not an absolute one", None
    try:
        contained(root / "media", slashed.replace("\0", "")).exists()
    except UserError:
        return f"'{source}' leads out of media/", None
    except OSError as error:  # a name that is too long
        return f"the source cannot be looked up: {error.strerror}", None
    return ("a source is written with forward slashes", slashed) if slashed != source else None
