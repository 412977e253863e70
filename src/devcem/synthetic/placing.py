"""What lies where on the wall, so that the camera sees it when it should, and what it then sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch

from devcem.labels import CLASSES
from devcem.synthetic.appearance import appearance
from devcem.synthetic.lesions import DIFFUSE, FOCAL, LUMEN
from devcem.synthetic.scene import Finding, Patient, Scene
from devcem.synthetic.texture import draw_from
from devcem.synthetic.truth import truth
from devcem.synthetic.tube import FAR, cameras, look_along, settle, trace
from devcem.synthetic.wall import bake

SIZES = {  # tube radii: of a lesion its radius, of a stretch half its length
    "erosion": (0.12, 0.26),
    "diverticulosis": (0.12, 0.25),
    "haemorrhage": (0.18, 0.45),
    "angioectasia": (0.10, 0.20),
    "polyp": (0.14, 0.32),
    "pseudopolyp": (0.12, 0.24),
    "tumour": (0.38, 0.65),
    "ulceration": (0.16, 0.40),
    **dict.fromkeys(DIFFUSE, (0.5, 1.8)),
    **dict.fromkeys(LUMEN, (0.4, 1.4)),
}
COMPANY = {
    "erosion": 2,
    "diverticulosis": 2,
    "pseudopolyp": 3,
    "angioectasia": 1,
    "ulceration": 1,
}  # more, at most
ENOUGH = 3  # frames at least that show what the video is labelled with
TRIES = 24  # spots tried for a finding
AIMED = 12  # of them, before chance alone decides, where a frame looks a spot of wall in the face
GRID = 24  # rays a side to look for such spots
NEAR, FARTHEST = 0.4, 1.5  # tube radii from the lens
CENTRAL = 0.9  # radians off the optical axis
ROUNDS = 3  # times all findings are drawn anew before the path is given up


class OutOfSight(Exception):
    """Nothing that was tried can be seen from this path: too dark, under water, too short a look."""


def place(scene: Scene, kinds: Sequence[str], tag: int, seed: int) -> Scene:
    """The scene with findings of all *kinds*, each visible in ENOUGH frames, one of them at frame *tag*.

    Draws findings ahead of the camera, looks, and draws again with larger ones nearer by until all is seen.
    """
    rng = draw_from(seed, "place")
    wished = [kind for kind in kinds if kind != "normal"]
    columns = [CLASSES.index(kind) for kind in wished]
    for _ in range(ROUNDS):
        findings: list[Finding] = []
        for number, kind in enumerate(wished):
            frame = tag if number == 0 or rng.random() < 0.5 else int(rng.integers(len(scene.path)))
            findings += _search(scene, kind, frame, rng)
        placed = replace(scene, findings=tuple(findings))
        seen = truth(placed)[:, columns]
        if not wished or (seen[tag].any() and (seen.sum(0) >= ENOUGH).all()):
            return placed
    raise OutOfSight(f"{', '.join(wished)} cannot be seen from this path (seed {seed})")


def draw(
    patient: Patient, kind: str, position: float, rng: np.random.Generator, larger: float = 1.0
) -> Finding:
    """A finding as this patient has them: size and contrast are alike within a person."""
    habit = draw_from(patient.seed, "habit", kind)
    low, high = SIZES[kind]
    share = np.clip(0.6 * habit.uniform() + 0.4 * rng.uniform(), 0, 1)
    contrast = np.clip(habit.normal(1.0, 0.2) + rng.normal(0, 0.12), 0.5, 1.5)
    return Finding(
        kind=kind,
        position=position,
        angle=float(rng.uniform(0, 2 * np.pi)),
        size=float(larger * low * (high / low) ** share),
        contrast=float(contrast),
        seed=int(rng.integers(2**31)),
    )


def facing(scene: Scene, frame: int) -> npt.NDArray[np.float64]:
    """Spots of wall [m,3] that a frame shows well, position, angle and weight: near, towards the middle of
    the view and turned to the lens. A reader tags the frame on which a lesion looks at them."""
    look = appearance(scene.patient)
    camera = cameras(scene, look).part(slice(frame, frame + 1))
    here = float(camera.position[0])
    wall = bake(look, (), here - FAR, here + FAR, pixels=False)
    camera = settle(camera, wall)
    rays = look_along(camera, GRID)
    hits = trace(camera, wall, rays)
    outwards = (rays[..., 0] * hits.x + rays[..., 1] * hits.y) / hits.radius
    ahead = (rays @ camera.axes[0, 2]).clamp(-1, 1)
    good = (hits.distance > NEAR) & (hits.distance < FARTHEST) & (ahead > np.cos(CENTRAL)) & (outwards > 0.3)
    columns = torch.stack((here + hits.along, hits.angle, outwards), -1)[good]
    return columns.double().numpy()


def _search(scene: Scene, kind: str, frame: int, rng: np.random.Generator) -> list[Finding]:
    """A finding that *frame* shows, and often some of its like around it."""
    here = float(scene.path.position[frame])
    spots = facing(scene, frame) if kind in FOCAL else None
    for attempt in range(TRIES):
        ease = attempt / TRIES  # the longer it takes, the nearer, the larger, the plainer
        nearest, farthest = (0.25, 0.9 - 0.5 * ease) if kind in FOCAL else (-0.4, 0.8 - 0.5 * ease)
        main = draw(scene.patient, kind, here + rng.uniform(nearest, farthest), rng, 1 + ease)
        if spots is not None and len(spots) and attempt < AIMED:
            position, angle = spots[rng.choice(len(spots), p=spots[:, 2] / spots[:, 2].sum()), :2]
            main = replace(main, position=float(position), angle=float(angle))
        if kind in LUMEN:
            main = replace(main, contrast=main.contrast * (1 + 2 * ease))
        seen = truth(replace(scene, findings=(main,)))[:, CLASSES.index(kind)]
        if seen[frame] and seen.sum() >= ENOUGH:
            break
    more = int(rng.integers(COMPANY.get(kind, 0) + 1))
    return [main, *(draw(scene.patient, kind, main.position + rng.normal(0, 0.6), rng) for _ in range(more))]
