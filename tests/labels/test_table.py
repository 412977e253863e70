"""Cells of a CSV file and where they stand."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcem.labels.problems import Problem
from devcem.labels.table import Row, Table, read_table

COLUMNS = ("segment", "labels")


def read(tmp_path: Path, text: str | bytes, optional: tuple[str, ...] = ()) -> tuple[Table, list[Problem]]:
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    problems: list[Problem] = []
    return read_table(path, problems, COLUMNS, optional), problems


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(
    st.lists(st.lists(cells, min_size=2, max_size=4), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"])
)
def test_every_cell_is_found_where_it_stands(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], end: str
) -> None:
    """The independent witness: the text of the file itself, read from the place that was told."""
    rows = [[cell or "x" for cell in row[:2]] for row in rows]
    out = io.StringIO()
    csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([COLUMNS, *rows])
    text = out.getvalue()
    table, _ = read(tmp_path_factory.mktemp("t"), text)
    wanted = [row for row in rows if any(cell.strip() for cell in row)]
    assert [row.cells for row in table.rows] == wanted
    lines = list(io.StringIO(text, newline=""))
    for row in table.rows:
        for index, cell in enumerate(row.cells):
            line, column = row.place(index)
            written = cell.replace('"', '""')
            assert "".join(lines[line - 1 :])[column - 1 :].startswith(written + '"')
            assert lines[line - 1][column - 2] == '"'


def test_places_in_bare_and_quoted_cells() -> None:
    row = Row(7, 'ab, "c;d" ,"two\nlines",e\n', ["ab", "c;d ", "two\nlines", "e"])
    assert [row.place(i) for i in range(4)] == [(7, 1), (7, 6), (7, 13), (8, 8)]
    assert row.place(1, 2) == (7, 8)
    assert row.place(2, 5) == (8, 2)


def test_lines_end_in_any_way_and_blank_ones_are_skipped(tmp_path: Path) -> None:
    table, problems = read(tmp_path, "\ufeffsegment,labels\r\n\r\na,b\rc,d\n , \ne,f")
    assert [(row.line, row.cells) for row in table.rows] == [
        (3, ["a", "b"]),
        (4, ["c", "d"]),
        (6, ["e", "f"]),
    ]
    assert problems == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("segment;labels\na;b\n", (1, 8, ";", ",")),
        ("segment\tlabels\na\tb\n", (1, 8, "\t", ",")),
        ("", (1, 1, "", None)),
        ("segment,lables\na,b\n", (1, 9, "lables", "labels")),
        ("segment\na\n", (1, 1, "", None)),
        ("segment,labels,labels\na,b,c\n", (1, 16, "labels", None)),
        ("segment,labels,camra\na,b,c\n", (1, 16, "camra", "camera")),
    ],
)
def test_headers(tmp_path: Path, text: str, expected: tuple[int, int, str, str | None]) -> None:
    _, problems = read(tmp_path, text, ("camera",))
    assert [(p.line, p.column, p.value, p.nearest) for p in problems] == [expected]


def test_other_columns_may_stand_beside(tmp_path: Path) -> None:
    table, problems = read(tmp_path, "note,segment,labels\nn,a,b\n", ("camera",))
    assert (table.columns, problems) == ({"note": 0, "segment": 1, "labels": 2}, [])


def test_broken_quotes_hide_only_their_own_line(tmp_path: Path) -> None:
    table, problems = read(tmp_path, 'segment,labels\na,"b\nc,d\n"e"f,g\nh,"i"\n')
    assert [(p.line, p.column) for p in problems] == [(2, 3), (4, 3)]
    assert [row.cells for row in table.rows] == [["c", "d"], ["h", "i"]]
    assert [row.line for row in table.rows] == [3, 5]


def test_encodings(tmp_path: Path) -> None:
    _, problems = read(tmp_path, b"segment,labels\na,\xc3\xb8\xf8\nb,c\nd\xe6,e\n")
    assert [(p.line, p.column, p.value) for p in problems] == [(2, 4, "byte 0xf8"), (4, 2, "byte 0xe6")]
    table, problems = read(tmp_path, "segment,labels\na,b\n".encode("utf-16"))
    assert [(p.line, p.value) for p in problems] == [(1, "UTF-16")]
    assert [row.cells for row in table.rows] == [["a", "b"]]
