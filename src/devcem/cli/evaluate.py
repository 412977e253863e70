"""`devcem evaluate`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from devcem.cli.app import RESEARCH_USE, app, emit, show

if TYPE_CHECKING:
    import pandas as pd

    from devcem.evaluation.split import Evaluated

SHOWN = ("positives", "auroc", "ap", "threshold", "precision", "recall", "f1", "specificity", "ece")
WITHIN = ("positives", "auroc", "ap", "bags", "bag_auroc")


class Engine(StrEnum):
    auto = "auto"
    torch = "torch"
    openvino = "openvino"


@app.command(epilog="Example: devcem evaluate run1 my-dataset --split test --out judged")
def evaluate(
    model: Annotated[Path, typer.Argument(help="A model folder, or the folder of a run.")],
    dataset: Annotated[Path, typer.Argument(help="A dataset folder with the model's classes.")],
    out: Annotated[Path, typer.Option(help="Folder for tables, figures, report.html.")],
    split: Annotated[str, typer.Option(help="Which segments: test, val or train.")] = "test",
    cache: Annotated[
        Path | None, typer.Option(help="Folder for features; default: .features in the dataset.")
    ] = None,
    view: Annotated[
        str | None, typer.Option(help="The lens view by name, where it can't be found; frame: all of it.")
    ] = None,
    engine: Annotated[Engine, typer.Option(help="What computes features.")] = Engine.auto,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Judge a model on a split: each class of each segment, and each frame where its truth is known."""
    from devcem.files import check_free

    check_free(out, overwrite)  # before torch is there
    from devcem.evaluation.folder import write_evaluation
    from devcem.evaluation.split import evaluate as judge
    from devcem.labels import load_dataset
    from devcem.model import load_model

    data = load_dataset(dataset)
    judged = judge(load_model(model, engine.value), data, split, cache, view)
    write_evaluation(judged, out, overwrite)
    if as_json:
        return emit(judged.summary() | {"out": out})
    _tell(judged, out)


def _tell(judged: Evaluated, out: Path) -> None:
    found = judged.summary()
    counted = f"{found['segments']} segments, {found['patients']} patients"
    print(f"{found['dataset']}, split {judged.split}: {counted}")
    _show(judged.metrics, SHOWN)
    calibration = judged.model.calibration
    if calibration is not None and set(calibration.kinds.values()) != {"none"}:
        off = [_cell(judged.metrics[name]["macro"], False) for name in ("ece", "ece_calibrated")]
        print(f"\nece: how far scores are from probabilities; macro {off[0]}, once calibrated {off[1]}")
    if judged.localisation is not None:
        print("\nFrames, by the score of each for the class; bag_auroc: within a segment")
        _show(judged.localisation, WITHIN)
    print(f"\nwrote {out}. {' '.join((*judged.notices, RESEARCH_USE))}")


def _show(figures: pd.DataFrame, columns: tuple[str, ...]) -> None:
    table = Table("class", box=None)
    for name in columns:
        table.add_column(name, justify="right")
    for label, row in figures[list(columns)].iterrows():
        cells = [_cell(value, column in ("positives", "bags")) for column, value in row.items()]
        table.add_row(Text(str(label)), *cells)
    show(table)


def _cell(value: float, whole: bool) -> str:
    """Three decimals; a dash where there is nothing to tell."""
    if value != value:
        return "-"
    return f"{value:.0f}" if whole else f"{value:.3f}"
