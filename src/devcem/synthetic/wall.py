"""The wall of a stretch of gut, unrolled: its radius and what colours it, on a grid of position and angle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from scipy.ndimage import gaussian_filter1d
from torch import Tensor

from devcem.synthetic.appearance import COARSE, Appearance, appearance
from devcem.synthetic.lesions import DIFFUSE, FOCAL, Patch, diffuse, grow, residue
from devcem.synthetic.scene import Finding, Patient
from devcem.synthetic.texture import Map, draw_from, smoothstep

TEXEL = 2 * np.pi / COARSE  # side of a texel in tube radii
TIGHTEST = 0.25  # nothing that grows on the wall closes the lumen further than this
ANGLES = (np.arange(COARSE) * TEXEL - np.pi).astype(np.float32)

# Channels of Wall.maps
RADIUS, ALONG, AROUND = 0, 1, 2
TINT = slice(3, 6)
VESSELS, GLOSS, ROUGH, RESIDUE, MUCUS = 6, 7, 8, 9, 10
MASKS = 11  # and one more a diffuse kind


@dataclass(frozen=True)
class Wall:
    """A baked stretch. Row i of the maps lies at position (first + i) * TEXEL."""

    first: int
    maps: Tensor  # [MASKS + len(DIFFUSE), rows, COARSE + 1] from -pi to pi; the last column repeats the first
    patches: tuple[Patch, ...]  # focal findings that reach into the stretch

    def covers(self, low: float, high: float) -> bool:
        return self.first * TEXEL <= low and high <= (self.first + self.maps.shape[1] - 1) * TEXEL

    def look_up(self, start: Tensor, along: Tensor, angle: Tensor, channels: slice = slice(None)) -> Tensor:
        """The maps [C,b,n] at *along* [b,n] from *start* [b], in radii, and *angle* [b,n] in [-pi,pi]."""
        maps = self.maps[channels]
        scale = 2 / (maps.shape[1] - 1) / TEXEL
        grid = torch.empty(1, *along.shape, 2)
        torch.mul(angle, 1 / np.pi, out=grid[0, ..., 0])
        torch.add((start - self.first * TEXEL)[:, None] * scale - 1, along, alpha=scale, out=grid[0, ..., 1])
        return torch.nn.functional.grid_sample(maps[None], grid, padding_mode="border", align_corners=True)[0]


def bake(look: Appearance, findings: tuple[Finding, ...], low: float, high: float, pixels: bool) -> Wall:
    """The wall between two positions. The same texel comes out the same whatever the stretch. Without
    *pixels* only what planning needs: radius, residue and masks."""
    first, last = int(np.floor(low / TEXEL)), int(np.ceil(high / TEXEL)) + 1
    index = np.arange(first, last)
    position = (index * TEXEL).astype(np.float64)
    noise = look.low[:, index % look.low.shape[1]]  # [4,rows,COARSE]
    slow = noise[[0, 2, 3]]
    maps = np.zeros((MASKS + len(DIFFUSE), len(index), COARSE), dtype=np.float32)
    if pixels:
        _colour(maps, look, noise)
    maps[RESIDUE] = look.residue
    swelling = np.zeros_like(maps[RADIUS])
    for finding in findings:
        near = _rows(position, finding.position, finding.size + 1.5)
        if near.start >= near.stop:
            continue
        if finding.kind == "debris":
            dirt = residue(finding, position[near], slow[:, near])
            maps[RESIDUE, near] = np.maximum(maps[RESIDUE, near], dirt)
        elif finding.kind in DIFFUSE:
            change = diffuse(finding, position[near], slow[:, near])
            maps[TINT, near] *= change.tint
            maps[VESSELS, near] *= change.vessels
            maps[GLOSS, near] += change.gloss
            maps[ROUGH, near] = np.maximum(maps[ROUGH, near] + change.rough, 0)
            maps[MUCUS, near] = np.maximum(maps[MUCUS, near], change.mucus)
            swelling[near] = np.maximum(swelling[near], change.swelling)
            number = MASKS + DIFFUSE.index(finding.kind)
            maps[number, near] = np.maximum(maps[number, near], change.mask)
    maps[RADIUS] = _radius(look, noise[0], _folds(look.seed, first, last), swelling)
    patches = []
    for finding in findings:
        if finding.kind in FOCAL and low - 2 * finding.size < finding.position < high + 2 * finding.size:
            patches.append(grow(finding))
            _raise(maps[RADIUS], position, patches[-1])
    np.maximum(maps[RADIUS], TIGHTEST, out=maps[RADIUS])
    if pixels:
        maps[TINT] *= _hollows(maps[RADIUS])
        maps[ALONG] = np.gradient(maps[RADIUS], TEXEL, axis=0)
        maps[AROUND] = (np.roll(maps[RADIUS], -1, 1) - np.roll(maps[RADIUS], 1, 1)) / (2 * TEXEL)
    wrapped = np.concatenate((maps, maps[:, :, :1]), axis=2)
    return Wall(first, torch.from_numpy(wrapped), tuple(patches))


def _rows(position: np.ndarray, middle: float, reach: float) -> slice:
    """The rows that lie within *reach* of *middle*."""
    start, stop = np.searchsorted(position, (middle - reach, middle + reach))
    return slice(int(start), int(stop))


def _colour(maps: Map, look: Appearance, noise: Map) -> None:
    """Healthy mucosa: mottled, here pinker, there yellower; vessels in beds."""
    mottles = np.array([0.6, 1.0, 1.1], dtype=np.float32)[:, None, None] * look.mottling
    hue = np.array([0.02, -0.05, 0.10], dtype=np.float32)[:, None, None] * look.hue
    maps[TINT] = (1 + mottles * noise[1]) * np.exp(hue * noise[2] + 0.06 * look.hue * noise[0])
    maps[VESSELS] = look.vessel_gain * smoothstep(-1.0, 1.2, noise[2])
    maps[GLOSS], maps[ROUGH] = look.gloss, look.grain


def _radius(look: Appearance, lumps: Map, folds: Map, swelling: Map) -> Map:
    """Swelling fills the wall: folds grow thick and tall, unevenness goes."""
    if swelling.any():
        thick = (1 + 0.8 * swelling) ** -2.4  # the power that widens a fold so much
        folds = 0.08 * swelling + (1 + 0.25 * swelling) * 0.5 * (folds / 0.5) ** thick
        lumps = lumps * (1 - 0.6 * swelling)
    return np.asarray(1 - look.lumps * lumps - look.triangular * np.cos(3 * ANGLES) - folds, dtype=np.float32)


@lru_cache(maxsize=4)
def _folds(seed: int, first: int, last: int) -> Map:
    """Height [rows,COARSE] of the folds: half moons between the three bands of the colon, in turns."""
    look = appearance(Patient("", seed))
    position = np.arange(first, last) * TEXEL
    height = np.zeros((last - first, COARSE), dtype=np.float32)
    spacing = look.fold_spacing / 2
    for number in range(int(position[0] / spacing) - 3, int(position[-1] / spacing) + 4):
        rng = draw_from(seed, "fold", number + 1_000_000)
        middle = (number + rng.uniform(-0.35, 0.35)) * spacing
        width = look.fold_width * rng.uniform(0.75, 1.5)
        tall = look.fold_height * rng.uniform(0.4, 1.4)
        towards = 2 * np.pi / 3 * number + rng.normal(0, 0.5)
        reach = rng.uniform(0.7, 1.15)  # of the half moon: 0.7 nearly closes the ring, 1.15 is a third of it
        slant, phase = rng.uniform(0.0, 0.35), rng.uniform(0, 2 * np.pi)
        near = _rows(position, middle, 3 * width + slant)
        away = np.mod(ANGLES - towards + np.pi, 2 * np.pi) - np.pi
        arc = np.clip(np.cos(reach * away), 0, 1) ** 0.8
        line = middle + slant * np.sin(ANGLES + phase)
        across = ((position[near, None] - line) / width).astype(np.float32)
        crest = np.exp(-0.5 * np.abs(across) ** 2.4) * (tall * arc).astype(np.float32)
        height[near] = np.maximum(height[near], crest)
    return height


def _raise(radius: Map, position: np.ndarray, item: Patch) -> None:
    """Push the wall in (or out) where a lesion is."""
    near = _rows(position, item.finding.position, item.reach)
    rows, columns = torch.from_numpy(position[near, None]).float(), torch.from_numpy(ANGLES[None, :])
    u, v = torch.broadcast_tensors(*item.local(rows, columns))  # type: ignore[no-untyped-call]
    radius[near] -= item.height_at(u, v).numpy() * item.finding.size


def _hollows(radius: Map) -> Map:
    """Tint [3,rows,COARSE]: light reaches hollows less, and redder for it; crests are pale."""
    around = gaussian_filter1d(radius, 7, axis=1, mode="wrap", truncate=2.5)
    depth = np.clip((radius - gaussian_filter1d(around, 7, axis=0, truncate=2.5)) / 0.1, -1, 1.5)
    shade = np.array([0.22, 0.32, 0.36], dtype=np.float32)[:, None, None]
    return np.asarray(np.exp(-shade * depth), dtype=np.float32)
