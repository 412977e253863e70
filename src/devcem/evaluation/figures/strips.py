"""The paper's attention strips: one row of frames, and below it what each method attends to."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from devcem.evaluation.entries import Bools
from devcem.evaluation.figures.page import GREY, YELLOW, small_print, styled, write
from devcem.evaluation.strip import SEEN, UNKNOWN, Frames, attention_frames
from devcem.frames import uniform

WIDTH, CELL, NARROWEST, EDGE = 10.0, 1.5, 6.0, 0.12  # inches: of a row, of a frame at most, of a page
LETTERS = 14  # of a caption, an inch
BAR, BAND, LINE, GAP, APART = 0.14, 0.09, 0.15, 0.04, 0.1  # inches; APART lies between methods
SAID = (
    "Under each method: the frames darkened to I^(0.0001 + 1/a), where a is their attention over its "
    "maximum, and a bar of a for every frame, white for the one that weighs most. Attention is no "
    "probability of disease."
)


@styled
def attention_strips(
    stem: str | Path,
    frames: Frames,
    methods: Mapping[str, npt.ArrayLike],
    called: Mapping[str, Sequence[str]],
    truth: npt.ArrayLike | None = None,
    known: npt.ArrayLike | None = None,
    numbers: Sequence[int] | None = None,
    *,
    labels: Sequence[str] = (),
    title: str = "",
    notices: Sequence[str] = (),
    shown: int = 15,
) -> list[Path]:
    """Writes STEM.svg and STEM.png from *frames* [T,H,W,3] and each method's attention [T].

    *called*: the classes that each method finds in the video; *labels*: those it has. *truth* [T] boxes the
    frames that show a labelled class; of frames not *known* [T] nothing is said. At most *shown* frames stand
    for equal stretches; the bars cover every frame. *numbers* [T] name the frames, else they count from 0.
    """
    total = len(frames)
    if not methods or set(called) != set(methods):
        raise ValueError(f"attention of {sorted(methods)} and predictions of {sorted(called)}")
    if numbers is not None and len(numbers) != total:
        raise ValueError(f"{len(numbers)} numbers for {total} frames")
    use = np.ones(total, bool) if known is None else np.asarray(known).astype(bool)
    seen = np.zeros(total, bool) if truth is None else np.asarray(truth).astype(bool)
    if use.shape != (total,) or seen.shape != (total,):
        raise ValueError(f"truth and known of shape {seen.shape} and {use.shape} for {total} frames")
    coded = {name: attention_frames(frames, attention) for name, attention in methods.items()}
    chosen = uniform(total, min(shown, total))
    cell = min(WIDTH / len(chosen), CELL)
    row, high = cell * len(chosen), cell * frames.shape[1] / frames.shape[2]
    across = max(row + 2 * EDGE, NARROWEST)
    titles = {name: _caption(name, called[name], across) for name in methods}
    head = textwrap.wrap(title, int(across * 11))
    key = f"Boxed frames, blue in the band, show a label of the video ({', '.join(labels) or 'none'})."
    key += "" if use.all() else " Dashed and grey: unknown."
    foot = small_print([key if truth is not None else "", SAID], notices, across)
    tall = 0.2 * len(head) + high + GAP + BAND + 0.3 + 0.13 * len(foot) + 0.2
    tall += sum(APART + LINE * len(lines) + high + BAR + 3 * GAP for lines in titles.values())
    column = _Column(across, tall, row)
    column.write(head, 10, 0.2)
    axis = column.next(high)
    _pictures(axis, frames[chosen])
    if truth is not None:
        _box(axis, seen[chosen], use[chosen], *frames.shape[1:3])
        _band(column.next(BAND), seen & use, use)
    for name, attention in methods.items():
        column.level -= APART
        column.write(titles[name], 8, LINE, bold=True)
        _pictures(column.next(high), coded[name][chosen])
        axis = column.next(BAR)
        share = np.asarray(attention, np.float64)
        share = share / max(share.max(), 1e-300)
        axis.imshow(
            share[None],
            cmap="gray",
            vmin=0,
            vmax=1,
            extent=(0, total, 0, 1),
            aspect="auto",
            interpolation="nearest",
        )
        axis.spines[:].set(visible=True, color="#999999", linewidth=0.5)
    _number(axis, total, numbers)
    column.level -= 0.3
    column.write(foot, 6.5, 0.13, colour=GREY)
    return write(column.figure, stem, title)


class _Column:
    """Axes and lines of text from the top down, sized in inches, so that frames keep their shape."""

    def __init__(self, across: float, tall: float, row: float) -> None:
        self.across, self.tall, self.row, self.level = across, tall, row, tall - 0.08
        self.figure = Figure(figsize=(across, tall))

    def next(self, height: float) -> Axes:
        self.level -= height
        box = (EDGE / self.across, self.level / self.tall, self.row / self.across, height / self.tall)
        axis = self.figure.add_axes(box, xticks=[], yticks=[])
        axis.spines[:].set_visible(False)
        self.level -= GAP
        return axis

    def write(
        self, lines: Iterable[str], size: float, step: float, bold: bool = False, colour: str = "black"
    ) -> None:
        for number, line in enumerate(lines):
            weight = "bold" if bold and not number else "normal"
            place = EDGE / self.across, self.level / self.tall
            self.figure.text(*place, line, fontsize=size, va="top", fontweight=weight, color=colour)
            self.level -= step


def _caption(name: str, called: Sequence[str], across: float) -> list[str]:
    """The method, and on lines of their own what it predicts."""
    return [name, *textwrap.wrap(f"Predicted: {', '.join(called) or 'none'}", int(across * LETTERS))]


def _pictures(axis: Axes, frames: Frames) -> None:
    """Frames [n,H,W,3] in a row with white between them; the axes count pixels."""
    count, height, width = frames.shape[:3]
    gap = _between(width)
    canvas = np.full((height, count * (width + gap) - gap, 3), 255, np.uint8)
    for index, frame in enumerate(frames):
        start = index * (width + gap)
        canvas[:, start : start + width] = frame
    axis.imshow(canvas, extent=(0, canvas.shape[1], height, 0), aspect="auto")


def _between(width: int) -> int:
    return max(1, round(width / 14))


def _box(axis: Axes, seen: Bools, known: Bools, height: int, width: int) -> None:
    for index in range(len(seen)):
        if known[index] and not seen[index]:
            continue
        corner = (index * (width + _between(width)), 0)
        line: dict[str, object] = {"edgecolor": YELLOW, "linewidth": 1.8}
        if not known[index]:
            line = {"edgecolor": UNKNOWN, "linewidth": 1.2, "linestyle": (0, (3, 2))}
        box = Rectangle(corner, width, height, fill=False, clip_on=False, **line)  # type: ignore[arg-type]
        if known[index]:
            box.set_path_effects([withStroke(linewidth=2.8, foreground="black")])
        axis.add_patch(box)


def _band(axis: Axes, seen: Bools, known: Bools) -> None:
    """Every frame: blue where a label is seen, grey where nobody knows."""
    axis.set_xlim(0, len(seen))
    axis.set_ylim(0, 1)
    axis.axhline(0.5, color="#cccccc", linewidth=0.5, zorder=0)
    for part, colour in ((seen, SEEN), (~known, UNKNOWN)):
        axis.stairs(part.astype(float), np.arange(len(seen) + 1), fill=True, color=colour)


def _number(axis: Axes, count: int, numbers: Sequence[int] | None) -> None:
    """Some six frame numbers below the lowest bar, each at the middle of its frame."""
    places = np.unique(np.linspace(0, count - 1, min(6, count)).astype(int))
    axis.set_xticks(places + 0.5, [str(place if numbers is None else numbers[place]) for place in places])
    axis.tick_params(axis="x", length=2, pad=2, labelsize=7)
    axis.set_xlabel("frame", fontsize=7, labelpad=0)
