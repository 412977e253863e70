"""`devcem data import`."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from devcem.cli.app import RESEARCH_USE, emit, show
from devcem.cli.data import data
from devcem.errors import DONE, SOME_FAILED, UserError
from devcem.files import writing

if TYPE_CHECKING:
    from devcem.labels.importers import Summary, Tag

REVIEW = ("line", "text", "labels", "unknown", "denied", "words without a rule", "look at it because")


class Offset(StrEnum):
    random = "random"
    centre = "centre"


class Absent(StrEnum):
    absent = "absent"
    unknown = "unknown"


class Media(StrEnum):
    masked = "masked"
    link = "link"
    copy = "copy"
    none = "none"


@data.command("import", epilog="Example: devcem data import tags exam.mpg my-dataset --tags tags.csv")
def import_(
    format: Annotated[
        str,
        typer.Argument(
            help="tags, captiv8, kvasir-capsule, galar, rare-vision, wcebleedgen, capsule-vision or folder."
        ),
    ],
    src: Annotated[
        Path, typer.Argument(help="The data as it came; docs/how-to/import.md says what each is.")
    ],
    out: Annotated[Path, typer.Argument(help="The dataset folder to write.")],
    tags: Annotated[Path | None, typer.Option(help="Table of time or frame, text[, patient].")] = None,
    offset: Annotated[
        Offset, typer.Option(help="Where a tag lies in its segment; a centred one teaches position.")
    ] = Offset.random,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same segments.")] = 0,
    absent: Annotated[
        Absent, typer.Option(help="What a class becomes that a tag does not mention.")
    ] = Absent.absent,
    rules: Annotated[Path | None, typer.Option(help="A table of tag rules in place of ours.")] = None,
    media: Annotated[
        Media,
        typer.Option(
            help="Cut and mask the frames, or take files as they are, with all that is burnt into them."
        ),
    ] = Media.masked,
    view: Annotated[
        str | None, typer.Option(help="Name the lens view for the mask where it is not found.")
    ] = None,
    frames: Annotated[
        Path | None, typer.Option(help="Where the pixels lie, if not beside the labels.")
    ] = None,
    official_splits: Annotated[
        bool, typer.Option("--official-splits", help="Take over Kvasir-Capsule's, leak and all.")
    ] = False,
    keep_ids: Annotated[
        bool, typer.Option("--keep-ids", help="Keep patient and exam names; they are numbered otherwise.")
    ] = False,
    review: Annotated[
        Path | None,
        typer.Option(help="Also write every tag's outcome to this CSV. It holds the text: keep it safe."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the folder if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> int:
    """Turn a data set as it came into a dataset folder. Exit 3 if some sources failed; they are listed."""
    from devcem.labels.importers import Options, import_dataset

    if review is not None and review.resolve().is_relative_to(out.resolve()):
        raise UserError("the text of tags stays out of the dataset", review, "name a file elsewhere")
    options = Options(offset.value, seed, absent.value, tags, rules, keep_ids, official_splits, frames)
    place: AbstractContextManager[IO[str] | None] = nullcontext() if review is None else writing(review)
    with place as file:  # a place that cannot be written to fails before the work
        summary = import_dataset(format, src, out, options, media=media.value, view=view, overwrite=overwrite)
        if file is not None:
            _write_review(file, summary.tags)
    if as_json:
        emit(_for_machines(summary, out))
    else:
        _show(summary, out)
    for reason in dict.fromkeys(summary.failed.values()):
        names = ", ".join(source for source, why in summary.failed.items() if why == reason)
        print(f"devcem: failed: {names}: {reason}", file=sys.stderr)
    return SOME_FAILED if summary.failed else DONE


def _for_machines(summary: Summary, out: Path) -> dict[str, object]:
    """The summary without the tags' text: what is printed may end in a log."""
    tags = [
        {
            "line": tag.line,
            "labels": tag.outcome.labels,
            "unknown": tag.outcome.unknown,
            "denied": tag.outcome.negated,
            "review": tag.outcome.review,
        }
        for tag in summary.tags
    ]
    numbers = {key: value for key, value in vars(summary).items() if key != "tags"}
    return {"dataset": out, **numbers, "tags": tags, "to_review": len(summary.to_review)}


def _show(summary: Summary, out: Path) -> None:
    if summary.tags:
        _print(REVIEW, [_review_row(tag) for tag in summary.tags], "what was understood of every tag")
        print(f"{len(summary.to_review)} of {len(summary.tags)} tags need a look.\n")
    rows = [
        (name, count, summary.frames_by_class.get(name, ""))
        for name, count in summary.segments_by_class.items()
    ]
    _print(("class", "segments", "frames"), rows, "imported")
    if summary.source_counts:
        _print(("label", "count"), list(summary.source_counts.items()), "labels in the words of the source")
    known = "" if summary.labelled_frames is None else f", {summary.labelled_frames:,} with frame truth"
    print(
        f"{summary.segments:,} segments of {summary.patients:,} patients, {summary.frames:,} frames{known}."
    )
    for note in summary.notes:
        print(f"Note: {note}.")
    if summary.missing:
        print(f"Frames are missing: {summary.missing:,} of {summary.segments:,} segments have labels alone.")
    print(f"wrote {out}\n{RESEARCH_USE}")


def _print(header: Sequence[str], rows: Sequence[Sequence[object]], title: str) -> None:
    plain = not sys.stdout.isatty()
    table = Table(*header, box=box.MARKDOWN if plain else box.SIMPLE_HEAD, title=title, title_justify="left")
    for row in rows:
        table.add_row(*(Text(f"{cell:,}" if isinstance(cell, int) else str(cell)) for cell in row))
    show(table)
    print()


def _review_row(tag: Tag) -> tuple[object, ...]:
    found = tag.outcome
    groups = (found.labels, found.unknown, found.negated, found.unmatched, found.review)
    return (str(tag.line), found.text, *("; ".join(group) for group in groups))


def _write_review(file: IO[str], tags: Sequence[Tag]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(REVIEW)
    writer.writerows(_review_row(tag) for tag in tags)
