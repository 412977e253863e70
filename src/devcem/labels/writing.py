"""A dataset into a folder."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from devcem.files import building, write_text, writing
from devcem.labels.dataset import Dataset, Run
from devcem.labels.description import FILE
from devcem.labels.reading import load_dataset, load_runs
from devcem.labels.rows import RUN_COLUMNS, RUNS, SEGMENT_COLUMNS, SEGMENTS


def save_dataset(dataset: Dataset, runs: Iterable[Run] | None, folder: str | Path) -> None:
    """Write dataset.yaml, segments.csv and, with *runs*, frames.csv; then read them back.

    A new folder appears whole or not at all. A folder that exists, as inside a `building` block beside
    media, gets the files one by one; dataset.yaml comes last, and without it a folder is no dataset.
    """
    folder = Path(folder)
    if folder.exists():
        _save(dataset, runs, folder)
        return
    with building(folder, {"dataset": dataset.name}) as partial:
        _save(dataset, runs, partial)
        (partial / "recipe.json").unlink()  # belongs to `building`: nothing here could be taken up again


def _save(dataset: Dataset, runs: Iterable[Run] | None, folder: Path) -> None:
    (folder / FILE).unlink(missing_ok=True)
    (folder / RUNS).unlink(missing_ok=True)
    cameras = any(segment.camera for segment in dataset.segments)
    columns = (*SEGMENT_COLUMNS, *(["camera"] if cameras else []))
    _write_csv(folder / SEGMENTS, columns, dataset.segments)
    if runs is not None:
        _write_csv(folder / RUNS, RUN_COLUMNS, runs)
    description = {
        "format": 1,
        "name": dataset.name,
        "licence": dataset.licence,
        "classes": list(dataset.classes),
        "aliases": dict(dataset.aliases),
        "window": dataset.window,
        "synthetic": dataset.synthetic,
    }
    write_text(folder / FILE, yaml.safe_dump(description, sort_keys=False, allow_unicode=True, width=110))
    written = load_dataset(folder)
    if runs is not None:
        load_runs(written)


def _write_csv(path: Path, columns: Sequence[str], things: Iterable[object]) -> None:
    with writing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for thing in things:
            values = (getattr(thing, column) for column in columns)
            writer.writerow([";".join(v) if isinstance(v, tuple) else v for v in values])
