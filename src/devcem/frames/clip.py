"""A stretch of a source as a model sees it: what is burnt in is masked, and the lens view fills the square.

The decoder scales, so that no more than a few frames are ever in memory at the source's own size.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np
import numpy.typing as npt

from devcem.frames.overlay import View, mask_overlay, template
from devcem.frames.pictures import rgb
from devcem.frames.source import Frames, FrameSource, Ordinals
from devcem.frames.view import view_of

CHUNK = 32  # frames decoded at once
Numbers = npt.NDArray[np.int64]

_found: dict[tuple[Path, int], View] = {}  # training draws from the same sources in every epoch


@dataclass(frozen=True)
class Clip:
    """Frames of a stretch, with the number and the second of each."""

    frames: Frames  # uint8 [T,S,S,3]
    numbers: Numbers  # [T]
    times: npt.NDArray[np.float64]  # [T]


def read_clip(
    source: FrameSource,
    size: int,
    start: int | None = None,
    stop: int | None = None,
    *,
    ordinals: Ordinals | None = None,
    view: View | str | None = None,
) -> Clip:
    """Frames with start <= number < stop, or those at *ordinals*, as squares of *size* pixels.

    Size 0 leaves the view as large as it was filmed. *view* is a device template's name, "frame" where
    nothing is burnt in, or None to find it.
    """
    lens = lens_view(source, view)
    chosen = stretch(source, start, stop) if ordinals is None else np.array(ordinals, np.int64).reshape(-1)
    first = read_view(source, chosen[:CHUNK], size, lens)
    frames = np.empty((len(chosen), *first.shape[1:]), np.uint8)
    frames[:CHUNK] = first
    for at in range(CHUNK, len(chosen), CHUNK):
        frames[at : at + CHUNK] = read_view(source, chosen[at : at + CHUNK], size, lens)
    return Clip(frames, source.numbers[chosen], source.times[chosen])


def stretch(source: FrameSource, start: int | None = None, stop: int | None = None) -> Numbers:
    """Ordinals of the frames with start <= number < stop."""
    first = 0 if start is None else int(np.searchsorted(source.numbers, start))
    last = len(source) if stop is None else int(np.searchsorted(source.numbers, stop))
    return np.arange(first, last)


def read_view(source: FrameSource, ordinals: Ordinals, size: int, view: View) -> Frames:
    """The view alone, black where the lens does not see: uint8 [T,size,size,3]."""
    frames = source.read(ordinals, _decoded_size(view, size))
    frames = view.crop(mask_overlay(frames, view, out=frames))
    height, width = frames.shape[1:3]
    if not size or (0 <= height - size <= 1 and 0 <= width - size <= 1):
        return frames[:, : size or None, : size or None]  # scaling by a single pixel would blur
    scaled = np.empty((len(frames), size, size, 3), np.uint8)
    for place, frame in enumerate(frames):
        scaled[place] = rgb(frame, size, size)
    return scaled


def lens_view(source: FrameSource, view: View | str | None = None) -> View:
    """The view by a template's name, or found; what was found is remembered until the files change."""
    if isinstance(view, View):
        return view.at(source.height, source.width)  # refused for another shape: the mask would miss the text
    if view is not None:
        return template(view, source.height, source.width)
    key = (source.path, _state(source.path))
    if key not in _found:
        _found[key] = view_of(source)
    return _found[key]


def _decoded_size(view: View, size: int) -> tuple[int, int] | None:
    """(height, width) of frames whose view is *size* pixels or hardly more; None for the source's own.

    A view can be found again only in frames of the same shape, so that scaling up, and the rounding of small
    sizes, are left to a second step.
    """
    top, left, bottom, right = view.box
    scale = max(size / (bottom - top), size / (right - left))
    if not size or scale > 1:
        return None
    if view.kind == "frame" and (bottom - top, right - left) == (view.height, view.width):
        return size, size
    height, width = ceil(view.height * scale), ceil(view.width * scale)
    return (height, width) if abs(height * view.width / (width * view.height) - 1) < 0.01 else None


def _state(path: Path) -> int:
    """Another one when a file of the source has changed."""
    if not path.is_dir():
        status = path.stat()
        return hash((status.st_size, status.st_mtime_ns))
    with os.scandir(path) as files:
        seen = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hash(tuple(sorted(seen)))
