"""What lies in the lumen and on the wall: a pool of fluid, stool, floating flecks, bubbles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from devcem.synthetic.appearance import Appearance, wave
from devcem.synthetic.scene import Finding
from devcem.synthetic.texture import draw_from
from devcem.synthetic.tube import Camera, Hits


@dataclass(frozen=True)
class Pool:
    """Fluid at the lowest side of the gut, seen along each ray. All [b,n]."""

    surface: Tensor  # distance of the surface, where the ray enters it from above; else 0
    path: Tensor  # how far the ray then runs through fluid to the wall
    across: Tensor  # where on the surface, for its texture
    ahead: Tensor
    facing: Tensor  # cosine between the ray and the surface's normal


def pool(camera: Camera, look: Appearance, rays: Tensor, hits: Hits) -> Pool:
    """Cut the rays with a level surface."""
    position = camera.position.numpy()
    turn = np.pi * wave(look, position, 3, 40.0)
    depth = look.fluid_level + 0.45 * wave(look, position, 4, 6.0)
    down = torch.from_numpy(np.stack([np.cos(turn), np.sin(turn)], -1)).float()  # [b,2]
    level = torch.from_numpy(1 - np.clip(depth, -0.2, 1.1)).float()
    height = (level - (camera.origin * down).sum(1))[:, None]  # of the camera above the surface
    fall = rays[..., 0] * down[:, None, 0] + rays[..., 1] * down[:, None, 1]
    crossing = height / torch.where(fall.abs() < 1e-4, torch.full_like(fall, 1e-4), fall)
    crosses = (crossing > 0) & (crossing < hits.distance)
    above = height > 0
    surface = torch.where(crosses & above, crossing, torch.zeros_like(crossing))
    path = torch.where(above, hits.distance - crossing, torch.where(crosses, crossing, hits.distance))
    path = torch.where(crosses | ~above, path, torch.zeros_like(path))
    side = rays[..., 1] * down[:, None, 0] - rays[..., 0] * down[:, None, 1]
    return Pool(surface, path, side * surface, rays[..., 2] * surface, fall)


@dataclass(frozen=True)
class Floating:
    """Small things in the lumen, in the gut's own coordinates. All [m]."""

    kind: str
    place: npt.NDArray[np.float64]  # [m,3] across, across, along
    size: npt.NDArray[np.float64]
    shade: npt.NDArray[np.float64]  # 0 to 1
    turn: npt.NDArray[np.float64]


def floating(finding: Finding) -> Floating:
    """The flecks or bubbles of a finding in the lumen."""
    rng = draw_from(finding.kind, "floating", finding.seed)
    length = 2 * finding.size
    if finding.kind == "debris":
        number = int(length * 45 * finding.contrast)
        along = finding.position + rng.uniform(-finding.size, finding.size, number)
        angle, away = rng.uniform(0, 2 * np.pi, number), 0.85 * np.sqrt(rng.uniform(0.1, 1, number))
        size = np.exp(rng.normal(np.log(0.016), 0.5, number)).clip(0.006, 0.07)
    else:
        along, angle, away, size = _foam(finding, rng)
    place = np.stack([away * np.cos(angle), away * np.sin(angle), along], -1)
    return Floating(
        finding.kind, place, size, rng.uniform(0, 1, len(size)), rng.uniform(0, 2 * np.pi, len(size))
    )


def _foam(finding: Finding, rng: np.random.Generator) -> tuple[npt.NDArray[np.float64], ...]:
    """Clusters of bubbles against the wall, large ones first, none through another."""
    rows: list[tuple[float, float, float, float]] = []
    for _ in range(max(2, int(2 * finding.size * 2.2 * finding.contrast))):
        middle = finding.position + rng.uniform(-finding.size, finding.size)
        around, wide = rng.uniform(0, 2 * np.pi), rng.uniform(0.2, 0.55)
        sizes = np.sort(np.exp(rng.normal(np.log(0.042), 0.5, int(rng.integers(12, 50)))).clip(0.012, 0.16))[
            ::-1
        ]
        cluster: list[tuple[float, float, float, float]] = []
        for size in sizes:
            for _ in range(6):
                s, v = rng.normal(0, 0.5 * wide, 2)
                if all((s - a) ** 2 + (v - b) ** 2 > 0.9 * (size + c) ** 2 for a, b, _, c in cluster):
                    cluster.append((s, v, 0.88 - size, size))
                    break
        rows += [(middle + s, around + v, away, size) for s, v, away, size in cluster]
    columns = np.array(rows)
    return columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3]
