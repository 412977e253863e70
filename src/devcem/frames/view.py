"""Finding the lens view from a few frames of a source.

The brightest value each pixel ever takes shows the view as one large light area, whatever dark lumen passes
its edge, and text as thin strokes beside it. Device templates and a circle and an octagon fitted to that area
compete: the one whose edge is best borne out, light inside and dark outside, is taken. Privacy decides the
rest: where nothing is borne out, no view is guessed and the user is asked.

No mask can part text from the tissue it is written on. So glaring strokes that stand still inside the view
while the picture moves are refused as well, and a picture that fills the frame is taken only if it moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from scipy.spatial import ConvexHull

from devcem.errors import UserError
from devcem.frames.overlay import TEMPLATES, Mask, View, template
from devcem.frames.sampling import uniform
from devcem.frames.source import Frames, FrameSource

Grey = npt.NDArray[np.uint8]  # [T,H,W], the lightest of each pixel's colours

LIGHT = 28  # above the noise that JPEG leaves in black, below most tissue
SHARE = 0.15  # or this share of how light the tissue is: the noise grows with it
ENOUGH = 0.75  # of the edge borne out
SAMPLES = 24  # frames looked at in a source
MOVING = 64  # grey levels that half the view's pixels change by, or nothing can be told of what stands still
STILL, GLARING, STEP = 32, 150, 50  # burnt-in text: changes less than, is brighter than, rises by more than


def view_of(source: FrameSource, samples: int = SAMPLES) -> View:
    """The view of a whole source, from *samples* frames spread over it."""
    try:
        return find_view(source.read(uniform(len(source), samples)))
    except UserError as error:
        raise UserError(error.what, source.path, error.remedy) from error


def find_view(frames: Frames) -> View:
    """The view in uint8 [T,H,W,3], or a `UserError` where it can't be told with confidence."""
    red, green, blue = np.moveaxis(frames, -1, 0)
    grey = np.maximum(np.maximum(red, green), blue)  # frames.max(3) takes ten times as long
    view = _outline(frames, grey)
    if (burnt := _burnt_in(grey, view)) or (view.kind == "frame" and burnt is None):
        raise _unsure("text may be burnt into the picture itself", frames)
    return view


def _outline(frames: Frames, grey: Grey) -> View:
    brightest = grey.max(0)  # [H,W]
    light: Mask = brightest > max(LIGHT, SHARE * np.percentile(brightest, 80))
    area = _largest(light)
    if _reaches_the_corners(area):
        return template("frame", *area.shape)
    judged = [_judged(view, light) for view in _candidates(area) if _plausible(view)]
    best = max(judged, key=lambda view: view.confidence, default=None)
    if best is not None and best.confidence >= ENOUGH:
        return best
    for view in _templates(area):  # too dark to tell: the narrowest view that holds it
        if not (area & ~view.mask(margin=-3)).any():
            return _judged(view, light)
    raise _unsure("no lens view was found", frames)


def _candidates(area: Mask) -> Iterator[View]:
    yield from _templates(area)
    if not area.any():
        return
    height, width = area.shape
    edge = np.argwhere(area & ~ndimage.binary_erosion(area)) + 0.5  # [P,2] y, x
    corners = edge[ConvexHull(edge).vertices]  # many on a true edge, none in a dark notch
    (top, left), (bottom, right) = corners.min(0) - 0.5, corners.max(0) + 0.5
    box = (float(top), float(left), float(bottom), float(right))
    up, before = (corners - (top, left)).T
    down, after = ((bottom, right) - corners).T
    legs = [max(float((a + b).min()) - 1, 0.0) for a in (up, down) for b in (before, after)]
    yield View(height, width, box, cuts=(legs[0], legs[1], legs[2], legs[3]))
    circle = _circle(corners[np.min([up, down, before, after], axis=0) > 1.5])  # not the flattened sides
    if circle is not None:
        yield View(height, width, box, circle=circle)


def _plausible(view: View) -> bool:
    """As wide as high, half the frame or more, evenly round or all corners off: no panel, no half a view."""
    top, left, bottom, right = view.box
    height, width = bottom - top, right - left
    side = min(height, width)
    if max(height, width) > 1.2 * side or side < 0.5 * min(view.height, view.width):
        return False
    if view.circle is None:
        return min(view.cuts) > 0.05 * side
    y, x, radius = view.circle
    off = max(abs(y - (top + bottom) / 2), abs(x - (left + right) / 2))
    return off < 0.05 * side and 0.48 * side < radius < 0.68 * side


def _circle(points: npt.NDArray[np.float64]) -> tuple[float, float, float] | None:
    """Least squares, leaving out the points that lie furthest off: centre y, centre x, radius."""
    kept = points
    for _ in range(6):
        if len(kept) < 8:
            return None
        # |p|^2 = 2 p.c + (r^2 - |c|^2) is linear in the centre c and the bracket
        y, x, rest = np.linalg.lstsq(np.column_stack([2 * kept, np.ones(len(kept))]), (kept**2).sum(1))[0]
        radius = np.sqrt(rest + y * y + x * x)
        off = np.abs(np.hypot(points[:, 0] - y, points[:, 1] - x) - radius)
        kept = points[off <= max(1.5, 2 * float(np.median(off)))]
    return float(y), float(x), float(radius) + 0.5  # from the outermost pixels' centres to their edges


def _judged(view: View, light: Mask) -> View:
    """The view with its confidence: how much of the edge is light just inside, and dark just outside."""
    width = max(4, min(light.shape) // 96)
    inner = view.mask(margin=0) & ~view.mask(margin=width)
    outer = view.mask(margin=-width - 1) & ~view.mask(margin=-1)
    inside = float(light[inner].mean()) if inner.any() else 1.0
    outside = 1.0 - float(light[outer].mean()) if outer.any() else 1.0
    return replace(view, confidence=min(inside, outside))


def _largest(light: Mask) -> Mask:
    """The largest light area once all that is as thin as a letter's stroke has gone."""
    radius = max(2, min(light.shape) // 80)
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    disk = y * y + x * x <= radius * radius
    padded = np.pad(light, radius, mode="edge")  # a view may end with the frame
    opened = ndimage.binary_opening(padded, disk)[radius:-radius, radius:-radius]
    parts, count = ndimage.label(opened)
    if not count:
        return np.zeros_like(light)
    largest = 1 + np.argmax(np.bincount(parts.ravel())[1:])
    return np.asarray(ndimage.binary_fill_holes(parts == largest), bool)


def _reaches_the_corners(area: Mask) -> bool:
    size = max(2, min(area.shape) // 50)
    ends = (slice(None, size), slice(-size, None))
    return all(area[rows, columns].all() for rows in ends for columns in ends)


def _burnt_in(grey: Grey, view: View) -> bool | None:
    """Whether glaring strokes stand still inside the view; None where the picture hardly moves."""
    inside = view.mask(margin=5)  # [H,W] without the step at the edge
    low, high = grey.min(0), grey.max(0)
    if np.median((high - low)[inside]) < MOVING:
        return None
    beside = ndimage.minimum_filter(grey.mean(0), 5)
    strokes = inside & (high - low < STILL) & (low > GLARING) & (low - beside > STEP)
    return bool(strokes.mean() > 1e-4)


def _templates(area: Mask) -> list[View]:
    """Those of exactly this size, narrowest first."""
    return [view for view in TEMPLATES if (view.height, view.width) == area.shape]


def _unsure(what: str, frames: Frames) -> UserError:
    seen = f"{len(frames)} frames of {frames.shape[2]}x{frames.shape[1]} looked at"
    names = ", ".join(view.name for view in TEMPLATES)
    remedy = f"look at a frame and name its view: one of {names}, or 'frame' if nothing is burnt in"
    return UserError(f"{what} ({seen})", remedy=remedy)
