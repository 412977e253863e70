"""The sources of a dataset: are they there, and do they hold the frames that its rows speak of?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from devcem.errors import UserError
from devcem.frames.source import FrameSource
from devcem.labels.dataset import Segment
from devcem.labels.problems import Problem
from devcem.labels.rows import SEGMENTS, Reading
from devcem.labels.table import Row
from devcem.progress import track

LOOKED_UP = 20  # missing sources that are looked for in another case: in a large folder that takes its time

Stretches = list[tuple[Segment, Row]]


def check_media(root: Path, segments: Reading[Segment], frames: bool) -> None:
    """Sources that are missing are told as warnings: labels without media are a dataset still."""
    of_source: dict[str, Stretches] = defaultdict(list)
    for segment, row in segments.sound_in("source"):
        of_source[segment.source].append((segment, row))
    present = {source: rows for source, rows in of_source.items() if (root / "media" / source).exists()}
    if of_source and not present:
        message = f"frames are missing: none of the {len(of_source)} sources is in media/ (labels only)"
        segments.table.problems.append(Problem("warning", SEGMENTS, 0, 0, "media/", message))
        return
    for number, source in enumerate(source for source in of_source if source not in present):
        message = f"frames are missing: no '{source}' in media/"
        near = _same_but_for_case(root / "media", source) if number < LOOKED_UP else None
        segments.table.warn(of_source[source][0][1], "source", message, near=near)
    if frames:
        from devcem.frames import open_source  # decoders are needed here alone

        placed = {row.line for _, row in segments.sound_in("start", "stop")}
        for source, rows in track(present.items(), "sources opened", total=len(present)):
            _check_source(segments, open_source, root / "media" / source, rows, placed)


def _same_but_for_case(media: Path, source: str) -> str | None:
    """A file that Windows and macOS would have opened. Names that are near otherwise are another clip's."""
    folder = (media / source).parent
    if not folder.is_dir():
        return None
    files = (path.relative_to(media).as_posix() for path in folder.iterdir())
    return next((file for file in files if file.lower() == source.lower()), None)


def _check_source(
    segments: Reading[Segment],
    open_source: Callable[[Path], FrameSource],
    path: Path,
    rows: Stretches,
    placed: set[int],
) -> None:
    """*placed*: the lines whose start and stop are numbers."""
    try:
        source = open_source(path)
        if source.damaged:
            message = f"{source.decoded} of {source.declared} frames decode, {source.damaged} are damaged"
            segments.table.warn(rows[0][1], "source", f"damaged: {message}")
        for segment, row in rows:
            if row.line in placed:
                _check_numbers(segments, source, segment, row)
    except UserError as error:
        place = "" if error.where is None or str(error.where) == str(path) else f"{error.where}: "
        segments.table.error(rows[0][1], "source", f"cannot be read: {place}{error.what}")
    except OSError as error:
        segments.table.error(rows[0][1], "source", f"cannot be read: {error.strerror}")


def _check_numbers(segments: Reading[Segment], source: FrameSource, segment: Segment, row: Row) -> None:
    """Numbers may have gaps, and steps of more than 1: an error is only what leaves the source's reach."""
    numbers = source.numbers
    step = int(np.median(np.diff(numbers))) if len(numbers) > 1 else 1
    first, last = (int(numbers[0]), int(numbers[-1])) if len(numbers) else (0, -1)
    held = int(np.count_nonzero((numbers >= segment.start) & (numbers < segment.stop)))
    promised = (segment.stop - 1 - first) // step - (max(segment.start, first) - 1 - first) // step
    if segment.start < first - step + 1:
        segments.table.error(
            row, "start", f"start {segment.start} lies before the source's first frame, {first}"
        )
    elif segment.stop > last + step:
        segments.table.error(row, "stop", f"stop {segment.stop} lies beyond the source's last frame, {last}")
    elif not held:
        message = f"no frame from {segment.start} to {segment.stop - 1} is in the source"
        segments.table.error(row, "stop", message)
    elif (missing := promised - held) > 0:
        message = f"{missing} of the frames {segment.start} to {segment.stop - 1} are missing in the source"
        segments.table.warn(row, "start", message)
