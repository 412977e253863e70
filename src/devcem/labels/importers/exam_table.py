"""The table of tags: its rows, and whose exams they are. Everything wrong with it is told together."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from devcem.errors import UserError
from devcem.files import contained
from devcem.labels.importers.tables import Faults, Row, read_table, whole

CLOCK = re.compile(r"(?:(?:(\d+):)?([0-5]?\d):)?(\d+(?:[.,]\d+)?)")


@dataclass(frozen=True)
class TagRow:
    """One tag. A row that cannot be a tag does not become one."""

    line: int
    exam: Path
    patient: str
    camera: str
    when: float  # seconds, or the number of a frame
    timed: bool
    written: str  # `when` as it stands in the table
    text: str


def read_rows(src: Path, tags: Path | None, root: Path) -> tuple[Path, list[TagRow], Faults]:
    """The table, its sound rows, and what is wrong with the others; *root* holds the exams that it names."""
    itself = src.suffix.lower() == ".csv"
    table = src if itself else tags or src.with_suffix(".csv")
    if not itself and tags is None and not table.is_file():
        raise UserError(f"no table of tags: {table} is not there", src, "name it with --tags TABLE")
    faults = Faults(table)
    read = read_table(table, ["text", "source"] if itself else ["text"], faults)
    if not read:
        faults.tell()
        raise UserError("the table has no tags", table, "a header and one row a tag")
    columns = read[0][1]
    if ("time" in columns) == ("frame" in columns):
        raise UserError("one of the columns time and frame is needed", faults.where(1), "name one of them")
    rows = [_row(line, row, None if itself else src, root, faults) for line, row in read]
    return table, [row for row in rows if row], faults


def _row(line: int, row: Row, exam: Path | None, root: Path, faults: Faults) -> TagRow | None:
    """Every cell is judged, so that one error hides no other."""
    path = exam or _exam(line, row["source"], root, faults)
    if not row["text"]:
        faults.add(line, "the text is empty", "write the tag, or drop the row")
    timed = "time" in row
    written = row["time" if timed else "frame"]
    when: float | None = None
    with faults.caught(line):
        when = (seconds_of if timed else whole)(written, faults.where(line))
    if path is None or when is None or not row["text"]:
        return None
    return TagRow(
        line, path, row.get("patient", ""), row.get("camera", ""), when, timed, written, row["text"]
    )


def _exam(line: int, name: str, root: Path, faults: Faults) -> Path | None:
    try:
        path = contained(root, name)
        if path.exists():
            return path
        faults.add(line, f"no exam '{name}'")
    except UserError as error:
        faults.add(line, error.what, "name an exam below the table's folder")
    except (OSError, ValueError):  # a name that is too long, or holds a zero byte
        faults.add(line, f"'{name[:40]}' cannot be the name of an exam")
    return None


def patient_of(rows: Sequence[TagRow], faults: Faults) -> str:
    """The patient of one exam's rows, empty where none is named. Two would be merged in silence."""
    first: dict[str, int] = {}
    for row in rows:
        if row.patient:
            first.setdefault(row.patient, row.line)
    if len(first) > 1:
        (one, line), (two, other), *_ = first.items()
        what = f"the exam '{rows[0].exam.name}' has two patients, '{one}' on line {line} and '{two}' on line"
        faults.add(other, f"{what} {other}", "one exam shows one patient: correct the name, or the source")
    return next(iter(first), "")


def exam_names(exams: Sequence[Path], root: Path) -> dict[Path, str]:
    """A name an exam, its file's without the ending. Where two share that, the folders tell them apart: else
    two patients would become one."""
    often = Counter(exam.stem for exam in exams)
    below = root.resolve()
    return {
        exam: exam.stem if often[exam.stem] == 1 else "-".join(exam.resolve().relative_to(below).parts)
        for exam in exams
    }


def seconds_of(text: str, where: str) -> float:
    """Seconds, MM:SS or HH:MM:SS, with or without a fraction."""
    match = CLOCK.fullmatch(text.strip())
    if match is None:
        raise UserError(f"'{text}' is not a time", where, "write seconds, or HH:MM:SS(.mmm)")
    hours, minutes, seconds = (float((part or "0").replace(",", ".")) for part in match.groups())
    if match[2] and seconds >= 60:
        raise UserError(f"'{text}' is not a time: {seconds:g} seconds in a minute", where, "write HH:MM:SS")
    return math.fsum((3600 * hours, 60 * minutes, seconds))
