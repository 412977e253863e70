"""The pixels of a collection into media/: masked and cut by default, so that no burnt-in text is stored."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import simplejpeg
from PIL import Image

from devcem.errors import UserError
from devcem.files import PARTIAL, PlaceError, contained, writing
from devcem.frames import open_source
from devcem.frames.overlay import View, mask_overlay, template
from devcem.frames.source import Frames
from devcem.frames.stamps import times_file
from devcem.frames.view import SAMPLES, find_view, view_of
from devcem.labels.dataset import Segment
from devcem.labels.importers.collection import Collection, Footage, Pictures
from devcem.progress import track

Policy = Literal["masked", "link", "copy", "none"]
QUALITY = 95  # of the JPEGs that masked frames are stored as
CHUNK = 64  # frames in memory at once


def place(collection: Collection, media: Path, policy: Policy, view: str | None) -> list[Segment]:
    """Bring in the pixels; returns the segments with the source that each has now.

    A source whose pixels cannot be had, or not safely, goes to `collection.failed`, and the rest goes on.
    """
    if policy == "none" or not collection.media:
        return collection.segments
    media.mkdir(exist_ok=True)
    if policy == "masked":
        return _place_masked(collection, media, view)
    for source, pixels in track(collection.media.items(), "sources", total=len(collection.media)):
        _place_whole(pixels, contained(media, source), hard=policy == "link")
    return collection.segments


def _place_masked(collection: Collection, media: Path, view: str | None) -> list[Segment]:
    """One folder of JPEGs a segment, named by frame number. A folder that exists is whole."""
    views = _picture_views(collection, view)
    segments: dict[str, Segment] = {}
    by_source: dict[str, list[Segment]] = defaultdict(list)
    for segment in collection.segments:
        by_source[segment.source].append(segment)
    for source, group in track(by_source.items(), "sources masked", total=len(by_source)):
        pixels = collection.media.get(source)
        if pixels is None or source in collection.failed:
            continue
        try:
            if isinstance(pixels, Footage):
                placed = _cut_footage(pixels, group, media, view)
            else:
                placed = [s for s in group if _cut_pictures(pixels, s, media, views[s.patient])]
        except PlaceError:
            raise
        except UserError as error:
            collection.failed[source] = str(error)
            _clear(group, media)
            continue
        segments |= {s.segment: replace(s, source=s.segment) for s in placed}
    return [segments.get(s.segment, s) for s in collection.segments]


def _cut_footage(footage: Footage, group: list[Segment], media: Path, name: str | None) -> list[Segment]:
    timed = footage.path.is_file() or times_file(footage.path).is_file()
    placed: list[Segment] = []
    with open_source(footage.path) as source:
        view = template(name, source.height, source.width) if name else view_of(source)
        for segment in group:
            ordinals = np.flatnonzero((source.numbers >= segment.start) & (source.numbers < segment.stop))
            if not len(ordinals):
                continue
            if timed:
                with writing(media / f"{segment.segment}.times.csv") as file:
                    file.write("number,seconds\n")
                    file.writelines(f"{source.numbers[i]},{source.times[i]:.6f}\n" for i in ordinals)
            parts = np.split(ordinals, range(CHUNK, len(ordinals), CHUNK))
            chunks = ((source.numbers[part], source.read(part)) for part in parts)
            _write_masked(chunks, view, contained(media, segment.segment))
            placed.append(segment)
    return placed


def _cut_pictures(pixels: Pictures, segment: Segment, media: Path, view: View) -> bool:
    """Whether the segment has any."""
    numbers = [n for n in sorted(pixels.files) if segment.start <= n < segment.stop]
    frames = ((np.array([n]), _picture(pixels.files[n])[None]) for n in numbers)
    if numbers:
        _write_masked(frames, view, contained(media, segment.segment))
    return bool(numbers)


def _clear(group: Sequence[Segment], media: Path) -> None:
    """Take back what was written of a source that failed."""
    for segment in group:
        for name in (segment.segment, f".{segment.segment}{PARTIAL}"):
            shutil.rmtree(media / name, ignore_errors=True)
        (media / f"{segment.segment}.times.csv").unlink(missing_ok=True)


def _write_masked(chunks: Iterator[tuple[npt.NDArray[np.int64], Frames]], view: View, folder: Path) -> None:
    if folder.exists():  # from before a kill
        return
    partial = folder.with_name(f".{folder.name}{PARTIAL}")
    partial.mkdir()
    for numbers, frames in chunks:
        for number, frame in zip(numbers, mask_overlay(frames, view), strict=True):
            data = simplejpeg.encode_jpeg(np.ascontiguousarray(frame), QUALITY, colorsubsampling="444")
            (partial / f"{number:06d}.jpg").write_bytes(data)
    partial.replace(folder)


def _picture_views(collection: Collection, name: str | None) -> dict[str, View]:
    """The view of each patient's pictures; a still alone cannot show what in it is burnt in."""
    files: dict[str, list[Path]] = defaultdict(list)
    sources: dict[str, dict[str, None]] = defaultdict(dict)  # in their order
    for segment in collection.segments:
        pixels = collection.media.get(segment.source)
        if isinstance(pixels, Pictures):
            files[segment.patient] += (
                f for n, f in pixels.files.items() if segment.start <= n < segment.stop
            )
            sources[segment.patient][segment.source] = None
    views: dict[str, View] = {}
    for patient, paths in files.items():
        chosen = [paths[i] for i in np.unique(np.linspace(0, len(paths) - 1, SAMPLES).round().astype(int))]
        try:
            frames = [_picture(path) for path in chosen]
            same = np.stack([f for f in frames if f.shape == frames[0].shape])
            views[patient] = template(name, *same.shape[1:3]) if name else find_view(same)
        except UserError as error:
            collection.failed |= dict.fromkeys(sources[patient], f"{paths[0].parent}: {error}")
    return views


def _picture(path: Path) -> npt.NDArray[np.uint8]:
    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("RGB"))
    except (OSError, Image.DecompressionBombError) as error:
        raise UserError(f"the picture {path.name} cannot be read", path, "mend or remove it") from error


def _place_whole(pixels: Footage | Pictures, target: Path, *, hard: bool) -> None:
    files: dict[Path, Path] = {}  # where to -> where from
    if isinstance(pixels, Pictures):
        files = {target / f"{number:06d}{path.suffix.lower()}": path for number, path in pixels.files.items()}
    elif pixels.path.is_dir():
        files = {target / path.name: path for path in pixels.path.iterdir() if path.is_file()}
    else:
        files = {target: pixels.path}
    for to, path in files.items():
        to.parent.mkdir(parents=True, exist_ok=True)
        _place_file(path, to, hard=hard)
    if isinstance(pixels, Footage) and times_file(pixels.path).is_file():
        _place_file(times_file(pixels.path), times_file(target), hard=hard)


def _place_file(path: Path, target: Path, *, hard: bool) -> None:
    if target.exists():  # from before a kill
        return
    if hard:
        try:
            os.link(path.resolve(), target)
            return
        except OSError:  # another disk, or a file system without links
            pass
    with path.open("rb") as source, writing(target, "wb") as file:
        shutil.copyfileobj(source, file)
