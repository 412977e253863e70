"""`kvasir-capsule`: labels on scattered frames of 43 videos. An unlabelled frame is unknown, never normal."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from devcem.errors import UserError
from devcem.labels.dataset import Segment
from devcem.labels.importers.collection import (
    Collection,
    Options,
    Pictures,
    class_of,
    ordered,
    runs_of,
    stretches,
)
from devcem.labels.importers.tables import read_table, whole

GAP = 25  # unlabelled frames that do not yet end a segment
OWN = {  # names differ between metadata.csv and the splits
    "foreign-bodies": "foreign-body",
    "ileo-cecal-valve": "ileocecal-valve",
    "reduced-mucosal-view": "reduced-view",
}
NAME = re.compile(r"([0-9a-f]{16})_([0-9]+)\.jpg", re.IGNORECASE)

Frame = tuple[str, int]  # video, frame number


def read(src: Path, options: Options) -> Collection:
    folder = src if src.is_dir() else src.parent
    metadata = src if src.is_file() else _one(folder, "*metadata.csv")
    labels: dict[Frame, set[str]] = defaultdict(set)
    found: set[tuple[Frame, str]] = set()
    rows = 0
    for line, row in read_table(metadata, ["filename", "video_id", "frame_number", "finding_class"]):
        rows += 1
        frame = (row["video_id"], whole(row["frame_number"], f"{metadata}, line {line}"))
        found.add((frame, row["finding_class"]))  # two boxes of one class are two rows
        labels[frame].add(class_of(row["finding_class"], OWN))
    collection = Collection("Kvasir-Capsule", ordered(set().union(*labels.values())), [], licence="CC BY 4.0")
    collection.counts = Counter(name for _, name in found)
    collection.notes.append(
        f"{rows:,} rows, {len(found):,} labels, {len(labels):,} labelled frames; "
        "frames without a label are unknown, never normal"
    )
    splits = _splits(folder, labels, collection)
    pictures = _pictures(options.frames or folder)
    for video in sorted({video for video, _ in labels}):
        frames = {n: ordered(names) for (v, n), names in labels.items() if v == video}
        _add_video(
            collection, video, frames, splits if options.official_splits else {}, pictures.get(video, {})
        )
    return collection


def _add_video(
    collection: Collection,
    video: str,
    frames: dict[int, tuple[str, ...]],
    splits: dict[Frame, str],
    pictures: dict[int, Path],
) -> None:
    numbers = np.array(sorted(frames), np.int64)
    for part in stretches(numbers, np.zeros_like(numbers), GAP + 1):
        inside = {int(n): frames[int(n)] for n in numbers[part]}
        start, stop = min(inside), max(inside) + 1
        labels = ordered(set().union(*inside.values()))
        whole_known = len(inside) == stop - start
        unknown = () if whole_known else tuple(c for c in collection.classes if c not in labels)
        split = Counter(splits.get((video, n), "") for n in inside).most_common(1)[0][0]
        name = f"{video}-{start:06d}"
        collection.segments.append(Segment(name, video, start, stop, video, split, labels, unknown))
        collection.runs += runs_of(name, inside)
    if pictures:
        collection.media[video] = Pictures(pictures)


def _splits(folder: Path, labels: dict[Frame, set[str]], collection: Collection) -> dict[Frame, str]:
    """The official halves, split 0 as train and split 1 as test, and what is wrong with them."""
    found: dict[Frame, str] = {}
    videos: list[set[str]] = []
    differ = 0
    for number, split in ((0, "train"), (1, "test")):
        paths = sorted(folder.rglob(f"*split_{number}.csv"))
        if not paths:
            continue
        videos.append(set())
        for line, row in read_table(paths[0], ["filename", "label"]):
            match = NAME.fullmatch(row["filename"])
            if match is None:
                raise UserError(f"'{row['filename']}' is not VIDEO_FRAME.jpg", f"{paths[0]}, line {line}")
            frame = (match[1].lower(), int(match[2]))
            found[frame] = split
            videos[-1].add(frame[0])
            differ += class_of(row["label"], OWN) not in labels.get(frame, set())
    if differ:
        collection.notes.append(f"{differ:,} labels of the official splits differ from those of metadata.csv")
    if len(videos) == 2:
        both = videos[0] & videos[1]
        collection.notes.append(
            f"leak: {len(both)} of the {len(videos[0])} videos of official split 0 stand in split 1, too"
        )
    return found


def _pictures(folder: Path) -> dict[str, dict[int, Path]]:
    """Video -> frame number -> file, wherever below the folder; sub-folders are named by class."""
    found: dict[str, dict[int, Path]] = defaultdict(dict)
    for path in folder.rglob("*.jpg"):
        if match := NAME.fullmatch(path.name):
            found[match[1].lower()][int(match[2])] = path
    return found


def _one(folder: Path, pattern: str) -> Path:
    paths = sorted(folder.rglob(pattern))
    kvasir = [path for path in paths if "kvasir" in path.name] or paths
    if len(kvasir) != 1:
        raise UserError(
            f"{len(kvasir)} files {pattern}, one is needed", folder, "name the metadata.csv itself"
        )
    return kvasir[0]
