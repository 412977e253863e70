"""`devcem analyze`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from devcem.cli.app import RESEARCH_USE, app, emit, show


@app.command(epilog="Example: devcem analyze clip.avi --model run1 --out result")
def analyze(
    clip: Annotated[Path, typer.Argument(help="A video, a folder of numbered pictures or a DICOM file.")],
    model: Annotated[Path, typer.Option(help="A model folder, or the folder of a run.")],
    out: Annotated[Path, typer.Option(help="Folder for exam.json, scores.csv and strip.png.")],
    start: Annotated[int | None, typer.Option(help="First frame number; default: all.")] = None,
    stop: Annotated[int | None, typer.Option(help="Frame number after the last.")] = None,
    truth: Annotated[
        Path | None, typer.Option(help="A dataset folder with segments in this clip: its truth is drawn.")
    ] = None,
    view: Annotated[
        str | None, typer.Option(help="The lens view by name, where it can't be found; frame: all of it.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Read a clip with a model: what it shows, and which frames decided that. Whole exams come later."""
    from devcem.exam import analyze as read
    from devcem.exam.analysing import SYNTHETIC

    done = read(clip, model, out, start, stop, truth=truth, view=view, overwrite=overwrite)
    if as_json:
        return emit(done.summary() | {"out": out})
    told = done.prediction
    table = Table("class", box=None)
    for name in ("probability", "threshold", "called"):
        table.add_column(name, justify="right")
    for k in np.argsort(-told.video_scores, kind="stable"):
        score, bar = told.video_scores[k], told.thresholds[k]
        table.add_row(Text(told.classes[k]), f"{score:.3f}", f"{bar:.3f}", "yes" if score >= bar else "")
    print(f"{clip}: frames {told.numbers[0]} to {told.numbers[-1]}, {len(told)} in all")
    show(table)
    if done.damaged:
        print(f"Of {done.declared} frames declared {done.damaged} are damaged or missing: read in part.")
    for note in done.notes:
        print(note)
    synthetic = f" {SYNTHETIC}" if told.synthetic else ""
    print(f"Look at {out / 'strip.png'}.{synthetic} {RESEARCH_USE}")
