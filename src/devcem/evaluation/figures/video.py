"""A video beside itself darkened where ignored, with its attention over time above."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt

from devcem.errors import UserError
from devcem.evaluation.figures.screen import Screen
from devcem.evaluation.strip import Frames, attention_frames
from devcem.files import writing

FORMATS = {".mp4": "mp4", ".avi": "avi"}
H264 = {"preset": "veryfast", "crf": "18", "bf": "0", "threads": "1"}  # one thread: the same bytes each time
MPEG4 = {"qmin": "2", "qmax": "4"}  # where PyAV came without libx264
MJPEG = {"qmin": "2", "qmax": "3", "threads": "1"}
BITEXACT = {"fflags": "+bitexact"}  # no encoder version and no date in the header


def side_by_side(
    path: str | Path,
    frames: Iterable[Frames],
    attention: npt.ArrayLike,
    times: npt.ArrayLike | None = None,
    *,
    fps: float = 10.0,
    classes: Sequence[str] = (),
    frame_scores: npt.ArrayLike | None = None,
    title: str = "",
    notices: Sequence[str] = (),
) -> Path:
    """Writes PATH as MP4 (H.264) or AVI (MJPEG), by its suffix: left as filmed, right by the attention [T].

    *frames* yields frames [H,W,3] or batches [B,H,W,3] in order, as `FrameSource.stream` does; one is held at
    a time. It plays at *fps*; *times* [T], seconds, are shown beside the frame's number. *frame_scores* [T,K]
    of *classes* run along with the attention: the four that rise highest.
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise UserError("a video of this kind cannot be written", path, "name it .mp4 or .avi")
    weights = np.asarray(attention, np.float64)
    tables = _tables(weights)
    seconds = None if times is None else np.asarray(times, np.float64)
    if seconds is not None and seconds.shape != weights.shape:
        raise ValueError(f"times of shape {seconds.shape} for {len(weights)} frames")
    scores = None if frame_scores is None else np.asarray(frame_scores, np.float64)
    if scores is not None and scores.shape != (len(weights), len(classes)):
        raise ValueError(f"frame_scores of shape {scores.shape}, not [{len(weights)},{len(classes)}]")

    if scores is not None and not np.isfinite(scores).all():
        raise ValueError("frame_scores must be finite")

    def screens() -> Iterator[Frames]:
        screen, count = None, 0
        for count, frame in enumerate(_single(frames), 1):
            if count > len(weights):
                raise ValueError(f"more than the {len(weights)} frames that have attention")
            if screen is None:
                shares = weights / max(weights.max(), 1e-300)
                screen = Screen(frame.shape[:2], shares, seconds, classes, scores, title, notices)
            yield screen.draw(count - 1, frame, tables[count - 1][frame])
        if count < len(weights):
            raise ValueError(f"{count} frames for {len(weights)} values of attention")

    kind = FORMATS[path.suffix.lower()]
    with writing(path, "wb") as file, av.open(file, "w", format=kind, options=BITEXACT) as container:
        _encode(container, kind, screens(), Fraction(fps).limit_denominator(1000))
    return path


def _tables(attention: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    """[T,256] what each level becomes in each frame: `attention_frames` of a picture that has every level."""
    levels = np.arange(256, dtype=np.uint8)[None, :, None, None]
    return attention_frames(np.broadcast_to(levels, (len(attention), 256, 1, 1)), attention)[..., 0, 0]


def _single(frames: Iterable[Frames]) -> Iterator[Frames]:
    for batch in frames:
        yield from batch if batch.ndim == 4 else (batch,)


def _encode(container: Any, kind: str, screens: Iterator[Frames], rate: Fraction) -> None:
    stream: Any = None
    for screen in screens:
        if stream is None:
            name, options = ("mjpeg", MJPEG) if kind == "avi" else ("libx264", H264)
            if name not in av.codecs_available:
                name, options = "mpeg4", MPEG4
            stream = container.add_stream(name, rate=rate, options=options)
            stream.height, stream.width = screen.shape[:2]
            stream.pix_fmt = "yuvj420p" if name == "mjpeg" else "yuv420p"
        container.mux(stream.encode(av.VideoFrame.from_ndarray(screen, format="rgb24")))
    if stream is not None:
        container.mux(stream.encode(None))
