"""The paper's picture of attention: frames, the same frames darkened where ignored, and each class over time.

Attention says how much a frame weighs in the decision, relative to the frame that weighs most. It is no
probability of disease.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from devcem.evaluation.entries import Bools, Floats, checked_entries
from devcem.files import writing
from devcem.frames import uniform

Frames = npt.NDArray[np.uint8]  # [T,H,W,3]
NOTICE = "Research use only, not a medical device."
SEEN, SCORED, UNKNOWN = "#2f6690", "#e08e45", "#bbbbbb"
FALLBACK = 3  # classes drawn where none is called or true
WIDTH, CELL = 11.0, 1.5  # inches: all frames of the row, and at most one of them
LEFT, RIGHT, NARROWEST = 1.9, 0.3, 7.5
BAR, ROW, GAP, LINE = 0.16, 0.34, 0.07, 0.17
LETTERS = 15  # of the caption, an inch


def attention_frames(frames: Frames, attention: npt.ArrayLike) -> Frames:
    """I ** (0.0001 + 1 / a) with a = attention / its maximum: black where ignored, [T,H,W,3] as it came."""
    return _darkened(frames, _relative(attention, len(frames)))


def draw_strip(
    path: Path,
    frames: Frames,
    attention: npt.ArrayLike,
    classes: Sequence[str],
    scores: npt.ArrayLike,
    frame_scores: npt.ArrayLike | None = None,
    truth: npt.ArrayLike | None = None,
    known: npt.ArrayLike | None = None,
    *,
    title: str = "",
    notice: str = "",
    shown: int = 15,
    threshold: npt.ArrayLike = 0.5,
    numbers: Sequence[int] | None = None,
) -> None:
    """A PNG of one segment: *frames* [T,H,W,3], *attention* [T], *scores* [K], the rest [T,K] or absent.

    At most *shown* frames stand for equal stretches of it; the bars below cover every frame. A class has a
    row if its score reaches the *threshold* (one or [K]) or a known frame shows it, else the best three have
    one. *notice* is said before the research-use notice, which always shows. *numbers* [T] name the frames,
    else they count from 0.
    """
    share = _relative(attention, len(frames))
    video = np.asarray(scores, np.float64)
    if video.shape != (len(classes),):
        raise ValueError(f"scores of shape {video.shape} for {len(classes)} classes")
    told, use = _truth(truth, known, (len(frames), len(classes)))
    given = None if frame_scores is None else np.asarray(frame_scores, np.float64)
    if given is not None and given.shape != told.shape:
        raise ValueError(f"frame_scores of shape {given.shape} where {told.shape} was due")
    if numbers is not None and len(numbers) != len(frames):
        raise ValueError(f"{len(numbers)} numbers for {len(frames)} frames")
    called = video >= np.asarray(threshold, np.float64)
    rows = _rows(video, called, told) if given is not None or truth is not None else []
    chosen = uniform(len(frames), min(shown, len(frames)))
    cell = min(WIDTH / len(chosen), CELL)
    width, height = cell * len(chosen), cell * frames.shape[1] / frames.shape[2]
    across = max(LEFT + width + RIGHT, NARROWEST)
    caption = _caption(classes, video, notice, given is not None, truth is not None, across)
    heights = [height, height, BAR, *[ROW] * len(rows)]
    page = _Page(heights, width, across, 0.45 if title else 0.15, 0.55 + LINE * len(caption))
    for label, pictures in (
        ("frames", frames[chosen]),
        ("weighed by\nattention", _darkened(frames[chosen], share[chosen])),
    ):
        axis = page.next(label)
        axis.imshow(np.concatenate(list(pictures), axis=1), extent=(0, len(chosen), 0, 1), aspect="auto")
    axis = page.next("attention")
    axis.spines[:].set(visible=True, color="#999999", linewidth=0.5)
    axis.imshow(share[None], cmap="gray", vmin=0, vmax=1, extent=(0, len(frames), 0, 1), aspect="auto")
    for k in rows:
        axis = page.next(f"{classes[k]}  {video[k]:.2f}", bold=bool(called[k]))
        _row(axis, None if given is None else given[:, k], told[:, k], use[:, k], truth is not None)
    _number(axis, len(frames), numbers)
    page.write(title, caption)
    with writing(path, "wb") as file:
        page.figure.savefig(file, format="png", dpi=110)


class _Page:
    """Axes stacked from the top, sized in inches, so that frames keep their shape and columns line up."""

    def __init__(self, heights: list[float], width: float, across: float, top: float, bottom: float) -> None:
        self.width, self.across, self.heights = width, across, iter(heights)
        self.down = top + sum(heights) + GAP * (len(heights) - 1) + bottom
        self.level = self.down - top
        self.figure = Figure(figsize=(self.across, self.down))

    def next(self, label: str, bold: bool = False) -> Axes:
        """The axes below those before, without a frame, *label* at their left."""
        height = next(self.heights)
        self.level -= height
        box = (LEFT / self.across, self.level / self.down, self.width / self.across, height / self.down)
        axis = self.figure.add_axes(box)
        self.level -= GAP
        axis.set_xticks([])
        axis.set_yticks([])
        axis.spines[:].set_visible(False)
        text = axis.set_ylabel(label, rotation=0, ha="right", va="center", fontsize=8, labelpad=6)
        text.set(fontweight="bold" if bold else "normal", parse_math=False)
        return axis

    def write(self, title: str, caption: list[str]) -> None:
        low = 0.1 + LINE * len(caption)
        for text, size, level in ((title, 10, self.down - 0.15), ("\n".join(caption), 8, low)):
            place = (0.2 / self.across, level / self.down)
            self.figure.text(*place, text, fontsize=size, linespacing=1.25, va="top", parse_math=False)


def _relative(attention: npt.ArrayLike, count: int) -> Floats:
    """Attention [T] over its maximum; 0 all over where there is none."""
    weights = np.asarray(attention, np.float64)
    if weights.shape != (count,) or not count:
        raise ValueError(f"attention of shape {weights.shape} for {count} frames")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("attention must be finite and not negative")
    top = weights.max()
    return weights / top if top > 0 else weights


def _darkened(frames: Frames, share: Floats) -> Frames:
    """One table of 256 levels a frame, rather than a power a pixel."""
    levels = np.arange(256) / 255
    with np.errstate(divide="ignore", over="ignore"):
        tables = levels ** (0.0001 + 1 / share[:, None])  # [T,256]
    tables[share == 0] = 0  # white too, which no power darkens
    tables = np.rint(tables * 255).astype(np.uint8)
    return np.stack([table[frame] for table, frame in zip(tables, frames, strict=True)])


def _truth(
    truth: npt.ArrayLike | None, known: npt.ArrayLike | None, shape: tuple[int, int]
) -> tuple[Bools, Bools]:
    if truth is None:
        return np.zeros(shape, bool), np.zeros(shape, bool)
    told, _, use = checked_entries(truth, np.zeros(shape), known)
    return told, use


def _rows(scores: Floats, called: Bools, truth: Bools) -> list[int]:
    """Classes called or true, in the order of the classes; the best few where there are none."""
    wanted = np.flatnonzero(called | truth.any(axis=0))
    rows = wanted if len(wanted) else np.sort(np.argsort(-scores, kind="stable")[:FALLBACK])
    return [int(k) for k in rows]


def _row(axis: Axes, scores: Floats | None, truth: Bools, known: Bools, told: bool) -> None:
    """Scores as an orange area from 0 to 1; below it blue where the class is seen, grey where unknown."""
    edges = np.arange(len(truth) + 1)
    axis.set_xlim(0, len(truth))
    axis.set_ylim(-0.5 if told else 0, 1)
    if scores is not None:
        axis.stairs(np.clip(scores, 0, 1), edges, fill=True, color=SCORED)
        axis.axhline(0, color="#444444", linewidth=0.5)
        axis.axhline(1, color="#dddddd", linewidth=0.5)
    for part, colour in ((truth & known, SEEN), (~known, UNKNOWN)) if told else ():
        axis.stairs(np.where(part, -0.1, -0.45), edges, baseline=-0.45, fill=True, color=colour)


def _number(axis: Axes, count: int, numbers: Sequence[int] | None) -> None:
    """Some six frame numbers below the lowest row, each at the middle of its frame."""
    axis.set_xlim(0, count)
    places = np.unique(np.linspace(0, count - 1, min(6, count)).astype(int))
    names = [str(place if numbers is None else numbers[place]) for place in places]
    axis.set_xticks(places + 0.5, names, fontsize=7)
    axis.tick_params(axis="x", length=2, pad=2)
    axis.set_xlabel("frame", fontsize=7, labelpad=0)


def _caption(
    classes: Sequence[str], scores: Floats, notice: str, scored: bool, told: bool, across: float
) -> list[str]:
    order = np.argsort(-scores, kind="stable")
    values = "Video scores: " + ", ".join(f"{classes[k]}\u00a0{scores[k]:.2f}" for k in order)
    key = "Attention: white for the frame that weighs most, black for one that is ignored."
    key += " Bold: called in the video." if scored or told else ""
    key += " Orange: score of the frame, 0 to 1." if scored else ""
    key += " Blue: frames on which the class is seen; grey: unknown." if told else ""
    said = notice if NOTICE in notice else f"{notice} {NOTICE}".strip()
    return [line for text in (values, key, said) for line in textwrap.wrap(text, int(across * LETTERS))]
