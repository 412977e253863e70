"""The wall as a pixel meets it: its colour, its fine relief, how wet it is. Light comes later."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import grid_sample

from devcem.synthetic.appearance import TILE, TURNS, Appearance
from devcem.synthetic.lesions import patch as lesion
from devcem.synthetic.tube import Camera, Hits
from devcem.synthetic.wall import GLOSS, MUCUS, RADIUS, RESIDUE, ROUGH, TINT, VESSELS, Wall

STOOL = (0.78, 0.52, 0.18)  # linear RGB
EXUDATE = (0.82, 0.58, 0.32)
RELIEF = 0.045  # slope of the mucosa's own grain
FOCUS = 1.6  # tube radii: beyond, detail is lost
VESSELS_FINE, MOTTLES, FLECKS, GRAIN_ALONG, GRAIN_AROUND = range(5)  # channels of the fine tile


@dataclass(frozen=True)
class Skin:
    """The wall where rays end; [b,n] each."""

    colour: Tensor  # [3,b,n] linear albedo
    slope_along: Tensor  # of the fine relief, on top of the wall's own
    slope_around: Tensor
    gloss: Tensor


def skin(camera: Camera, wall: Wall, look: Appearance, hits: Hits, maps: Tensor) -> Skin:
    """Mucosa, its vessels, the lesions on it, exudate and stool over all."""
    tile = fine(look, camera, hits, maps[RADIUS])
    sharp = 1 / (1 + (hits.distance / FOCUS) ** 2)
    colour = maps[TINT] * torch.from_numpy(look.mucosa)[:, None, None]
    keep, gloss, rough = maps[VESSELS], maps[GLOSS], RELIEF * maps[ROUGH] * sharp
    along, around = tile[GRAIN_ALONG] * rough, tile[GRAIN_AROUND] * rough
    paint, alpha = torch.zeros_like(colour), torch.zeros_like(keep)
    for item in wall.patches:
        where, u, v = inside(item, camera, hits)
        if len(where):
            patch = item.look_up(u, v)
            left = 1 - patch[lesion.ALPHA]
            colour.view(3, -1)[:, where] *= patch[lesion.TINT]
            paint.view(3, -1)[:, where] = paint.view(3, -1)[:, where] * left + patch[lesion.PAINT]
            alpha.view(-1)[where] = alpha.view(-1)[where] * left + patch[lesion.ALPHA]
            keep.view(-1)[where] *= patch[lesion.KEEP]
            gloss.view(-1)[where] += patch[lesion.GLOSS]
            along.view(-1)[where] += patch[lesion.SLOPE_U]
            around.view(-1)[where] += patch[lesion.SLOPE_V]
    mottles = (look.mottling * sharp) * tile[MOTTLES]
    colour = colour * torch.exp(mottles * torch.tensor([0.7, 1.2, 1.3])[:, None, None])
    vessel = (tile[VESSELS_FINE] * keep * (0.35 + 0.65 * sharp)).clamp(0, 1)
    colour = colour * (1 - vessel * (1 - torch.from_numpy(look.vessel)[:, None, None]))
    colour = colour * (1 - alpha) + paint
    colour = mix(colour, EXUDATE, (maps[MUCUS] * (0.85 + 0.2 * tile[FLECKS])).clamp(0, 0.8))
    stool = flecks(maps[RESIDUE], tile[FLECKS])
    colour = mix(colour, STOOL, stool * (0.85 + 0.1 * tile[MOTTLES]).clamp(0.5, 1))
    return Skin(colour, along + 0.15 * stool * tile[GRAIN_ALONG], around, gloss)


def fine(look: Appearance, camera: Camera, hits: Hits, rest: Tensor, channels: slice = slice(None)) -> Tensor:
    """The repeating tile [5,b,n]; it closes round the wall and repeats along it. Where a contraction pulls
    the wall in from its radius at *rest*, length counts along the slope, so that nothing looks stretched."""
    length = camera.position[:, None] + hits.along + camera.ahead * (rest - hits.radius)
    turns = torch.stack((hits.angle, length), -1) * (TURNS / (2 * np.pi))
    place = (torch.remainder(turns, 1.0) * (TILE * 2) + 1) / (TILE + 1) - 1
    return grid_sample(look.tile[None, channels], place[None], align_corners=True)[0]


def inside(item: lesion.Patch, camera: Camera, hits: Hits) -> tuple[Tensor, Tensor, Tensor]:
    """Which of the flattened rays end on the patch, and where on it."""
    u, v = item.local(camera.position[:, None] + hits.along, hits.angle)
    where = ((u.abs() < lesion.EDGE) & (v.abs() < lesion.EDGE)).view(-1).nonzero()[:, 0]
    return where, u.reshape(-1)[where], v.reshape(-1)[where]


def flecks(residue: Tensor, noise: Tensor) -> Tensor:
    """Share of each pixel under stool: flecks where the noise stands out, more with more residue."""
    return ((noise - 3.0 * (1 - residue)) / 0.25).clamp(0, 1)


def mix(colour: Tensor, other: tuple[float, float, float], amount: Tensor) -> Tensor:
    return colour + (torch.tensor(other)[:, None, None] - colour) * amount
