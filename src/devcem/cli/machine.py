"""`devcem doctor` and `devcem demo`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from devcem.cli.app import RESEARCH_USE, app, emit, show
from devcem.errors import SOME_FAILED


@app.command(epilog="Example: devcem doctor --out results")
def doctor(
    out: Annotated[Path, typer.Option(help="Folder whose disk is looked at.")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> int:
    """Show what this machine has: devices, decoders, weights, optional parts, free disk."""
    from devcem.doctor import as_rows, examine

    findings = examine(out)
    if as_json:
        emit(as_rows(findings))
    else:
        table = Table("part", "state", "detail", "remedy", box=None)
        for finding in findings:
            table.add_row(*map(Text, (finding.part, finding.state, finding.detail, finding.remedy)))
        show(table)
    return SOME_FAILED if any(finding.state == "trouble" for finding in findings) else 0


@app.command(epilog="Example: devcem demo --out demo-out")
def demo(
    out: Annotated[Path, typer.Option(help="Folder for everything the demo makes.")] = Path("demo-out"),
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same collection.")] = 0,
    workers: Annotated[int, typer.Option(min=0, help="Processes that render; 0 takes all cores.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Run the main job on a small synthetic collection, offline, in a few minutes."""
    from devcem.demo import run_demo

    page = run_demo(out, seed, workers=workers or None)
    if as_json:
        return emit({"out": out, "open": page, "synthetic": True})
    print(
        f"Results lie in {out}{os.sep}: collection, exam, imported, stats, run, evaluation, analysis, ",
        end="",
    )
    print("probe.csv and pictures.")
    print(f"Open {page} in a browser.")
    print(f"Synthetic video. {RESEARCH_USE}")
