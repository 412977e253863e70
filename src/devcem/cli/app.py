"""The root command, and what all commands share: exit codes, one-line errors, examples in the help."""

from __future__ import annotations

import errno
import json
import math
import sys
import traceback
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from devcem import __version__
from devcem.errors import BUG, DONE, USER, UserError
from devcem.files import FAULTS, MISPLACED, explained

STOPPED = 130  # what a shell reports after Ctrl-C
LOG, UNBOUND = 140, 1_000_000  # columns of text
RESEARCH_USE = "Research use only, not a medical device."


class Stopped(Exception):
    """Ctrl-C in a command that says itself how to go on."""


app = typer.Typer(
    name="devcem",
    help="Finds disease in capsule-endoscopy video from weak labels. " + RESEARCH_USE,
    epilog="Example: devcem demo --out demo-out",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(__version__)
        raise typer.Exit


def emit(data: Any) -> None:
    """A command's result for machines (--json), on stdout alone."""
    print(json.dumps(_for_json(data), indent=1, default=str, allow_nan=False))


def _for_json(data: Any) -> Any:
    """JSON knows no NaN: what has no value is null."""
    if isinstance(data, dict):
        return {key: _for_json(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_for_json(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def show(table: Table) -> None:
    """A table for people: as wide as the terminal, or wide enough for a log. One whose cells may not be
    wrapped takes what it needs: rich would drop the digits that find no room."""
    console = Console()
    width = console.width if console.is_terminal else LOG
    if all(column.no_wrap for column in table.columns):
        width = max(width, console.measure(table, options=console.options.update(max_width=UNBOUND)).maximum)
    Console(width=width).print(table)


def main(arguments: list[str] | None = None) -> int:
    """Run a command line; returns the exit code. What the user can fix is one line on stderr."""
    try:
        code = typer.main.get_command(app)(args=arguments, prog_name="devcem", standalone_mode=False)
        if code == STOPPED:  # typer turns Ctrl-C into this code
            return _told("stopped; the same command goes on where this one ended.", STOPPED)
        return code if isinstance(code, int) else DONE
    except UserError as error:
        return _told(str(error), USER)
    except Stopped as error:
        return _told(f"stopped; {error}", STOPPED)
    except typer.TyperException as error:  # an option or argument that does not fit
        if not str(error):  # no arguments: the help is on the screen
            return DONE
        told = error.format_message() if isinstance(error, typer.BadParameter) else str(error)
        told = told.replace("Value error, ", "").rstrip(".")
        return _told(f"{told}. Remedy: see --help for an example", USER)
    except Exception as error:
        if isinstance(error, OSError):  # of a disk or a path that only the user can mend
            known = explained(error, error.filename, FAULTS | MISPLACED)
            if isinstance(known, UserError) and error.errno != errno.ENOENT:
                return _told(str(known), USER)
        traceback.print_exc()
        return _told("this is a bug; please report the lines above.", BUG)


def _told(line: str, code: int) -> int:
    print(f"devcem: {line}", file=sys.stderr)
    return code
