"""A CSV file that people edit by hand: its rows, and the line and column of every cell."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from devcem.labels.problems import Problem, Severity
from devcem.labels.spelling import nearest

BREAK = re.compile(r"\r\n|\r|\n")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # what no name may hold
CELL = re.compile(r' *(?:"(?P<quoted>(?:[^"]|"")*)"[^,\r\n]*|(?P<bare>[^,\r\n]*))')


Part = tuple[str, int]  # a piece of a cell without the spaces round it, and its offset in the cell


@dataclass(frozen=True)
class Row:
    """A record: its cells, and the text they came from, which may span lines."""

    line: int  # of its first character
    raw: str
    cells: list[str]

    def place(self, index: int, offset: int = 0) -> tuple[int, int]:
        """Line and column, from 1, of character *offset* of cell *index*. Scanned only for a complaint."""
        at = 0
        for skipped in range(index + 1):
            match = CELL.match(self.raw, at)
            if match is None:
                raise AssertionError("CELL matches anywhere")
            start = match.start(match.lastgroup or 0)
            at = match.end() + 1 if skipped < index else match.end()
        before = BREAK.split(self.raw[: start + offset])
        return self.line + len(before) - 1, len(before[-1]) + 1


@dataclass
class Table:
    """The rows of one file, its columns by name, and the problems found in it so far."""

    file: str  # name below the dataset folder
    columns: dict[str, int]  # name -> index of the cell
    rows: list[Row]
    problems: list[Problem]
    torn: list[Row] = field(default_factory=list)  # told, and not among the rows: their cells may be shifted
    readable: bool = False  # whether the header has every column that is needed

    def error(
        self, row: Row, column: str, message: str, part: Part | None = None, near: str | None = None
    ) -> None:
        self._complain("error", row, column, message, part, near)

    def warn(
        self, row: Row, column: str, message: str, part: Part | None = None, near: str | None = None
    ) -> None:
        self._complain("warning", row, column, message, part, near)

    def parts(self, row: Row, column: str, sign: str) -> list[Part]:
        """What *sign* joins in a cell; nothing in an empty one."""
        cell = row.cells[self.columns[column]]
        if not cell.strip():
            return []
        starts = [0, *(match.end() for match in re.finditer(sign, cell))]
        return [_trim(part, start) for part, start in zip(cell.split(sign), starts, strict=True)]

    def _complain(
        self, severity: Severity, row: Row, column: str, message: str, part: Part | None, near: str | None
    ) -> None:
        """A problem at a part of the cell, or at the whole cell."""
        index = self.columns[column]
        value, offset = part or _trim(row.cells[index], 0)
        place = row.place(index, offset)
        self.problems.append(Problem(severity, self.file, *place, value, message, near))


def read_table(
    path: Path, problems: list[Problem], required: Sequence[str], optional: Sequence[str] = ()
) -> Table:
    """All rows that have a cell for every column; the others are told in *problems*."""
    table = Table(path.name, {}, [], problems)
    if not path.is_file():
        table.problems.append(Problem("error", path.name, 0, 0, "", "the file is missing"))
        return table
    text = read_text(path, table.problems)
    records = _records(text, table)
    header = next(records, None)
    if header is None:
        table.problems.append(
            Problem("error", path.name, 1, 1, "", f"no header; expected {','.join(required)}")
        )
        return table
    table.readable = _read_header(table, header, required, optional)
    if not table.readable:
        return table
    width = len(header.cells)
    for row in records:
        if len(row.cells) == width:
            table.rows.append(row)
            continue
        table.torn.append(row)
        place = row.place(min(len(row.cells), width + 1) - 1)
        message = (
            f"{len(row.cells)} cells where the header has {width}; join several labels with ';', put quotes "
            "round text with a comma"
        )
        table.problems.append(Problem("error", table.file, *place, row.raw.strip(), message))
    return table


def read_text(path: Path, problems: list[Problem]) -> str:
    """The file without its byte-order mark. Lines that are not UTF-8 are told, and read as Latin-1."""
    data = path.read_bytes()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        problems.append(Problem("error", path.name, 1, 1, "UTF-16", "the file is UTF-16; save it as UTF-8"))
        data = data.decode("utf-16", errors="replace").encode()
    lines = data.removeprefix(codecs.BOM_UTF8).splitlines(keepends=True)
    texts = []
    for number, line in enumerate(lines, 1):
        try:
            texts.append(line.decode())
        except UnicodeDecodeError as error:
            column = len(line[: error.start].decode()) + 1
            value = f"byte 0x{line[error.start]:02x}"
            problems.append(
                Problem(
                    "error", path.name, number, column, value, f"{value} is not UTF-8; save the file as UTF-8"
                )
            )
            texts.append(line.decode("latin-1"))
    return "".join(texts)


def _trim(text: str, offset: int) -> Part:
    return text.strip(), offset + len(text) - len(text.lstrip())


def _records(text: str, table: Table) -> Iterator[Row]:
    """Rows that are not blank. After broken quotes it goes on at the next line: one slip hides little."""
    lines = list(io.StringIO(text, newline=""))  # splits at \n, \r and \r\n, and at nothing else
    at = 0  # lines read so far
    while at < len(lines):
        reader = csv.reader(islice(lines, at, None), strict=True, skipinitialspace=True)
        first, start = at, at
        try:
            for cells in reader:
                start, at = at, first + reader.line_num
                if any(cell.strip() for cell in cells):
                    yield Row(start + 1, "".join(lines[start:at]), cells)
        except csv.Error as error:
            line = lines[at]
            column = line.rfind('"') + 1
            message = f"quotes do not pair up ({error})"
            table.problems.append(Problem("error", table.file, at + 1, column, line.strip(), message))
            table.torn.append(Row(at + 1, line, line.split(",")))
            at += 1


def _read_header(table: Table, header: Row, required: Sequence[str], optional: Sequence[str]) -> bool:
    """Fill `columns`; False where the rows cannot be read."""
    line = header.raw.strip()
    if len(header.cells) == 1 and len(required) > 1:
        for sign, name in ((";", "semicolons"), ("\t", "tabs")):
            if sign in line:
                message = f"the columns are separated by {name}; save the file with commas"
                table.problems.append(
                    Problem("error", table.file, header.line, line.index(sign) + 1, sign, message, ",")
                )
                return False
    names = [cell.strip() for cell in header.cells]
    for index, name in enumerate(names):
        if name in table.columns:
            message = f"the column '{name}' stands twice"
            table.problems.append(Problem("error", table.file, *header.place(index), name, message))
        table.columns.setdefault(name, index)
    missing = [name for name in required if name not in names]
    strangers = [name for name in names if name not in (*required, *optional)]
    for name in missing:
        typo = nearest(name, strangers)
        place = header.place(names.index(typo)) if typo else (header.line, 1)
        message = f"the column '{name}' is missing" + (f" ('{typo}' is here)" if typo else "")
        table.problems.append(
            Problem("error", table.file, *place, typo or "", message, name if typo else None)
        )
    for name in strangers:
        meant = nearest(name, [other for other in optional if other not in names])
        if meant:
            message = f"the column '{name}' is not read"
            place = header.place(names.index(name))
            table.problems.append(Problem("warning", table.file, *place, name, message, meant))
    return not missing
