"""`capsule-vision`: the stills of the Capsule Vision 2024 challenge, 10 one-hot columns in .xlsx files."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path, PureWindowsPath
from zipfile import BadZipFile

from openpyxl import load_workbook

from devcem.errors import UserError
from devcem.labels.dataset import Run, Segment
from devcem.labels.importers.collection import Collection, Options, Pictures, class_of, ordered

SPLITS = {"training": "train", "validation": "val"}
VIDEO = re.compile(r"([0-9a-f]{16})_[0-9]+")  # a still from Kvasir-Capsule


def read(src: Path, options: Options) -> Collection:
    books = {split: sorted(src.rglob(f"*{split}_data.xlsx")) for split in SPLITS}
    if src.is_file() or not any(books.values()):
        raise UserError(
            "no training_data.xlsx or validation_data.xlsx", src, "give the folder that holds them"
        )
    collection = Collection("Capsule Vision 2024", (), [])
    classes: set[str] = set()
    sides: dict[str, set[str]] = defaultdict(set)  # video -> splits
    for split, paths in books.items():
        for path in paths[:1]:
            classes |= _read_book(collection, path, split, options.frames or path.parent, sides)
    collection.classes = ordered(classes)
    both = sum(len(found) > 1 for found in sides.values())
    collection.notes += [
        f"leak: {both} of {len(sides)} videos of Kvasir-Capsule stand in training and validation",
        "it contains stills of Kvasir-Capsule, SEE-AI and KID: do not mix it with those sets",
    ]
    return collection


def _read_book(
    collection: Collection, path: Path, split: str, root: Path, sides: dict[str, set[str]]
) -> set[str]:
    try:
        sheet = load_workbook(path, read_only=True).worksheets[0]  # the second sheet holds totals
    except (BadZipFile, KeyError) as error:  # no archive, or one without a workbook in it
        raise UserError("this is not an Excel workbook", path, "give the challenge's own file") from error
    rows = sheet.iter_rows(values_only=True)
    header = [str(cell or "").strip() for cell in next(rows, ())]
    if header[:2] != ["image_path", "Dataset"]:
        raise UserError(
            "the columns do not begin with image_path, Dataset", path, "give the challenge's own file"
        )
    names = [class_of(name) for name in header[2:]]
    for line, (image, origin, *marks) in enumerate(rows, 2):
        if image is None:
            continue
        if any(mark not in (0, 1) for mark in marks) or sum(marks) == 0:
            raise UserError(
                "the label columns hold other than 0 and 1, or no 1",
                f"{path}, line {line}",
                "mark its classes with 1, all others with 0",
            )
        file = PureWindowsPath(str(image))  # backslashes
        match = VIDEO.fullmatch(file.stem)
        patient = match[1] if match else str(origin)
        if match:
            sides[patient].add(split)
        labels = ordered(name for name, mark in zip(names, marks, strict=True) if mark)
        collection.counts.update(name for name, mark in zip(header[2:], marks, strict=True) if mark)
        segment = f"{split}-{line - 1:05d}"
        collection.segments.append(Segment(segment, segment, 0, 1, patient, SPLITS[split], labels))
        collection.runs.append(Run(segment, 0, 1, labels))
        if (picture := root.joinpath(*file.parts)).is_file():
            collection.media[segment] = Pictures({0: picture})
    return set(names)
