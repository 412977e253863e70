"""Light on the wall and in the fluid: what each ray brings back."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import grid_sample

from devcem.synthetic.appearance import Appearance, fitted
from devcem.synthetic.contents import Pool
from devcem.synthetic.skin import FLECKS, Skin, mix
from devcem.synthetic.tube import BEND_LENGTH, Camera, Hits, beam, contraction_slope
from devcem.synthetic.wall import ALONG, AROUND, RADIUS

SPARKLE = 5.0  # a wet surface is rougher to a glint than to diffuse light
SUBMERGED = 0.5  # tube radii: fluid before the lens is lit as if this far away
SURFACE_SCALE = 0.25  # of the fine tile on a pool's surface
SCUM = (0.30, 0.26, 0.12)  # linear RGB
LAMP = (1.0, 0.93, 0.75)


def shade(camera: Camera, rays: Tensor, hits: Hits, maps: Tensor, surface: Skin) -> Tensor:
    """Linear colour [3,b,n] of the wall before exposure."""
    light = fitted()["light"]
    facing, glancing = _facing(camera, hits, rays, maps, surface)
    lamp = beam(hits.distance)
    lit = lamp * (light["wrap"] + (1 - light["wrap"]) * facing)
    haze: Tensor = torch.exp(-hits.distance * torch.tensor(light["haze"])[:, None, None])
    wet = surface.gloss * lamp * torch.exp(-(1 - glancing) * light["shine"]) * light["glint"]
    shaded: Tensor = surface.colour * lit * haze + wet
    return shaded


def _facing(camera: Camera, hits: Hits, rays: Tensor, maps: Tensor, surface: Skin) -> tuple[Tensor, Tensor]:
    """Cosine between ray and wall, and the same with a rougher relief, for glints."""
    along, around = maps[ALONG], maps[AROUND]
    if float(camera.squeeze.max()) > 0.01:
        left, by_along, by_angle = contraction_slope(camera, hits)
        along, around = along * left + maps[RADIUS] * by_along, around * left + maps[RADIUS] * by_angle
    out_x, out_y = hits.x / hits.radius, hits.y / hits.radius
    ray_out = rays[..., 0] * out_x + rays[..., 1] * out_y
    ray_around = rays[..., 1] * out_x - rays[..., 0] * out_y
    swing = hits.along.clamp(-BEND_LENGTH, BEND_LENGTH)
    along = along + (camera.bend[:, None, 0] * out_x + camera.bend[:, None, 1] * out_y) * swing
    around = around / hits.radius.clamp(min=0.1)

    def cosine(rough: float) -> Tensor:
        a, b = along - rough * surface.slope_along, around - rough * surface.slope_around
        return ((ray_out - a * rays[..., 2] - b * ray_around) / torch.sqrt(1 + a * a + b * b)).clamp(0, 1)

    return cosine(1.0), cosine(SPARKLE)


def submerge(colour: Tensor, look: Appearance, through: Tensor, water: Pool) -> Tensor:
    """Fluid before the wall: takes light, gives some of its own colour back, shines on its surface."""
    if not bool((water.path > 0).any()):
        return colour
    on_top = water.surface > 0
    start = torch.where(on_top, water.surface, torch.full_like(water.surface, SUBMERGED))
    lit = beam(start)
    place = torch.stack((water.across, water.ahead), -1) * SURFACE_SCALE
    tile = look.tile[None, FLECKS : FLECKS + 1]
    cloud = grid_sample(tile, torch.remainder(place, 2.0)[None] - 1, align_corners=True)[0, 0]
    fluid = torch.from_numpy(look.fluid)[:, None, None] * (1 + 0.15 * cloud).clamp(min=0.3)
    scum = ((cloud - 2.3) / 0.4).clamp(0, 1) * on_top * (1 - through) / (1 + start**4)
    out = mix(colour * through + fluid * lit * (1 - through), SCUM, scum * 0.8)
    meniscus = torch.exp(-((water.path / 0.05) ** 2)) * on_top
    glint = torch.exp((water.facing.clamp(0, 1) - 1) * 1800) * on_top
    return out + (0.03 * meniscus + 0.5 * glint) * lit * torch.tensor(LAMP)[:, None, None]
