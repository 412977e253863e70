"""The lens view of a capsule frame, and the removal of everything burnt in beside it (time, date, id, name).

A view is a box, cut to a circle or at its four corners: all capsule views seen so far are one or the other.
Text stands outside it. Its numbers are pixels of a reference frame size; any other size is scaled to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from devcem.errors import UserError
from devcem.frames.source import Frames

Mask = npt.NDArray[np.bool_]  # [H,W], true inside the view

Corners = tuple[float, float, float, float]  # top left, top right, bottom left, bottom right

MARGIN = 2.0  # pixels taken off the view's edge: ringing of text and the blur of scaling reach this far


@dataclass(frozen=True)
class View:
    """Where the lens sees in frames of *height* x *width*; the centre of the first pixel is (.5, .5)."""

    height: int
    width: int
    box: tuple[float, float, float, float]  # top, left, bottom, right
    circle: tuple[float, float, float] | None = None  # centre y, centre x, radius
    cuts: Corners = (0.0, 0.0, 0.0, 0.0)  # legs of the triangles cut off the corners, as an octagon has them
    name: str = "detected"  # or the template's, or "frame": all of it
    confidence: float = 1.0  # share of the view's edge that is light inside and dark outside

    @property
    def kind(self) -> str:
        if self.circle is not None:
            return "circle"
        return "octagon" if any(self.cuts) else "frame"

    def at(self, height: int, width: int) -> View:
        """The same view in frames that were scaled to *height* x *width*."""
        if (height, width) == (self.height, self.width):
            return self
        v, h = height / self.height, width / self.width
        if abs(v / h - 1) > 0.01 and self.kind != "frame":
            raise UserError(
                f"frames of {width}x{height} are not a scaled {self.width}x{self.height}",
                remedy="find the view again for frames of this shape",
            )
        top, left, bottom, right = self.box
        box = (top * v, left * h, bottom * v, right * h)
        circle = self.circle and (self.circle[0] * v, self.circle[1] * h, self.circle[2] * min(v, h))
        a, b, c, d = (leg * max(v, h) for leg in self.cuts)
        return replace(self, height=height, width=width, box=box, circle=circle, cuts=(a, b, c, d))

    def mask(self, margin: float = MARGIN) -> Mask:
        """bool [H,W]. Where the view ends with the frame no margin is taken: no text lies beyond."""
        y, x = np.arange(self.height)[:, None] + 0.5, np.arange(self.width)[None, :] + 0.5
        top, left, bottom, right = self.box
        inside = y > (top + margin if top > MARGIN else top)
        inside = inside & (y < (bottom - margin if bottom < self.height - MARGIN else bottom))
        inside = inside & (x > (left + margin if left > MARGIN else left))
        inside = inside & (x < (right - margin if right < self.width - MARGIN else right))
        if self.circle is not None:
            cy, cx, radius = self.circle
            inside &= (y - cy) ** 2 + (x - cx) ** 2 < (radius - margin) ** 2
        up, down, before, after = y - top, bottom - y, x - left, right - x
        for leg, off in zip(self.cuts, (up + before, up + after, down + before, down + after), strict=True):
            if leg:
                inside &= off > leg + margin * np.sqrt(2)
        return inside

    def crop(self, frames: Frames) -> Frames:
        """The view's box alone, [T,h,w,3]: what a model needs to see."""
        view = self.at(*frames.shape[1:3])
        top, left, bottom, right = (round(edge) for edge in view.box)
        return frames[:, max(top, 0) : bottom, max(left, 0) : right]


TEMPLATES = (  # measured on real frames; a device whose view is found by itself needs none
    View(576, 576, (32, 32, 544, 544), circle=(287.5, 287.5, 272.0), name="pillcam-colon-2"),
    View(576, 576, (32, 32, 544, 544), circle=(287.5, 287.5, 282.0), name="pillcam-colon-wide"),
    View(336, 336, (1, 1, 335, 335), cuts=(53.0, 53.0, 53.0, 53.0), name="olympus-ec-s10"),
)


def template(name: str, height: int, width: int) -> View:
    """A device's view by name, or "frame" for all of it, when nothing is burnt in."""
    if name == "frame":
        return View(height, width, (0, 0, height, width), name="frame")
    for view in TEMPLATES:
        if view.name == name:
            return view.at(height, width)
    known = ", ".join([*(view.name for view in TEMPLATES), "frame"])
    raise UserError(f"no view template is called '{name}'", remedy=f"use one of {known}")


def mask_overlay(frames: Frames, view: View, *, out: Frames | None = None) -> Frames:
    """uint8 [T,H,W,3], black outside *view*; *out* may be *frames* itself, which saves the copy."""
    bits = _bits(view.at(*frames.shape[1:3]))
    return np.bitwise_and(frames, bits, out=out)


@lru_cache(maxsize=8)
def _bits(view: View) -> npt.NDArray[np.uint8]:
    """255 inside and 0 outside, [H,W,3]: one `and` a byte is the fastest mask NumPy has."""
    return np.repeat(view.mask()[..., None], 3, axis=2).astype(np.uint8) * np.uint8(255)
