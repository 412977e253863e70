"""Which classes a camera sees, pixel by pixel: the truth, for planning as for rendering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from devcem.labels import CLASSES
from devcem.synthetic.appearance import Appearance
from devcem.synthetic.contents import Pool
from devcem.synthetic.lesions import DIFFUSE
from devcem.synthetic.lesions.patch import MASK
from devcem.synthetic.skin import FLECKS, fine, flecks, inside
from devcem.synthetic.tube import Camera, Hits
from devcem.synthetic.wall import MASKS, RADIUS, RESIDUE, Wall

SIGHT = 3.5  # tube radii: further ahead it is too dark for a finding to be seen
CLEAR = 0.35  # share of light through fluid under which nothing is seen
DIRTY = 0.25  # residue below this is what every gut has

Shares = npt.NDArray[np.float32]  # [T,K], K in the order of CLASSES


@dataclass(frozen=True)
class Seen:
    """Which classes each ray shows; [b,n] each."""

    masks: dict[str, Tensor]
    light_through: Tensor  # share of light left after the fluid

    def claim(self, kind: str, mask: Tensor) -> None:
        self.masks[kind] = self.masks[kind] | mask if kind in self.masks else mask

    def shares(self, view: Tensor) -> Shares:
        """Each class's share of the *view* [n,n]."""
        within = view.view(-1) > 0.5
        shares = np.zeros((len(self.light_through), len(CLASSES)), dtype=np.float32)
        for kind, mask in self.masks.items():
            shares[:, CLASSES.index(kind)] = (mask & within).sum(1).numpy() / int(within.sum())
        return shares


def look_at(
    camera: Camera, wall: Wall, look: Appearance, hits: Hits, water: Pool, dirty: bool
) -> tuple[Tensor, Seen]:
    """The wall's maps at the hits and the classes seen there. *dirty*: there is debris to be looked for."""
    maps = wall.look_up(camera.position, hits.along, hits.angle)
    through = torch.exp(-look.murk * water.path)
    lit = (hits.distance < SIGHT) & (through > CLEAR)
    seen = Seen({kind: (maps[MASKS + i] > 0.5) & lit for i, kind in enumerate(DIFFUSE)}, through)
    if dirty:
        noise = fine(look, camera, hits, maps[RADIUS], slice(FLECKS, FLECKS + 1))[0]
        seen.claim("debris", (flecks(maps[RESIDUE], noise) > 0.5) & (maps[RESIDUE] > DIRTY) & lit)
    for item in wall.patches:
        where, u, v = inside(item, camera, hits)
        if len(where):
            mask = torch.zeros_like(lit)
            mask.view(-1)[where] = (item.look_up(u, v, slice(MASK, MASK + 1))[0] > 0.5) & lit.view(-1)[where]
            seen.claim(item.finding.kind, mask)
    return maps, seen
