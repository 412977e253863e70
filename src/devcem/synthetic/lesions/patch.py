"""A square of wall, in units of the lesion's size: what a focal lesion does to height, colour and gloss."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from devcem.synthetic.scene import Finding
from devcem.synthetic.texture import Map, blur, draw_from, fractal, slope_of, smoothstep

EXTENT = 1.6  # a patch reaches this many sizes from its middle
SIDE = 112  # texels a patch
EDGE = EXTENT * (1 - 1 / SIDE)  # middle of the outermost texel: beyond it, a look-up mixes in zeros

# Channels of Patch.maps
TINT, PAINT, ALPHA, MASK, KEEP, GLOSS, SLOPE_U, SLOPE_V = slice(0, 3), slice(3, 6), 6, 7, 8, 9, 10, 11


@dataclass
class Draft:
    """A lesion being drawn. Grids [SIDE,SIDE]; u runs along the gut (rows), v around it."""

    finding: Finding
    rng: np.random.Generator = field(init=False)
    u: Map = field(init=False)
    v: Map = field(init=False)
    height: Map = field(init=False)  # towards the lumen, in sizes
    relief: Map = field(init=False)  # fine height, for shading only
    tint: Map = field(init=False)  # [3] multiplies the mucosa
    paint: Map = field(init=False)  # [3] lies on it, already multiplied by alpha
    alpha: Map = field(init=False)
    mask: Map = field(init=False)  # what a reader would circle
    keep: Map = field(init=False)  # share of the vessels still seen
    gloss: Map = field(init=False)  # added

    def __post_init__(self) -> None:
        self.rng = draw_from(self.finding.kind, self.finding.seed)
        line = (((np.arange(SIDE) + 0.5) / SIDE * 2 - 1) * EXTENT).astype(np.float32)
        self.u, self.v = np.meshgrid(line, line, indexing="ij")
        zero = np.zeros((SIDE, SIDE), dtype=np.float32)
        self.height, self.relief, self.alpha, self.mask, self.gloss = (zero.copy() for _ in range(5))
        self.keep = zero + 1
        self.tint = np.ones((3, SIDE, SIDE), dtype=np.float32)
        self.paint = np.zeros((3, SIDE, SIDE), dtype=np.float32)

    def noise(self, low: float, high: float, slope: float = 2.0) -> Map:
        return fractal(self.rng, (SIDE, SIDE), slope, low, high)

    def distance(
        self, ragged: float, u: float = 0.0, v: float = 0.0, stretch: float = 1.0, turn: float = 0.0
    ) -> Map:
        """Distance from (u, v), elliptic and with a ragged edge."""
        du, dv = self.u - u, self.v - v
        a, b = np.cos(turn) * du + np.sin(turn) * dv, np.cos(turn) * dv - np.sin(turn) * du
        return np.asarray(np.hypot(a / stretch, b * stretch) + ragged * self.noise(1.5, 10), dtype=np.float32)

    def dye(self, amount: Map, colour: tuple[float, float, float]) -> None:
        """Multiply the mucosa's colour by *colour*, as far as *amount* says."""
        strength = self.finding.contrast
        for channel, factor in enumerate(colour):
            self.tint[channel] *= 1 + amount * (factor**strength - 1)

    def cover(self, amount: Map, colour: tuple[float, float, float]) -> None:
        """Lay an opaque *colour* (linear RGB) over it, as far as *amount* says."""
        amount = np.clip(amount, 0, 1)
        self.paint = self.paint * (1 - amount) + amount * np.array(colour, dtype=np.float32)[:, None, None]
        self.alpha = self.alpha * (1 - amount) + amount
        self.keep = self.keep * (1 - amount)

    def mark(self, amount: Map) -> None:
        self.mask = np.maximum(self.mask, amount)


@dataclass(frozen=True)
class Patch:
    """A drawn lesion."""

    finding: Finding
    height: Map  # [SIDE,SIDE] in sizes
    maps: Tensor  # [12,SIDE,SIDE]

    @property
    def reach(self) -> float:
        return EXTENT * self.finding.size

    def local(self, position: Tensor, angle: Tensor) -> tuple[Tensor, Tensor]:
        """Places on the wall in the patch's own coordinates, -EXTENT to EXTENT inside."""
        size = self.finding.size
        around = torch.remainder(angle - self.finding.angle + np.pi, 2 * np.pi) - np.pi
        return (position - self.finding.position) / size, around / size

    def look_up(self, u: Tensor, v: Tensor, channels: slice = slice(None)) -> Tensor:
        """The maps [C,m] at m places."""
        return _sample(self.maps[channels], u, v)

    def height_at(self, u: Tensor, v: Tensor) -> Tensor:
        return _sample(torch.from_numpy(self.height)[None], u.reshape(-1), v.reshape(-1))[0].reshape(u.shape)


def _sample(maps: Tensor, u: Tensor, v: Tensor) -> Tensor:
    grid = (torch.stack((v, u), -1) / EXTENT)[None, None]
    return torch.nn.functional.grid_sample(maps[None], grid, padding_mode="zeros", align_corners=False)[
        0, :, 0
    ]


def finish(draft: Draft) -> Patch:
    """Fade everything out before the patch's edge, so that no seam shows."""
    fade = 1 - smoothstep(0.8 * EXTENT, 0.98 * EXTENT, np.maximum(np.abs(draft.u), np.abs(draft.v)))
    down, right = slope_of(blur(draft.relief, 0.7))
    texel = 2 * EXTENT / SIDE
    maps = np.concatenate(
        [
            1 + (draft.tint - 1) * fade,
            draft.paint * fade,
            np.stack(
                [
                    draft.alpha * fade,
                    draft.mask * fade,
                    1 + (draft.keep - 1) * fade,
                    draft.gloss * fade,
                    down / texel * fade,
                    right / texel * fade,
                ]
            ),
        ]
    )
    soft = 0.6 / draft.finding.size  # texels: no cliff steeper than the wall map can hold
    height = blur(draft.height * fade, min(soft, SIDE / 8))
    return Patch(draft.finding, height, torch.from_numpy(maps.astype(np.float32)))
