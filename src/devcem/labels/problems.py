"""What is wrong with a dataset, and where: gathered first, told all together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from devcem.errors import UserError

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Problem:
    """One thing to mend. Lines and columns count from 1; 0 where the whole file is meant."""

    severity: Severity
    file: str  # below the dataset folder
    line: int
    column: int
    value: str  # what stands there
    message: str
    nearest: str | None = None  # the nearest valid value

    def __str__(self) -> str:
        place = ":".join([self.file, *(str(n) for n in (self.line, self.column) if n)])
        hint = f"; did you mean '{self.nearest}'?" if self.nearest is not None else ""
        return f"{place}: {self.severity}: {self.message}{hint}"


def errors(problems: Iterable[Problem]) -> list[Problem]:
    return [p for p in problems if p.severity == "error"]


def refusal(problems: Iterable[Problem], folder: Path, shown: int = 5) -> UserError:
    """The first errors in one line, and how many there are."""
    found = errors(problems)
    first = " | ".join(map(str, found[:shown])) + (" | and others" if len(found) > shown else "")
    count = "1 error" if len(found) == 1 else f"{len(found)} errors"
    return UserError(
        f"the dataset has {count}: {first}",
        folder,
        f"mend what is named; `devcem data check {folder}` lists all",
    )
