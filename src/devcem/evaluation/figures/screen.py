"""One picture of the side-by-side video: the trace on top with its cursor, two frames, the notice below."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont
from PIL import Image, ImageDraw, ImageFont

from devcem.evaluation.entries import Floats
from devcem.evaluation.figures.page import looks, styled
from devcem.evaluation.strip import NOTICE, Frames

NARROWEST, GAP, TRACE, HEAD, LINE = 480, 8, 112, 22, 17  # pixels
DPI, LEFT, RIGHT, LOW, HIGH = 100, 44, 12, 20, 8  # pixels round the trace
NAMED = 140  # pixels that a name below a frame takes
CLASSES = 4  # drawn beside the attention
CURSOR = (213, 94, 0)


class Screen:
    """All that stays is drawn once; `draw` adds a frame, its darkened self, the cursor and the clock."""

    def __init__(
        self,
        size: tuple[int, int],
        shares: Floats,
        seconds: Floats | None,
        classes: Sequence[str],
        scores: Floats | None,
        title: str,
        notices: Sequence[str],
    ) -> None:
        self.height, self.width = size
        self.count, self.seconds, self.size = len(shares), seconds, size
        across = max(2 * self.width + GAP, NARROWEST)
        self.across = across + across % 2
        said = [text for text in (*notices, NOTICE) if text]
        foot = [line for text in said for line in textwrap.wrap(text, int(self.across / 7))]
        self.top = HEAD + TRACE
        tall = self.top + self.height + LINE * (len(foot) + 1) + 6
        self.canvas = np.full((tall + tall % 2, self.across, 3), 255, np.uint8)
        self.canvas[HEAD : self.top] = _trace(self.across, shares, classes, scores)
        self.left = (self.across - 2 * self.width - GAP) // 2
        self.right = self.left + self.width + GAP
        image = Image.fromarray(self.canvas)
        pen = ImageDraw.Draw(image)
        clock = 7 * len(self._clock(self.count - 1)) + 16
        pen.text((6, 4), textwrap.shorten(title, max(int((self.across - clock) / 7), 8)), "black", _font(12))
        below = self.top + self.height + 3
        names = (self.left, "as filmed"), (self.right, "weighed by attention")
        for left, name in names if self.width > NAMED else ():
            pen.text((left + self.width / 2, below), name, "black", _font(12), anchor="ma")
        for number, line in enumerate(foot, 1):
            pen.text((self.across / 2, below + LINE * number), line, (70, 70, 70), _font(12), anchor="ma")
        self.canvas = np.array(image)

    def draw(self, index: int, frame: Frames, darkened: Frames) -> Frames:
        if frame.shape != (*self.size, 3):
            raise ValueError(f"a frame of shape {frame.shape} among frames of {self.size}")
        canvas = self.canvas.copy()
        rows = slice(self.top, self.top + self.height)
        canvas[rows, self.left : self.left + self.width] = frame
        canvas[rows, self.right : self.right + self.width] = darkened
        x = round(LEFT + (index + 0.5) / self.count * (self.across - LEFT - RIGHT))
        canvas[HEAD + HIGH : self.top - LOW, max(x - 1, 0) : x + 1] = CURSOR
        image = Image.fromarray(canvas[:HEAD])
        place = (self.across - 6, 4)
        ImageDraw.Draw(image).text(place, self._clock(index), "black", _font(12), anchor="ra")
        canvas[:HEAD] = np.asarray(image)
        return canvas

    def _clock(self, index: int) -> str:
        """The frame's place among all, and its time where that is known."""
        place = f"frame {index + 1} of {self.count}"
        if self.seconds is None or not np.isfinite(self.seconds[index]):
            return place
        minutes, second = divmod(float(self.seconds[index]), 60)
        return f"{int(minutes) // 60}:{int(minutes) % 60:02d}:{second:04.1f}  {place}"


@styled
def _trace(across: int, shares: Floats, classes: Sequence[str], scores: Floats | None) -> Frames:
    """Attention over its maximum as an area, some classes' scores as lines, [TRACE,across,3]."""
    figure = Figure(figsize=((across + 0.5) / DPI, (TRACE + 0.5) / DPI), dpi=DPI)
    inner = (across - LEFT - RIGHT, TRACE - LOW - HIGH)
    axis = figure.add_axes((LEFT / across, LOW / TRACE, inner[0] / across, inner[1] / TRACE))
    edges = np.arange(len(shares) + 1)
    axis.stairs(shares, edges, fill=True, color="#9a9a9a", label="attention")
    if scores is not None:
        highest = np.argsort(-scores.max(axis=0), kind="stable")[:CLASSES]
        for look, k in zip(looks(len(highest)), np.sort(highest).tolist(), strict=True):
            axis.stairs(
                scores[:, k], edges, baseline=None, color=look.colour, linestyle=look.dash, label=classes[k]
            )
    axis.set(xlim=(0, len(shares)), ylim=(0, 1.05), yticks=[0, 1])
    axis.set_xticks([])
    axis.tick_params(labelsize=8)
    lines, labels = axis.get_legend_handles_labels()
    figure.legend(
        lines,
        labels,
        loc="lower left",
        bbox_to_anchor=(LEFT / across, -0.02),
        ncols=len(labels),
        fontsize=8,
        borderpad=0.1,
        handlelength=1.6,
        columnspacing=1.2,
    )
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:TRACE, :across, :3].copy()


@lru_cache(maxsize=4)
def _font(height: float) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(findfont("DejaVu Sans"), height)
