"""`devcem data check | stats | split`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from devcem.cli.app import app, emit, show
from devcem.errors import DONE, USER

if TYPE_CHECKING:
    from devcem.labels.problems import Problem
    from devcem.labels.stats import Stats

data = typer.Typer(
    help="Import, check, count and split datasets.",
    no_args_is_help=True,
    epilog="Example: devcem data check my-dataset",
)
app.add_typer(data, name="data")

DatasetFolder = Annotated[Path, typer.Argument(help="A dataset folder: dataset.yaml, segments.csv, media/.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


class By(StrEnum):
    patient = "patient"
    video = "video"


@data.command(epilog="Example: devcem data check my-dataset --media")
def check(
    dataset: DatasetFolder,
    media: Annotated[bool, typer.Option("--media", help="Open every source and look the frames up.")] = False,
    as_json: Json = False,
) -> int:
    """List everything that is wrong with a dataset, by file, line and column. Exit 2 if there is an error."""
    from devcem.labels import check_dataset
    from devcem.labels.problems import errors

    problems = check_dataset(dataset, frames=media)
    failures = len(errors(problems))
    summary = f"{_number(failures, 'error')}, {_number(len(problems) - failures, 'warning')} in {dataset}"
    if as_json:
        rows = [vars(problem) for problem in problems]
        emit({"dataset": dataset, "errors": failures, "warnings": len(problems) - failures, "problems": rows})
    else:
        _show_problems(problems)
    if failures:
        print(f"devcem: {summary}. Remedy: mend what is listed and check again", file=sys.stderr)
        return USER
    if not as_json:
        print(summary)
    return DONE


@data.command(epilog="Example: devcem data stats my-dataset --out stats")
def stats(
    dataset: DatasetFolder,
    out: Annotated[Path | None, typer.Option(help="Folder for a picture and CSV tables.")] = None,
    as_json: Json = False,
) -> None:
    """Count videos a class and split, labels a video, classes that occur together, frames and patients."""
    from devcem.labels import dataset_stats, load_dataset

    counted = dataset_stats(load_dataset(dataset))
    if as_json:
        emit(counted.as_json())
    else:
        _show_stats(counted)
    if out is not None:
        from devcem.labels.figures import write_stats

        for path in write_stats(counted, out):
            print(f"wrote {path}", file=sys.stderr)


@data.command(epilog="Example: devcem data split my-dataset --by patient --test 0.5 --seed 0")
def split(
    dataset: DatasetFolder,
    by: Annotated[
        By, typer.Option(help="Keep whole patients on one side, or deal out single videos.")
    ] = By.patient,
    test: Annotated[float, typer.Option(help="Share of all videos for test.")] = 0.5,
    val: Annotated[float, typer.Option(help="Share of all videos for validation.")] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same split.")] = 0,
    as_json: Json = False,
) -> None:
    """Write new splits into segments.csv, every class in its share on every side."""
    from dataclasses import replace

    from devcem.labels import dataset_stats, load_dataset, split_dataset, write_splits
    from devcem.labels.stats_rows import class_rows

    loaded = load_dataset(dataset)
    result = split_dataset(loaded, by.value, test, val, seed)
    write_splits(loaded, result.segments)
    counted = dataset_stats(replace(loaded, segments=result.segments))
    optimistic = by is By.video
    if as_json:
        emit(
            {"by": by.value, "optimistic": optimistic, "reasons": result.reasons, "stats": counted.as_json()}
        )
        return
    _show_rows(class_rows(counted), f"{counted.name}: split by {by.value}, seed {seed}")
    for name, reason in result.reasons.items():
        print(f"{name} is not on every side: {reason}")
    if optimistic:
        print("Optimistic: split by video, the same patients lie on several sides; scores will be too good.")
    print(f"wrote {dataset / 'segments.csv'}")


def _show_problems(problems: Sequence[Problem]) -> None:
    if not sys.stdout.isatty():
        for problem in problems:
            print(problem)
    elif problems:
        table = Table("where", "severity", "problem", "nearest", box=box.SIMPLE_HEAD)
        for p in problems:
            where = ":".join([p.file, *(str(n) for n in (p.line, p.column) if n)])
            colour = "red" if p.severity == "error" else "yellow"
            table.add_row(Text(where), Text(p.severity, colour), Text(p.message), Text(p.nearest or ""))
        show(table)


def _show_stats(stats: Stats) -> None:
    from devcem.labels.stats_rows import class_rows, label_count_rows, split_rows, together_rows

    title = f"{stats.name}{' (synthetic)' if stats.synthetic else ''}"
    _show_rows(class_rows(stats), f"{title}: videos a class")
    _show_rows(label_count_rows(stats), "videos by number of labels")
    _show_rows(split_rows(stats), "frames and patients")
    _show_rows(together_rows(stats), "videos that carry both classes")


def _show_rows(rows: Sequence[Sequence[object]], title: str) -> None:
    """A table on a terminal, Markdown elsewhere. The first row is the header, the first column names."""
    plain = not sys.stdout.isatty()
    header, *body = rows
    table = Table(box=box.MARKDOWN if plain else box.SIMPLE_HEAD)
    for index, name in enumerate(header):
        table.add_column(str(name), justify="right" if index else "left", no_wrap=True)
    for row in body:
        table.add_row(*(Text(str(cell)) for cell in row))
    print(title)
    show(table)
    print()


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
