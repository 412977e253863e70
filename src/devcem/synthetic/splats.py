"""Flecks and bubbles onto pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from devcem.synthetic.contents import Floating
from devcem.synthetic.texture import Map
from devcem.synthetic.tube import BEND_LENGTH, HALF_FIELD, Camera, beam

NEAREST, FURTHEST = 0.25, 2.8  # tube radii: nearer is a blur, further is too small and dark to be seen
SMALLEST, LARGEST = 0.45, 1 / 8  # radius on the image: in pixels, as a share of its side
FLECK = np.array([0.72, 0.55, 0.24])[:, None]  # linear RGB
RIM = np.array([1.0, 0.8, 0.45])[:, None]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Marks:
    """Floating things of one frame as discs on its pixels, the furthest first. All [m]."""

    x: Floats
    y: Floats
    size: Floats
    away: Floats
    shade: Floats
    turn: Floats


def draw(image: Tensor, claimed: Tensor, items: Floating, camera: Camera, distance: Tensor) -> None:
    """Into the linear *image* [3,b,n,n], in place, what floats before the wall at *distance* [b,n,n]; the
    pixels it takes are marked in *claimed* [b,n,n]."""
    for b in range(len(camera.position)):
        marks = _project(items, camera, b, image.shape[-1])
        if len(marks.x):
            _stamp(image[:, b], claimed[b], distance[b], items.kind, marks)


def _project(items: Floating, camera: Camera, b: int, n: int) -> Marks:
    place = items.place - np.array([0, 0, float(camera.position[b])])
    near = np.abs(place[:, 2]) < FURTHEST
    place = place[near]
    along = np.clip(place[:, 2], -BEND_LENGTH, BEND_LENGTH)
    swerve = np.abs(place[:, 2]) * np.abs(along) - 0.5 * along**2
    place[:, :2] += camera.bend[b].numpy() * swerve[:, None] - camera.origin[b].numpy()
    seen = place @ camera.axes[b].numpy().T  # right, down, ahead
    away = np.maximum(np.linalg.norm(seen, axis=1), 1e-6)
    r = np.arccos(np.clip(seen[:, 2] / away, -1, 1)) / HALF_FIELD
    scale = r / np.maximum(np.hypot(seen[:, 0], seen[:, 1]), 1e-9) * n / 2
    size = items.size[near] / away / HALF_FIELD * n / 2
    keep = (r < 1.02) & (size > SMALLEST) & (size < n * LARGEST) & (away > NEAREST) & (away < FURTHEST)
    order = np.flatnonzero(keep)[np.argsort(-away[keep], kind="stable")]
    x, y = n / 2 + seen[:, 0] * scale, n / 2 + seen[:, 1] * scale
    shade, turn = items.shade[near], items.turn[near]
    return Marks(x[order], y[order], size[order], away[order], shade[order], turn[order])


def _stamp(image: Tensor, claimed: Tensor, distance: Tensor, kind: str, marks: Marks) -> None:
    """All marks at once: every mark's square of pixels, laid end to end."""
    n = image.shape[-1]
    half = np.ceil(marks.size * 1.15 + 1).astype(np.int64)
    width = 2 * half + 1
    count = width * width
    item = np.repeat(np.arange(len(marks.x)), count)
    step = np.arange(len(item)) - np.repeat(np.cumsum(count) - count, count)
    px = np.floor(marks.x).astype(np.int64)[item] + step % width[item] - half[item]
    py = np.floor(marks.y).astype(np.int64)[item] + step // width[item] - half[item]
    u, v = (px + 0.5 - marks.x[item]) / marks.size[item], (py + 0.5 - marks.y[item]) / marks.size[item]
    at = np.clip(py, 0, n - 1) * n + np.clip(px, 0, n - 1)
    keep = (px >= 0) & (px < n) & (py >= 0) & (py < n) & (np.hypot(u, v) < 1.2)
    keep &= distance.reshape(-1).numpy()[at] > marks.away[item] - 0.03
    item, at, u, v = item[keep], at[keep], u[keep], v[keep]
    nearest = np.zeros(n * n, dtype=np.int64)
    nearest[at] = np.arange(len(at))  # the last written, which is the nearest, wins a pixel
    keep = nearest[at] == np.arange(len(at))
    item, at, u, v = item[keep], torch.from_numpy(at[keep]), u[keep], v[keep]
    light = 0.7 * beam(torch.from_numpy(marks.away)).numpy()[item]
    flat = image.view(3, -1)
    paint = _fleck if kind == "debris" else _bubble
    base, pixel = flat[:, at].numpy(), 0.9 / marks.size[item]
    colour, taken = paint(base, u, v, pixel, marks.shade[item], marks.turn[item], light)
    flat[:, at] = torch.from_numpy(colour.astype(np.float32))
    claimed.view(-1)[at] |= torch.from_numpy(taken)


def _fleck(
    base: Map, u: Floats, v: Floats, pixel: Floats, shade: Floats, turn: Floats, light: Floats
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """A ragged crumb. *pixel* is a pixel's side in the crumb's own radii."""
    way = np.arctan2(v, u)
    edge = 0.75 + 0.18 * np.cos(2 * way + turn) + 0.12 * np.cos(3 * way + 2.7 * turn)
    edge += 0.08 * np.cos(5 * way + 5.1 * turn)
    cover = 0.9 * np.clip((edge - np.hypot(u, v)) / np.maximum(pixel, 0.15) + 0.5, 0, 1)
    lump = 0.8 + 0.25 * (1 - np.hypot(u, v))
    return base * (1 - cover) + FLECK * (0.45 + 0.55 * shade) * lump * light * cover, cover > 0.5


def _bubble(
    base: Map, u: Floats, v: Floats, pixel: Floats, shade: Floats, _: Floats, light: Floats
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """A sphere of air: clear inside, a bright rim in a dark one, the lamps in it as two glints."""
    q = np.hypot(u, v)
    band = np.maximum(0.11, 0.7 * pixel)
    within = np.clip((1 - q) / np.maximum(pixel, 0.05) + 0.5, 0, 1)
    bright = np.exp(-(((q - 0.86) / band) ** 2)) * within
    dark = np.exp(-(((q - 1.0) / (0.8 * band)) ** 2))
    glint = np.exp(-((u + 0.36) ** 2 + (v + 0.40) ** 2) / 0.018)
    glint += 0.5 * np.exp(-((u - 0.42) ** 2 + (v - 0.34) ** 2) / 0.016)
    clear = base * (1 - 0.14 * within) * (1 - 0.45 * dark)
    return clear + (0.30 * bright * (0.5 + 0.5 * shade) * RIM + 0.9 * glint * within) * light, q < 1
