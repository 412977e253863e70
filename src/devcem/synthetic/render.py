"""A scene in, its frames and what is visible on them out."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import interpolate

from devcem.labels import CLASSES
from devcem.synthetic.appearance import Appearance, appearance
from devcem.synthetic.contents import Floating, floating, pool
from devcem.synthetic.lesions import DIFFUSE, FOCAL, LUMEN
from devcem.synthetic.optics import develop, expose, view_mask
from devcem.synthetic.overlay_text import burn
from devcem.synthetic.scene import Scene
from devcem.synthetic.seeing import Seen, Shares, look_at
from devcem.synthetic.shading import shade, submerge
from devcem.synthetic.skin import skin
from devcem.synthetic.splats import draw
from devcem.synthetic.tube import FAR, Camera, Hits, cameras, look_along, refine, settle, trace
from devcem.synthetic.wall import Wall, bake

BATCH, PLANNED_AT_ONCE = 8, 32  # exposures
MARGIN = 8.0  # tube radii of wall baked beyond what is seen, for the batches to come
VIEW = 228 / 256  # side of the view, as a share of the frame's
SMALL, RAISED = ("erosion", "angioectasia"), ("polyp", "pseudopolyp", "tumour")
VISIBLE = {  # share of the view; what is as pale as its surroundings must be larger to be seen
    **dict.fromkeys(FOCAL, 0.004),
    **dict.fromkeys(SMALL, 0.002),
    **dict.fromkeys(RAISED, 0.006),
    **dict.fromkeys(DIFFUSE, 0.08),
    **dict.fromkeys(LUMEN, 0.02),
}

Frames = npt.NDArray[np.uint8]


def visible(coverage: Shares) -> npt.NDArray[np.bool_]:
    """Truth [T,K] of frames from coverage [T,K]: a class is visible above its share of VISIBLE, `normal`
    where no pathology is (debris and bubbles are none)."""
    truth = np.zeros(coverage.shape, dtype=bool)
    for name, share in VISIBLE.items():
        truth[:, CLASSES.index(name)] = coverage[:, CLASSES.index(name)] > share
    pathologies = [CLASSES.index(name) for name in FOCAL + DIFFUSE]
    truth[:, CLASSES.index("normal")] = ~truth[:, pathologies].any(1)
    return truth


def render(scene: Scene, size: int = 256, batch: int = BATCH) -> Iterator[tuple[Frames, Shares]]:
    """Frames [b,size,size,3] and coverage [b,K]: the share of the view on which each class is visible."""
    n = int(size * VIEW) // 2 * 2
    edge = (size - n) // 2
    stage = _Stage(scene, view_mask(n, scene.view), pixels=True)
    for part in _batches(len(scene.path), batch):
        times = scene.path.times[part]
        with one_thread():
            image, shares = stage.picture(part)
            seeds = [zlib.crc32(np.array([scene.patient.seed, t]).tobytes()) for t in times]
            frames = np.zeros((len(shares), size, size, 3), dtype=np.uint8)
            frames[:, edge : edge + n, edge : edge + n] = develop(image, stage.view, seeds)
            if scene.overlay:
                burn(frames, scene, times)
        yield frames, shares


def coverage(scene: Scene, grid: int = 48) -> Shares:
    """What `render` calls coverage, [T,K], from geometry alone and on a coarse grid: for planning."""
    stage = _Stage(scene, view_mask(grid, scene.view), pixels=False)
    with one_thread():
        parts = [stage.plan(part) for part in _batches(len(scene.path), PLANNED_AT_ONCE)]
    return np.concatenate([np.zeros((0, len(CLASSES)), dtype=np.float32), *parts])


class _Stage:
    """A scene set up for one camera, with the wall that it last saw."""

    def __init__(self, scene: Scene, view: Tensor, pixels: bool) -> None:
        self.scene, self.view, self.pixels = scene, view, pixels
        self.n = len(view)
        self.look: Appearance = appearance(scene.patient)
        self.camera = cameras(scene, self.look)
        self.items: list[Floating] = [floating(f) for f in scene.findings if f.kind in LUMEN]
        self.dirty = any(item.kind == "debris" for item in self.items)
        self.wall: Wall | None = None

    def picture(self, part: slice) -> tuple[Tensor, Shares]:
        """What the screen shows [b,3,n,n] in 0 to 1, and the coverage [b,K]."""
        camera, wall, n = *self._before(part), self.n
        b = len(camera.position)
        coarse = trace(camera, wall, look_along(camera, n // 2))
        distance = interpolate(coarse.distance.view(b, 1, n // 2, n // 2), (n, n), mode="bilinear")
        rays = look_along(camera, n)
        hits = refine(camera, wall, rays, distance.reshape(b, -1))
        water = pool(camera, self.look, rays, hits)
        maps, seen = look_at(camera, wall, self.look, hits, water, self.dirty)
        colour = shade(camera, rays, hits, maps, skin(camera, wall, self.look, hits, maps))
        colour = submerge(colour, self.look, seen.light_through, water).view(3, b, n, n)
        self._float(colour, camera, hits, seen)
        return expose(colour, self.view), seen.shares(self.view)

    def plan(self, part: slice) -> Shares:
        """The coverage [b,K] alone."""
        camera, wall = self._before(part)
        rays = look_along(camera, self.n)
        hits = trace(camera, wall, rays)
        water = pool(camera, self.look, rays, hits)
        _, seen = look_at(camera, wall, self.look, hits, water, self.dirty)
        self._float(torch.zeros(3, len(rays), self.n, self.n), camera, hits, seen)
        return seen.shares(self.view)

    def _before(self, part: slice) -> tuple[Camera, Wall]:
        """The camera at these exposures, and a wall that reaches as far as it can see."""
        camera, everywhere = self.camera.part(part), self.camera.position
        low, high = float(camera.position.min()) - FAR, float(camera.position.max()) + FAR
        if self.wall is None or not self.wall.covers(low, high):
            low = max(low - MARGIN, float(everywhere.min()) - FAR)
            high = min(high + MARGIN, float(everywhere.max()) + FAR)
            self.wall = bake(self.look, self.scene.findings, low, high, self.pixels)
        return settle(camera, self.wall), self.wall

    def _float(self, colour: Tensor, camera: Camera, hits: Hits, seen: Seen) -> None:
        b, n = len(camera.position), self.n
        for item in self.items:
            claimed = torch.zeros(b, n, n, dtype=torch.bool)
            draw(colour, claimed, item, camera, hits.distance.view(b, n, n))
            seen.claim(item.kind, claimed.view(b, -1))


def _batches(frames: int, batch: int) -> Iterator[slice]:
    return (slice(start, min(start + batch, frames)) for start in range(0, frames, batch))


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums come out the same whatever the machine's number of cores; parallel work goes by process."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
