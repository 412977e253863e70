"""Changes that go over a whole stretch of wall: redness, grain, swelling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from devcem.synthetic.scene import Finding
from devcem.synthetic.texture import Map, draw_from, smoothstep


@dataclass(frozen=True)
class Change:
    """What a diffuse finding does to the wall. Maps [rows,columns] of the wall map."""

    mask: Map  # 1 where a reader would say it is there
    tint: Map  # [3] multiplies the mucosa
    vessels: Map  # multiplies their strength
    gloss: Map  # added
    rough: Map  # added
    swelling: Map  # 1 doubles the folds and fills the wall
    mucus: Map  # share of the wall under exudate


def diffuse(finding: Finding, position: npt.NDArray[np.float64], noise: Map) -> Change:
    """*noise* [3,rows,columns]: waves of unit deviation, smooth to rough, of the gut, not of the finding."""
    rng = draw_from(finding.kind, finding.seed)
    order = rng.permutation(3)
    border, patchy = noise[order[0]], noise[order[1]]
    along = (finding.size - np.abs(position - finding.position))[:, None].astype(np.float32)
    mask = smoothstep(-0.1, 0.35, along + 0.22 * border)
    swollen = smoothstep(-0.5, 0.7, along + 0.1 * noise[0])
    some = finding.contrast
    none = np.zeros_like(mask)

    def dye(amount: Map, colour: tuple[float, float, float]) -> Map:
        factor = np.array(colour, dtype=np.float32)[:, None, None] ** some
        return np.asarray(1 + amount * (factor - 1), dtype=np.float32)

    if finding.kind == "erythema":
        red = mask * smoothstep(-0.9, 0.5, patchy)
        return Change(red, dye(red, (0.98, 0.60, 0.62)), 1 - 0.3 * mask, none, none, none, none)
    if finding.kind == "granularity":
        tint = dye(mask, (1.0, 0.88, 0.88))
        return Change(mask, tint, 1 - 0.9 * mask, 0.5 * some * mask, 4.5 * some * mask, 0.15 * mask, none)
    if finding.kind == "inflammation":
        red = mask * smoothstep(-1.4, 0.3, patchy)
        mucus = 0.7 * mask * smoothstep(2.0 - 0.7 * some, 2.8 - 0.7 * some, noise[2])
        tint = dye(red, (0.93, 0.56, 0.56))
        return Change(
            mask, tint, 1 - 0.85 * mask, 0.35 * mask, 1.6 * some * mask, 0.6 * some * swollen, mucus
        )
    tint = dye(mask, (1.10, 1.22, 1.30))
    return Change(mask, tint, 1 - 0.95 * mask, 0.6 * some * mask, -0.4 * mask, 0.9 * some * swollen, none)


def residue(finding: Finding, position: npt.NDArray[np.float64], noise: Map) -> Map:
    """How far stool covers the wall [rows,columns] in a stretch of debris, 0 to 1."""
    rng = draw_from("residue", finding.seed)
    along = (finding.size - np.abs(position - finding.position))[:, None].astype(np.float32)
    patchy = noise[int(rng.integers(3))]
    amount = 0.58 * finding.contrast**0.5 * smoothstep(-0.1, 0.3, along + 0.1 * patchy)
    return np.asarray(np.clip(amount * (1 + 0.3 * patchy), 0, 0.95), dtype=np.float32)
