"""Where the camera is, what each of its pixels looks at, and where those rays meet the wall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from devcem.synthetic.appearance import Appearance, fitted, wave
from devcem.synthetic.scene import Scene
from devcem.synthetic.wall import RADIUS, Wall

HALF_FIELD = np.radians(78)  # between the optical axis and the rim of the view
CAPSULE = 1.5  # length of the capsule between its two cameras, tube radii
CLEARANCE = 0.3  # the capsule's own body keeps the lens this far from the wall
FAR = 7.0  # no light comes back from further ahead
STEPS, CAUTION = 26, 0.45  # of the march along a ray: how often, and what share of the free distance at once;
# longer steps leap over a polyp, and a hole in it shows the wall behind
SQUEEZED_AT, SQUEEZED_LENGTH = 1.0, 0.6  # where ahead a contraction closes the lumen, and how far it reaches
BEND_LENGTH = 2.5  # a bend goes on this far, then the gut runs straight

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Camera:
    """One camera at b exposures, in the gut's own frame: x and y across, z along, z = 0 at the camera."""

    position: Tensor  # [b] along the gut
    origin: Tensor  # [b,2] off the axis
    axes: Tensor  # [b,3,3] rows: right, down, ahead
    bend: Tensor  # [b,2] curvature of the centre line
    squeeze: Tensor  # [b]
    ahead: float  # 1 looks along the gut, -1 back

    def part(self, keep: slice) -> Camera:
        return Camera(
            self.position[keep],
            self.origin[keep],
            self.axes[keep],
            self.bend[keep],
            self.squeeze[keep],
            self.ahead,
        )


def cameras(scene: Scene, look: Appearance) -> Camera:
    """The scene's camera at every exposure, kept off the wall later by `settle`."""
    path = scene.path
    rear = scene.camera == "rear"
    axes = _orientation(path.tilt, path.roll)
    position, offset = path.position.astype(float), path.offset.astype(float)
    if rear:  # the same rigid capsule, seen from its other end
        offset = offset - CAPSULE * axes[:, 2, :2]
        position = position - CAPSULE * axes[:, 2, 2]
        axes = axes * np.array([-1.0, 1.0, -1.0])[None, :, None]
    tonus = np.clip(look.tonus + 0.4 * wave(look, position, 5, 9.0), 0, 0.85)
    squeeze = path.squeeze + (1 - path.squeeze) * tonus
    bend = look.bend * np.stack([wave(look, position, n, 17.0) for n in (0, 1)], -1)
    return Camera(
        torch.from_numpy(position).float(),
        torch.from_numpy(offset).float(),
        torch.from_numpy(axes).float(),
        torch.from_numpy(bend).float(),
        torch.from_numpy(squeeze.astype(np.float32)),
        -1.0 if rear else 1.0,
    )


def settle(camera: Camera, wall: Wall) -> Camera:
    """The camera pushed back inside where the path would lead it through the wall."""
    angle = torch.atan2(camera.origin[:, 1], camera.origin[:, 0])[:, None]
    radius = wall.look_up(camera.position, torch.zeros_like(angle), angle, slice(RADIUS, RADIUS + 1))[0, :, 0]
    distance = camera.origin.norm(dim=1)
    room = (radius - CLEARANCE).clamp(min=0.05)
    origin = camera.origin * (torch.minimum(distance, room) / distance.clamp(min=1e-6))[:, None]
    return Camera(camera.position, origin, camera.axes, camera.bend, camera.squeeze, camera.ahead)


def look_along(camera: Camera, n: int) -> Tensor:
    """The direction [b,n*n,3] of every pixel of a view. An equidistant fisheye: the angle off the optical
    axis grows evenly with the distance from the view's middle."""
    line = (torch.arange(n, dtype=torch.float32) + 0.5) * (2 / n) - 1
    y, x = torch.meshgrid(line, line, indexing="ij")
    r = torch.hypot(x, y).clamp(min=1e-6)
    angle = (r * HALF_FIELD).clamp(max=np.pi)
    side = torch.sin(angle) / r
    own = torch.stack((x * side, y * side, torch.cos(angle)), -1).reshape(-1, 3)
    return torch.einsum("nk,bkj->bnj", own, camera.axes).contiguous()


@dataclass(frozen=True)
class Hits:
    """Where rays end. All [b,n]."""

    distance: Tensor
    along: Tensor  # z, from the camera
    angle: Tensor  # on the wall
    radius: Tensor  # from the centre line
    x: Tensor  # across, from the centre line
    y: Tensor


def trace(camera: Camera, wall: Wall, rays: Tensor) -> Hits:
    """March along *rays* [b,n,3] to the wall."""
    distance = torch.full(rays.shape[:2], 0.05)
    for _ in range(STEPS):
        free = clearance(camera, wall, locate(camera, rays, distance))
        distance = (distance + CAUTION * free).clamp(0.02, FAR)
    return locate(camera, rays, distance)


def refine(camera: Camera, wall: Wall, rays: Tensor, distance: Tensor) -> Hits:
    """Distances from a coarser grid, mended by a step: at a silhouette they hang between near and far."""
    free = clearance(camera, wall, locate(camera, rays, distance))
    return locate(camera, rays, (distance + free.clamp(-0.1, 1.0)).clamp(0.02, FAR))


def locate(camera: Camera, rays: Tensor, distance: Tensor) -> Hits:
    """The points at *distance* along the rays, in the coordinates of the wall."""
    along = rays[..., 2] * distance
    near = along.clamp(-BEND_LENGTH, BEND_LENGTH)
    swerve = along.abs() * near.abs() - 0.5 * near * near  # a parabola that goes on as its tangent
    x = camera.origin[:, None, 0] + rays[..., 0] * distance - camera.bend[:, None, 0] * swerve
    y = camera.origin[:, None, 1] + rays[..., 1] * distance - camera.bend[:, None, 1] * swerve
    return Hits(distance, along, torch.atan2(y, x), torch.hypot(x, y), x, y)


def clearance(camera: Camera, wall: Wall, at: Hits) -> Tensor:
    """How far inside the wall the points are, across the tube."""
    radius = wall.look_up(camera.position, at.along, at.angle, slice(RADIUS, RADIUS + 1))[0]
    if float(camera.squeeze.max()) > 0.01:
        radius = radius * contraction(camera, at.along, at.angle)
    return radius - at.radius


def contraction(camera: Camera, along: Tensor, angle: Tensor) -> Tensor:
    """What a contraction ahead leaves of the radius: a bulging ring, creased like a star."""
    near = torch.exp(-(((along * camera.ahead - SQUEEZED_AT) / SQUEEZED_LENGTH) ** 2))
    crease = torch.cos(2.5 * (angle + 0.35 * torch.sin(2 * angle + 1))).abs()  # 0 in a crease, 1 on a bulge
    return 1 - camera.squeeze[:, None] * near * (0.74 + 0.22 * crease.sqrt())


def contraction_slope(camera: Camera, hits: Hits) -> tuple[Tensor, Tensor, Tensor]:
    """The contraction at the hits, and how it changes along and around the wall."""
    step = 0.02
    here = contraction(camera, hits.along, hits.angle)
    by_along = (contraction(camera, hits.along + step, hits.angle) - here) / step
    return here, by_along, (contraction(camera, hits.along, hits.angle + step) - here) / step


def beam(distance: Tensor) -> Tensor:
    """Light that goes so far and comes back. The lamps sit beside the lens: near by it grows no more."""
    light = fitted()["light"]
    near, reach = float(light["near"]), float(light["reach"])
    return 1 / ((distance**2 + near) * (1 + (distance / reach) ** 2))


def _orientation(tilt: Floats, roll: Floats) -> Floats:
    """Rows right, down, ahead [T,3,3]: z tilted towards (tilt_x, tilt_y) by its length, then rolled."""
    size = np.linalg.norm(tilt, axis=1)
    toward = tilt / np.maximum(size, 1e-9)[:, None]
    sin, cos = np.sin(size), np.cos(size)
    ahead = np.stack([sin * toward[:, 0], sin * toward[:, 1], cos], -1)
    x, y = toward[:, 0], toward[:, 1]
    right = np.stack([1 + (cos - 1) * x * x, (cos - 1) * x * y, -sin * x], -1)
    down = np.stack([(cos - 1) * x * y, 1 + (cos - 1) * y * y, -sin * y], -1)
    c, s = np.cos(roll)[:, None], np.sin(roll)[:, None]
    return np.asarray(np.stack([c * right + s * down, c * down - s * right, ahead], 1))
