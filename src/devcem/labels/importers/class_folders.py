"""`folder`: one sub-folder a class, with clips in it, or with a folder a patient that holds the clips."""

from __future__ import annotations

import filecmp
from collections import defaultdict
from pathlib import Path

from devcem.errors import UserError
from devcem.frames import open_source
from devcem.labels.classes import CLASSES
from devcem.labels.dataset import Segment
from devcem.labels.importers.collection import Collection, Footage, Options, class_of, ordered, reason
from devcem.progress import track

CLIPS = {".avi", ".mp4", ".mpg", ".mpeg", ".wmv", ".mkv", ".mov", ".m4v", ".dcm"}
PICTURES = {".jpg", ".jpeg", ".png"}


def read(src: Path, options: Options) -> Collection:
    if not src.is_dir():
        raise UserError("not a folder", src, "give a folder with one sub-folder a class")
    found: dict[Path, list[tuple[str, Path]]] = defaultdict(list)  # name below the class -> (class, clip)
    for folder in sorted(p for p in src.iterdir() if p.is_dir() and not p.name.startswith(".")):
        for clip in _clips(folder):
            found[clip.relative_to(folder)].append((class_of(folder.name), clip))
    if not found:
        raise UserError(
            "no clips in sub-folders", src, "one sub-folder a class, clips or picture folders in it"
        )
    names = {name for clips in found.values() for name, _ in clips}
    strange = sorted(names - set(CLASSES))
    collection = Collection("folder", ordered(names), [])
    if strange:
        collection.notes.append(f"not among the canonical classes: {', '.join(strange)}")
    patients: dict[str, str] = {}
    clips = [(name, same) for name, group in sorted(found.items()) for same in _same(group)]
    for number, (name, same) in enumerate(track(clips, "clips", total=len(clips)), 1):
        _add(collection, name, same, number, patients, options)
    if all(len(name.parts) == 1 for name in found):
        collection.notes.append("no folders by patient: each clip counts as a patient of its own")
    return collection


def _add(
    collection: Collection,
    name: Path,
    same: list[tuple[str, Path]],
    number: int,
    patients: dict[str, str],
    options: Options,
) -> None:
    clip = same[0][1]
    patient = name.parts[0] if len(name.parts) > 1 else f"{name.stem} {number}"
    if options.keep_ids:
        patient = patient if len(name.parts) > 1 else name.stem
    else:
        patient = patients.setdefault(patient, f"P{len(patients) + 1:03d}")
    segment = f"clip-{number:04d}"
    source = segment + (clip.suffix.lower() if clip.is_file() else "")
    labels = ordered(label for label, _ in same)
    collection.counts.update(labels)
    try:
        numbers = open_source(clip).numbers
    except UserError as error:  # the length of a clip that cannot be read is not known
        collection.failed[str(clip)] = reason(error, clip)
        return
    start, stop = int(numbers[0]), int(numbers[-1]) + 1
    collection.segments.append(Segment(segment, source, start, stop, patient, "", labels))
    collection.media[source] = Footage(clip)


def _clips(folder: Path) -> list[Path]:
    """Video files, and folders that hold pictures, one level down or two."""
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if (path.is_file() and path.suffix.lower() in CLIPS) or (
            path.is_dir() and any(p.suffix.lower() in PICTURES for p in path.iterdir())
        ):
            found.append(path)
        elif path.is_dir() and path.parent == folder:
            found += [p for p in _clips(path) if p.parent == path]
    return found


def _same(group: list[tuple[str, Path]]) -> list[list[tuple[str, Path]]]:
    """Equal files under the same name in several classes are one clip with several labels."""
    clips: list[list[tuple[str, Path]]] = []
    for label, path in group:
        for clip in clips:
            first = clip[0][1]
            if path.is_file() and first.is_file() and filecmp.cmp(path, first, shallow=False):
                clip.append((label, path))
                break
        else:
            clips.append([(label, path)])
    return clips
