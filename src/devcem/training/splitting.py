"""Who trains and who judges."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace

import numpy as np

from devcem.encoders import SourceDigests
from devcem.errors import UserError
from devcem.labels import Dataset, Segment, split_dataset
from devcem.progress import say
from devcem.training.settings import Data


@dataclass(frozen=True)
class Sides:
    train: list[Segment]
    validation: list[Segment]
    optimistic: bool  # a patient may lie on both sides


def sides(dataset: Dataset, data: Data, seed: int) -> Sides:
    """The splits `train` and `val`; without `val`, a share of train is cut off, by patient where that works.

    What the dataset calls test is never looked at.
    """
    train = [segment for segment in dataset.segments if segment.split == "train"]
    validation = [segment for segment in dataset.segments if segment.split == "val"]
    table = dataset.root / "segments.csv"
    if not train:
        raise UserError("no segment is in the split train", table, f"run devcem data split {dataset.root}")
    if not any(segment.labels for segment in train):
        remedy = "fill in the column labels, or split anew with devcem data split"
        raise UserError("no segment of the split train has a label: there is nothing to learn", table, remedy)
    if validation:
        shared = {segment.patient for segment in train} & {segment.patient for segment in validation}
        return _told(dataset, Sides(train, validation, bool(shared)))
    by = data.validation_by
    if by == "patient" and (nameless := [segment.segment for segment in train if not segment.patient]):
        what = f"{len(nameless)} segments to learn from have no patient, the first is {nameless[0]}"
        raise UserError(what, table, "name their patients, or set data.validation_by=video")
    if by == "patient" and len({segment.patient for segment in train}) < 2:
        say("all training segments are of one patient: validation is cut by video, which is optimistic")
        by = "video"
    if len(train) < 2:
        raise UserError(
            "one segment cannot both train and judge", dataset.root, "add segments to the split train"
        )
    cut = split_dataset(replace(dataset, segments=train), by=by, test=data.validation, seed=seed)
    judges = [segment for segment in cut.segments if segment.split == "test"]
    learners = [segment for segment in cut.segments if segment.split == "train"]
    optimistic = bool({s.patient for s in judges} & {s.patient for s in learners})
    return _told(dataset, Sides(learners, [replace(s, split="train") for s in judges], optimistic))


def _told(dataset: Dataset, found: Sides) -> Sides:
    """Says so where validation is of little use, and where it takes a class away from train."""
    (learnt, _), (labels, known) = (dataset.targets(side) for side in (found.train, found.validation))
    if not ((labels & known).any(0) & (~labels & known).any(0)).any():
        say("validation has no class with and without: its loss alone chooses, and thresholds stay 0.5")
    if lost := [dataset.classes[k] for k in np.flatnonzero(labels.any(0) & ~learnt.any(0))]:
        say(f"only validation has videos with {', '.join(lost)}, which can't be learnt")
    return found


def media_digest(dataset: Dataset, sides: Sides, digests: SourceDigests) -> str:
    """Changes with any byte of the videos and pictures that the run learns from or is judged by."""
    sources = sorted({segment.source for segment in (*sides.train, *sides.validation)})
    content = [[source, digests.of(dataset.root / "media" / source)] for source in sources]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def fingerprint(dataset: Dataset, sides: Sides) -> str:
    """Changes with any class, segment or label that the run learns from or is judged by."""
    rows = [asdict(segment) for segment in (*sides.train, *sides.validation)]
    content = {"classes": dataset.classes, "segments": rows}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
