"""`devcem methods`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from devcem.cli.app import app, emit, show


@app.command(epilog="Example: devcem methods ps-devcem")
def methods(
    name: Annotated[str | None, typer.Argument(help="Show this method's options.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """List the methods that can be trained; with a name, one method and its options."""
    from devcem.methods import describe, names

    infos = [describe(name)] if name else [describe(each) for each in names()]
    if as_json:
        rows = [info.as_row() for info in infos]
        return emit(rows[0] if name else rows)
    if not name:
        table = Table("method", "kind", "what it does", "paper", box=None)
        for info in infos:
            table.add_row(*map(Text, (info.name, info.kind, info.summary, info.paper)))
        return show(table)
    info = infos[0]
    print(f"{info.name}: {info.summary}\nPaper: {info.paper}\nKind: {info.kind}")
    if not info.options:
        return print("It has no options.")
    table = Table("option", "type", "default", "help", box=None)
    for option in info.options:
        table.add_row(*map(Text, (option.name, option.type, _spelt(option.default), option.help)))
    show(table)
    print(f"Set one with: devcem train DATASET --method {info.name} --set options.OPTION=VALUE --out RUN")


def _spelt(value: Any) -> str:
    """As --set takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
