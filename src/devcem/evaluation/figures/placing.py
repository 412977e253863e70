"""Labels beside crowded points, each joined to its point: none covers another one, a marker or a line."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
ANGLES = 24  # ways out of a point
RINGS = np.array([1, 2, 3, 4, 6, 8, 10, 13, 16, 20, 25, 30, 36, 43, 50, 60])  # distances a way, in steps
STEP = 4.0  # pixels
STARTS = (0, 5, 8, 10)  # the nearest ring of a point in a crowd: further out there is more room round it
CROWD = 40.0  # pixels within which another point makes a crowd
SWEEPS, MOST = 12, 40  # rounds in which each label is placed anew among the others; labels at most
CLASH = 60.0  # steps that it costs to cover a label or its line
CROSSED, BARRED, PASSED = 8.0, 5.0, 1.5  # to cross a line, to cover an error bar, to pass over a marker


def place(
    points: Floats, sizes: Floats, box: Floats, reach: float, bars: Floats | None = None, gap: float = 2.0
) -> Floats | None:
    """Middles [P,2] of labels of *sizes* [P,2] inside *box* (left, low, right, high), in pixels.

    None where they do not fit, or are too many. *reach* is half the side of a marker; *bars* [N,2,2], error
    bars, are covered where nothing else is free. The most crowded point comes first; nothing is random.
    """
    bars = np.zeros((0, 2, 2)) if bars is None else bars
    for start in STARTS if len(points) <= MOST else ():
        middles = _placed(points, sizes, box, reach, bars, gap, start)
        if middles is not None:
            return middles
    return None


def _placed(
    points: Floats,
    sizes: Floats,
    box: Floats,
    reach: float,
    bars: Floats,
    gap: float,
    start: int,
) -> Floats | None:
    middles, clashes = np.full(points.shape, np.nan), True
    distances = np.hypot(*(points[:, None] - points[None]).T)
    order = np.argsort(-(1 / (distances + 20)).sum(axis=0), kind="stable")
    crowded = (distances < CROWD).sum(axis=0) > 1
    for _ in range(SWEEPS):
        before, clashes = middles.copy(), False
        for index in order.tolist():
            middles[index] = np.nan
            rings = RINGS[start:] if crowded[index] else RINGS
            spots, costs, clashing = _offers(index, points, sizes, middles, box, reach, bars, gap, rings)
            if not len(spots):
                return None
            best = int(np.argmin(costs))
            middles[index] = spots[best]
            clashes |= bool(clashing[best])  # of two labels, the later one sees the other where it stays
        if np.array_equal(before, middles):
            break
    return None if clashes else middles


def _offers(
    index: int,
    points: Floats,
    sizes: Floats,
    middles: Floats,
    box: Floats,
    reach: float,
    bars: Floats,
    gap: float,
    rings: npt.NDArray[np.int64],
) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Free places [C,2] round a point, what each costs, and with how many labels it clashes."""
    point, half = points[index], sizes[index] / 2
    angles = np.arange(ANGLES) * math.tau / ANGLES
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    spots = (point + ways * (reach + rings[:, None, None] * STEP + half)).reshape(-1, 2)
    areas = np.concatenate([spots - half - gap, spots + half + gap], axis=1)[:, None]  # [C,1,4]
    markers = np.concatenate([points - reach, points + reach], axis=1)  # [P,4]
    free = (areas[:, 0, :2] >= box[:2]).all(axis=1) & (areas[:, 0, 2:] <= box[2:]).all(axis=1)
    free &= ~_overlap(areas, markers).any(axis=1)
    spots, areas, costs = spots[free], areas[free], np.repeat(rings.astype(np.float64), ANGLES)[free]
    ends = spots[:, None]  # [C,1,2] a line aims at the middle of its label
    placed = np.isfinite(middles[:, 0])
    halves = sizes[placed] / 2
    labels = np.concatenate([middles[placed] - halves, middles[placed] + halves], axis=1)  # [L,4]
    starts, tips = points[placed], middles[placed]
    clashes = _overlap(areas, labels) | _hits(starts, tips, areas) | _hits(point, ends, labels)
    clashing = clashes.sum(axis=1)
    others = np.arange(len(points)) != index
    costs += CLASH * clashing
    costs += CROSSED * _cross(point, ends, starts, tips).sum(axis=1)
    costs += PASSED * _hits(point, ends, markers[others]).sum(axis=1)
    costs += BARRED * _hits(bars[:, 0], bars[:, 1], areas).sum(axis=1)
    return spots, costs, clashing


def _overlap(one: Floats, other: Floats) -> Bools:
    """Of boxes [...,4], which share an area."""
    apart = (one[..., :2] >= other[..., 2:]) | (other[..., :2] >= one[..., 2:])
    shared: Bools = np.logical_not(apart.any(axis=-1))
    return shared


def _hits(starts: Floats, ends: Floats, areas: Floats) -> Bools:
    """Whether lines touch boxes [...,4], by the part of a line that lies between both pairs of sides."""
    ways = ends - starts
    ways = np.where(np.abs(ways) < 1e-9, 1e-9, ways)
    low, high = (areas[..., :2] - starts) / ways, (areas[..., 2:] - starts) / ways
    enter, leave = np.minimum(low, high).max(axis=-1), np.maximum(low, high).min(axis=-1)
    touched: Bools = np.maximum(enter, 0) <= np.minimum(leave, 1)
    return touched


def _cross(starts: Floats, ends: Floats, others: Floats, tips: Floats) -> Bools:
    """Whether each of two lines has the ends of the other on both its sides."""

    def side(start: Floats, end: Floats, point: Floats) -> Floats:
        way, to = end - start, point - start
        return np.sign(way[..., 0] * to[..., 1] - way[..., 1] * to[..., 0])

    apart = side(starts, ends, others) * side(starts, ends, tips) < 0
    crossed: Bools = apart & (side(others, tips, starts) * side(others, tips, ends) < 0)
    return crossed
