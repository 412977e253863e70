"""`galar`: complete frame truth of 80 exams, one table of 0/1 columns an exam."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from devcem.errors import UserError
from devcem.labels.dataset import Run, Segment
from devcem.labels.importers.collection import Collection, Footage, Options, class_of, ordered, stretches
from devcem.progress import track

OWN = {
    "lymphangioectasis": "lymphangiectasia",  # misspelt in the data
    "ced": "ibd",  # its name in older tables
}
PLACES = ("frame", "index", "section")  # no labels; `frame` names the pictures, `index` does not
TECHNICAL = ("bubbles", "dirt", "good view", "reduced view", "no view")  # annotated in a few exams only
FRAME = r"(?<![0-9.+-])([0-9]{1,18})(?:\.0+|\.png)?\s*$"  # 100, 100.0, frame_000100.PNG; never 12.5 or 1e+30
DEPTH = 3  # folders between the root and an exam's pictures


def read(src: Path, options: Options) -> Collection:
    tables = {int(p.stem): p for p in src.rglob("*.csv") if p.stem.isdigit()}
    if not tables:
        raise UserError("no tables such as 1.csv", src, "give the folder that holds Labels/")
    folders = dict(_exam_folders(options.frames or src, DEPTH))
    exams = {
        exam: _table(path) for exam, path in track(sorted(tables.items()), "exams read", total=len(tables))
    }
    columns = {name for table in exams.values() for name in table.columns} - set(PLACES)
    collection = Collection("Galar", ordered(class_of(c, OWN) for c in columns), [])
    unannotated = []
    for exam, table in exams.items():
        if not _add(collection, exam, table):
            unannotated.append(exam)
        if exam in folders:
            collection.media[f"{exam:03d}"] = Footage(folders[exam])
    if unannotated:
        collection.notes.append(
            f"bubbles, dirt and view are not annotated in {len(unannotated)} exams and unknown there"
        )
    return collection


def _add(collection: Collection, exam: int, table: pd.DataFrame) -> bool:
    """One segment over the exam; tells whether its technical labels were annotated."""
    names = [name for name in table.columns if name not in PLACES]
    marks = table[names].to_numpy(bool)  # [N,L]
    numbers = table["frame"].to_numpy(np.int64)
    technical = [name for name in names if name in TECHNICAL]
    annotated = bool(table[technical].to_numpy(bool).any()) if technical else False
    known = {class_of(name, OWN) for name in names if annotated or name not in TECHNICAL}
    unknown = tuple(c for c in collection.classes if c not in known)
    step = int(np.diff(numbers).min()) if len(numbers) > 1 else 1  # one exam counts by fives
    codes = marks @ (1 << np.arange(len(names), dtype=np.int64))
    segment = f"galar-{exam:03d}"
    meaning = np.array([class_of(name, OWN) for name in names])
    for part in stretches(numbers, codes, step):
        labels = ordered(meaning[marks[part.start]])
        first, last = int(numbers[part.start]), int(numbers[part.stop - 1])
        collection.runs.append(Run(segment, first, last + 1, labels, unknown))
    collection.counts.update({name: int(n) for name, n in zip(names, marks.sum(0), strict=True) if n})
    seen = ordered(meaning[marks.any(0)])
    first, last = int(numbers[0]), int(numbers[-1])
    collection.segments.append(
        Segment(segment, f"{exam:03d}", first, last + 1, f"galar-{exam:03d}", "", seen, unknown)
    )
    return annotated


def _table(path: Path) -> pd.DataFrame:
    """An exam's frames and labels, by ascending frame; names without stray spaces."""
    try:
        with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
            # index_col: else a cell too many in the first row shifts all columns by one
            table = pd.read_csv(path, encoding="utf-8-sig", skip_blank_lines=False, index_col=False)
        table = table.dropna(how="all")
    except (OSError, ValueError, pd.errors.ParserWarning) as error:
        raise UserError(f"the table cannot be read: {error}", path, "check the file") from error
    table.columns = table.columns.str.strip().str.lower()
    if "frame" not in table.columns or not len(table):
        raise UserError("no column frame, or no rows", path, "give one of Galar's tables of labels")
    digits = table["frame"].astype(str).str.extract(FRAME, flags=re.IGNORECASE)[0]
    _refuse(digits.isna() | digits.duplicated(), table["frame"], path, "is no frame number, or stands twice")
    result: dict[str, pd.Series[Any]] = {"frame": digits.astype(np.int64)}
    for name in table.columns:
        if name not in PLACES and not name.startswith("unnamed"):
            values = pd.to_numeric(table[name], errors="coerce")
            _refuse(~values.isin([0, 1]), table[name], path, "is neither 0 nor 1")
            result[name] = values == 1
    return pd.DataFrame(result).sort_values("frame")


def _refuse(wrong: pd.Series[bool], column: pd.Series[Any], path: Path, why: str) -> None:
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        line = int(wrong.index[row]) + 2  # the index counts blank lines, too
        what = f"'{column.iloc[row]}' in column {column.name} {why}"
        raise UserError(what, f"{path}, line {line}", "correct the value")


def _exam_folders(folder: Path, depth: int) -> list[tuple[int, Path]]:
    """Folders named 001 or 1; what lies inside one of them is not looked at."""
    found: list[tuple[int, Path]] = []
    with os.scandir(folder) as entries:
        below = sorted(entry.path for entry in entries if entry.is_dir())
    for path in map(Path, below):
        if path.name.isdigit():
            found.append((int(path.name), path))
        elif depth:
            found += _exam_folders(path, depth - 1)
    return found
