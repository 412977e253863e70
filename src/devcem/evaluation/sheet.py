"""A table that is written as Markdown, CSV, LaTeX and HTML alike."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from devcem.files import write_text

TEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "±": r"$\pm$", "≥": r"$\geq$"}


@dataclass(frozen=True)
class Sheet:
    """Cells are text already. Of *best* columns the row that leads is printed in bold."""

    title: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    grey: frozenset[int] = frozenset()  # columns of other people's figures
    bold: frozenset[tuple[int, int]] = frozenset()  # row, column
    rules: frozenset[int] = frozenset()  # rows above which a line is drawn

    def markdown(self) -> str:
        lines = [f"**{self.title}.** {self.caption}", ""]
        lines.append("| " + " | ".join(self.columns) + " |")
        lines.append("|---" * len(self.columns) + "|")
        for number, row in enumerate(self.rows):
            cells = [self._marked(number, column, cell) for column, cell in enumerate(row)]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines) + "\n"

    def _marked(self, row: int, column: int, cell: str) -> str:
        if not cell:
            return cell
        if column in self.grey:
            return f"*{cell}*"
        return f"**{cell}**" if (row, column) in self.bold else cell

    def csv(self) -> str:
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows([self.columns, *self.rows])
        return file.getvalue()

    def latex(self) -> str:
        """For booktabs; grey needs xcolor."""
        lines = [
            r"\begin{table*}[t]",
            rf"\caption{{{_tex(self.title)}. {_tex(self.caption)}}}",
            r"\centering",
        ]
        lines += [rf"\begin{{tabular}}{{l{'c' * (len(self.columns) - 1)}}}", r"\toprule"]
        lines += [" & ".join(map(_tex, self.columns)) + r" \\", r"\midrule"]
        for number, row in enumerate(self.rows):
            if number in self.rules:
                lines.append(r"\midrule")
            lines.append(" & ".join(self._tex_cell(number, *pair) for pair in enumerate(row)) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table*}", ""])

    def _tex_cell(self, row: int, column: int, cell: str) -> str:
        if cell and column in self.grey:
            return rf"\textcolor{{gray}}{{{_tex(cell)}}}"
        return rf"\textbf{{{_tex(cell)}}}" if (row, column) in self.bold else _tex(cell)

    def html(self) -> str:
        head = "".join(
            f"<th{self._class(column)}>{html.escape(name)}</th>" for column, name in enumerate(self.columns)
        )
        body = []
        for number, row in enumerate(self.rows):
            cells = (
                f"<td{self._class(column)}>{self._bold(number, column, html.escape(cell))}</td>"
                for column, cell in enumerate(row)
            )
            rule = ' class="rule"' if number in self.rules else ""
            body.append(f"<tr{rule}>{''.join(cells)}</tr>")
        caption = f"<caption><b>{html.escape(self.title)}.</b> {html.escape(self.caption)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"

    def _class(self, column: int) -> str:
        return ' class="grey"' if column in self.grey else ""

    def _bold(self, row: int, column: int, cell: str) -> str:
        return f"<b>{cell}</b>" if (row, column) in self.bold else cell

    def write(self, stem: Path) -> list[Path]:
        texts = {".md": self.markdown(), ".csv": self.csv(), ".tex": self.latex(), ".html": self.html()}
        paths = []
        for suffix, text in texts.items():
            write_text(path := stem.with_name(stem.name + suffix), text)
            paths.append(path)
        return paths


def _tex(text: str) -> str:
    return "".join(TEX.get(letter, letter) for letter in text)
