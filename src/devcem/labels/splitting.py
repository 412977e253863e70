"""train, test and val: every class in its share everywhere; whole patients on one side, or single videos."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from devcem.errors import UserError
from devcem.files import writing
from devcem.labels.dataset import Dataset, Segment
from devcem.labels.problems import Problem
from devcem.labels.rows import SEGMENT_COLUMNS, SEGMENTS
from devcem.labels.stratifying import Floats, Sides, deal, needed_sides, totals
from devcem.labels.table import read_table

By = Literal["patient", "video"]


@dataclass(frozen=True)
class Split:
    """The segments with their new splits, and why a class is not on every side."""

    segments: list[Segment]
    reasons: dict[str, str]


def split_dataset(
    dataset: Dataset, by: By = "patient", test: float = 0.5, val: float = 0.0, seed: int = 0
) -> Split:
    """Deal all segments out to train, test and, where *val* > 0, val; the shares are of all segments.

    A class that two groups carry lies on both train and test wherever that is possible, one that three carry
    on val too. A video is a segment.
    """
    shares = {"train": 1 - test - val, "test": test, **({"val": val} if val else {})}
    if not all(share > 1e-9 for share in shares.values()):  # nan is above nothing
        message = f"shares of {test:g} for test and {val:g} for val leave nothing for a side"
        raise UserError(message, None, "choose shares above 0 that sum to less than 1")
    keys = [segment.patient if by == "patient" else segment.segment for segment in dataset.segments]
    if "" in keys:
        nameless = dataset.segments[keys.index("")].segment
        message = f"the segment '{nameless}' has no patient"
        raise UserError(message, dataset.root / SEGMENTS, "name the patient, or split --by video")
    groups = {key: index for index, key in enumerate(dict.fromkeys(keys))}
    if len(groups) < len(shares):
        message = f"{len(groups)} {by}{'' if len(groups) == 1 else 's'} cannot lie on {len(shares)} sides"
        remedy = "add data, or split --by video" if by == "patient" else "add data"
        raise UserError(message, dataset.root / SEGMENTS, remedy)
    member = np.array([groups[key] for key in keys])
    labels, _ = dataset.targets()
    counts = np.zeros((len(groups), len(dataset.classes) + 1))
    np.add.at(counts, member, np.hstack([labels, np.ones((len(labels), 1))]))
    sides = deal(counts, list(shares.values()), seed)
    names = list(shares)
    segments = [replace(s, split=names[sides[g]]) for s, g in zip(dataset.segments, member, strict=True)]
    return Split(segments, _reasons(dataset.classes, counts, sides, names, by))


def write_splits(dataset: Dataset, segments: list[Segment]) -> None:
    """Put the splits into segments.csv; every other cell, column and the order of rows stay as they are."""
    problems: list[Problem] = []
    path = dataset.root / SEGMENTS
    table = read_table(path, problems, SEGMENT_COLUMNS)
    split_of = {segment.segment: segment.split for segment in segments}
    with writing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        for row in table.rows:
            cells = list(row.cells)
            cells[table.columns["split"]] = split_of[cells[table.columns["segment"]].strip()]
            writer.writerow(cells)


def _reasons(
    classes: tuple[str, ...], counts: Floats, sides: Sides, names: list[str], by: By
) -> dict[str, str]:
    held = totals(counts, sides, len(names))  # [P,C]
    needed = needed_sides(counts, len(names))
    reasons = {}
    for index, name in enumerate(classes):
        absent = [names[p] for p in range(len(names)) if held[p, index] == 0]
        groups = int((counts[:, index] > 0).sum())
        if not groups:
            reasons[name] = "no video carries it"
        elif any(needed[names.index(side), index] for side in absent):
            reasons[name] = f"no deal of whole {by}s brings it and all other classes to every side"
        elif absent:
            reasons[name] = f"only {groups} {by}{'' if groups == 1 else 's'} for {len(names)} sides"
    return reasons
