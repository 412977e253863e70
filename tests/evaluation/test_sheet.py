from __future__ import annotations

import csv
from html.parser import HTMLParser
from pathlib import Path

from devcem.evaluation.sheet import Sheet

SHEET = Sheet(
    "A & B",
    "50% of <it>.",
    ["method", "F1", "theirs"],
    [["a_b", "0.5 ± 0.1", "0.400"], ["c", "", "0.3"]],
    grey=frozenset({2}),
    bold=frozenset({(0, 1)}),
    rules=frozenset({1}),
)


class Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, _: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def test_markdown() -> None:
    assert SHEET.markdown().splitlines()[2:] == [
        "| method | F1 | theirs |",
        "|---|---|---|",
        "| a_b | **0.5 ± 0.1** | *0.400* |",
        "| c |  | *0.3* |",
    ]


def test_csv_has_the_cells_as_they_are(tmp_path: Path) -> None:
    paths = SHEET.write(tmp_path / "one")
    assert sorted(path.name for path in paths) == ["one.csv", "one.html", "one.md", "one.tex"]
    with (tmp_path / "one.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [
            ["method", "F1", "theirs"],
            ["a_b", "0.5 ± 0.1", "0.400"],
            ["c", "", "0.3"],
        ]


def test_latex_says_what_latex_would_not_take() -> None:
    lines = SHEET.latex().splitlines()
    assert r"\caption{A \& B. 50\% of <it>.}" in lines
    assert r"a\_b & \textbf{0.5 $\pm$ 0.1} & \textcolor{gray}{0.400} \\" in lines
    assert lines[lines.index(r"c &  & \textcolor{gray}{0.3} \\") - 1] == r"\midrule"


def test_html_is_well_formed() -> None:
    parser = Cells()
    parser.feed(SHEET.html())
    assert parser.open == []
    assert parser.found[:5] == ["A & B.", " 50% of <it>.", "method", "F1", "theirs"]
    assert parser.found[5:] == ["a_b", "0.5 ± 0.1", "0.400", "c", "0.3"]
