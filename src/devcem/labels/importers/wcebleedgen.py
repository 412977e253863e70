"""`wcebleedgen`: bleeding and non-bleeding stills, many of them consecutive frames of the same video.

Read from a frames.csv that knows their sources, or from the set's own tree, which does not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from devcem.errors import UserError
from devcem.labels.dataset import Segment
from devcem.labels.importers.collection import Collection, Options, Pictures, runs_of
from devcem.labels.importers.tables import read_table, whole

CLASSES = ("haemorrhage",)  # "non-bleeding" denies that and nothing else: it is not `normal`
SUFFIXES = (".png", ".jpg", ".jpeg")


def read(src: Path, options: Options) -> Collection:
    collection = Collection("WCEBleedGen", CLASSES, [], licence="CC BY 4.0")
    if src.is_file() or (src / "frames.csv").is_file():
        _read_table(collection, src if src.is_file() else src / "frames.csv", options)
    else:
        _read_tree(collection, src)
    collection.notes.append("boxes and pixel masks are left out: a dataset folder speaks of frames")
    return collection


def _read_table(collection: Collection, table: Path, options: Options) -> None:
    root = options.frames or table.parent
    files = {path.name: path for path in root.rglob("*") if path.suffix.lower() in SUFFIXES}
    groups: dict[tuple[str, str], dict[int, tuple[str, bool]]] = defaultdict(dict)
    for line, row in read_table(table, ["file", "bleeding", "num", "source", "segment"]):
        if row["bleeding"] not in ("0", "1"):
            what = f"'{row['bleeding']}' in column bleeding is neither 0 nor 1"
            raise UserError(what, f"{table}, line {line}", "correct the value")
        number = whole(row["num"], f"{table}, line {line}")
        group = groups[row["source"], row["segment"]]  # a segment's number may stand in two sources
        if number in group:
            raise UserError(f"frame {number} stands twice", f"{table}, line {line}", "drop one of the rows")
        group[number] = (row["file"], row["bleeding"] == "1")
    for (source, segment), frames in groups.items():
        pictures = {n: files[file] for n, (file, _) in frames.items() if file in files}
        marks = {n: bleeding for n, (_, bleeding) in frames.items()}
        _add(collection, f"{source}-{segment:0>4}", source, marks, pictures)
    collection.notes.append(
        "a source is taken as a patient: a split at random would put near-copies on both sides"
    )


def _read_tree(collection: Collection, root: Path) -> None:
    found = 0
    for kind in ("bleeding", "non-bleeding"):
        folder = next((p for p in root.rglob("*") if p.is_dir() and p.name.lower() == kind), None)
        images = folder and next((p for p in folder.iterdir() if p.name.lower() == "images"), None)
        for path in sorted(images.iterdir() if images else []):
            if path.suffix.lower() in SUFFIXES:
                found += 1
                digits = re.findall(r"[0-9]+", path.stem)
                number = int(digits[-1]) if digits else found
                name = f"{kind}-{number:04d}"
                _add(collection, name, f"unknown-{kind}", {number: kind == "bleeding"}, {number: path})
    if not found:
        raise UserError("no frames.csv and no bleeding/Images", root, "give the folder that holds either")
    collection.notes.append(
        "the tree does not say which video a still comes from: no split of it can be trusted"
    )


def _add(
    collection: Collection, name: str, patient: str, marks: dict[int, bool], pictures: dict[int, Path]
) -> None:
    labels: dict[int, tuple[str, ...]] = {n: CLASSES if bleeding else () for n, bleeding in marks.items()}
    seen = CLASSES if any(marks.values()) else ()
    collection.segments.append(Segment(name, name, min(marks), max(marks) + 1, patient, "", seen))
    collection.runs += runs_of(name, labels)
    if pictures:
        collection.media[name] = Pictures(pictures)
    for bleeding in marks.values():
        collection.counts["bleeding" if bleeding else "non-bleeding"] += 1
