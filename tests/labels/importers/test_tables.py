from __future__ import annotations

from pathlib import Path

import pytest

from devcem.errors import UserError
from devcem.labels.importers.tables import gather, read_table, whole


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_any_separator_and_stray_spaces(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(separator.join(["Gender ", " Age"]) + "\r\n" + separator.join(["f ", "7"]) + "\r\n\r\n")
    assert read_table(path, ["gender", "age"]) == [(2, {"gender": "f", "age": "7"})]


def test_lines_count_what_quotes_span(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'\xef\xbb\xbfa,b\n\n1,"two\nlines"\n3,4\n')
    assert [(line, row["a"]) for line, row in read_table(path)] == [(3, "1"), (5, "3")]


def test_cells_left_out_at_the_end_are_empty(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b;c\n1\n1;2;3;;\n")
    assert [row for _, row in read_table(path)] == [
        {"a": "1", "b": "", "c": ""},
        {"a": "1", "b": "2", "c": "3"},
    ]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"a,b\n1,2,3\n", "line 2: 3 cells where the header has 2"),
        (b"a\n1\n", "line 1: no column b; found a"),
        (b"", "line 1: no column a, b; found nothing"),
        (b"a,b\n1,2\n\xe9,3\n", "line 3: not UTF-8"),
    ],
)
def test_a_broken_table_is_told_with_its_line(tmp_path: Path, data: bytes, told: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    with pytest.raises(UserError, match=told):
        read_table(path, ["a", "b"])


def test_no_table(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_table(tmp_path / "none.csv")


def test_whole_numbers() -> None:
    assert whole(" 12.0 ", "here") == 12
    for text in ("12.5", "-1", "x", ""):
        with pytest.raises(UserError, match=r"here: '.*' is not a frame number"):
            whole(text, "here")


def test_errors_are_gathered() -> None:
    one, two = UserError("one", "a, line 2"), UserError("two", "a, line 3")
    assert gather([one]) is one
    assert all(part in str(gather([one, two])) for part in ("2 errors", "a, line 2: one", "a, line 3: two"))
