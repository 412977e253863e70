"""Other people's tables: any separator, spaces in the header, a byte-order mark; errors with their line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from devcem.errors import UserError

Row = dict[str, str]  # header, lower case and without spaces round it -> cell, likewise


class Faults:
    """The errors of one table, gathered while it is read and told together, in the order of its lines."""

    def __init__(self, table: Path) -> None:
        self.table = table
        self._found: list[tuple[int, UserError]] = []

    def where(self, line: int) -> str:
        return f"{self.table}, line {line}"

    def add(self, line: int, what: str, remedy: str = "correct it") -> None:
        self._found.append((line, UserError(what, self.where(line), remedy)))

    @contextmanager
    def caught(self, line: int) -> Iterator[None]:
        """Keep an error that already names its line, and go on behind the block."""
        try:
            yield
        except UserError as error:
            self._found.append((line, error))

    def listed(self) -> list[UserError]:
        return [error for _, error in sorted(self._found, key=lambda found: found[0])]

    def tell(self) -> None:
        if self._found:
            raise gather(self.listed())


def read_table(
    path: Path, required: Sequence[str] = (), faults: Faults | None = None
) -> list[tuple[int, Row]]:
    """(line, row) of every row that is not empty. A row with too many cells goes to *faults*, for callers
    that have more to tell, or is an error."""
    told = faults or Faults(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise UserError("not UTF-8 text", f"{path}, line {line}", "save the table as UTF-8") from error
    except OSError as error:
        raise UserError(f"the table cannot be read: {error.strerror}", path, "check the path") from error
    first = text.split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    header = [name.strip().lower() for name in next(reader, [])]
    missing = [name for name in required if name not in header]
    if missing:
        found = ", ".join(header) or "nothing"
        raise UserError(f"no column {', '.join(missing)}; found {found}", f"{path}, line 1", "add the column")
    rows: list[tuple[int, Row]] = []
    end = reader.line_num
    for cells in reader:
        line, end = end + 1, reader.line_num  # a quoted cell may span lines: tell the first
        if not any(cell.strip() for cell in cells):
            continue
        if any(cells[len(header) :]):
            what = f"{len(cells)} cells where the header has {len(header)}"
            told.add(line, what, "put quotes round text with a separator in it")
            continue
        cells += [""] * (len(header) - len(cells))  # Kvasir-Capsule leaves empty cells out at the end
        rows.append((line, {name: cell.strip() for name, cell in zip(header, cells, strict=False)}))
    if faults is None:
        told.tell()
    return rows


def whole(text: str, where: str) -> int:
    """A frame number; "12.0" is one, "12.5" is not."""
    match = re.fullmatch(r"([0-9]{1,18})(?:\.0+)?", text.strip())
    if match is None:
        raise UserError(f"'{text}' is not a frame number", where, "write 0, 1, 2, ...")
    return int(match[1])


def gather(errors: Sequence[UserError]) -> UserError:
    """All errors of a table as one, the places first."""
    if len(errors) == 1:
        return errors[0]
    listed = "\n  ".join(str(error) for error in errors)
    return UserError(f"{len(errors)} errors:\n  {listed}", remedy="mend these lines and import again")
