"""What a user can mend, said in one line, and what cannot be blamed on anybody but us."""

from __future__ import annotations

from pathlib import Path

DONE, BUG, USER, SOME_FAILED = 0, 1, 2, 3  # exit codes of every command


class UserError(Exception):
    """Something the user can fix: *what* is wrong, *where*, and the *remedy*. The commands exit with 2."""

    def __init__(self, what: str, where: str | Path | None = None, remedy: str | None = None) -> None:
        self.what, self.where, self.remedy = what, where, remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where is not None else ""
        remedy = f" Remedy: {self.remedy}" if self.remedy else ""
        return f"{place}{self.what.rstrip('.')}.{remedy}"

    def __reduce__(self) -> tuple[object, ...]:  # survives the trip out of a worker process
        return type(self), (self.what, self.where, self.remedy)
