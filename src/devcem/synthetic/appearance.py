"""A patient's seed in, the look of the gut out: colours, folds, bends, vessels, cleanliness."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import torch
import yaml
from torch import Tensor

from devcem.synthetic.scene import Patient
from devcem.synthetic.texture import Map, draw_from, fractal, slope_of, vessels

TILE = 1024  # texels a side of the fine tile
TURNS = 2  # how often the fine tile goes round the wall, which makes 326 texels a tube radius
COARSE = 256  # texels of the wall map round the wall: 41 a tube radius


@lru_cache(maxsize=1)
def fitted() -> dict[str, Any]:
    """The frozen parameters; see fitted.yaml for what they were fitted to."""
    text = (FilePath(__file__).parent / "fitted.yaml").read_text(encoding="utf-8")
    values: dict[str, Any] = yaml.safe_load(text)
    return values


@dataclass(frozen=True)
class Appearance:
    """Everything about one gut that does not change along an exam. Colours are linear RGB."""

    seed: int
    mucosa: Map  # [3]
    vessel: Map  # [3] what a vessel multiplies the mucosa with
    vessel_gain: float
    mottling: float
    grain: float
    gloss: float
    fold_spacing: float
    fold_height: float
    fold_width: float
    triangular: float
    bend: float
    fluid: Map  # [3] colour of what lies in the lumen
    fluid_level: float  # mean depth of the pool, tube radii
    murk: float  # how fast fluid swallows light, a tube radius
    lumps: float  # slow unevenness of the wall, tube radii
    residue: float  # how dirty the wall is where nobody would say so
    tonus: float  # how far the gut closes before the capsule, at rest
    hue: float  # how much the colour changes along and round the gut
    phases: Map  # [16] of the slow waves along the gut
    tile: Tensor  # [5,TILE+1,TILE+1] vessels, mottling, flecks, slope of the grain along and around; wraps
    low: Map  # [4,1024,COARSE] slow noise on the wall map


def appearance(patient: Patient) -> Appearance:
    return _appearance(patient.seed)


@lru_cache(maxsize=3)
def _appearance(seed: int) -> Appearance:
    rng = draw_from(seed, "appearance")
    spread = fitted()["patient"]

    def draw(name: str) -> float:
        middle, deviation, low, high = spread[name]
        return float(np.clip(rng.normal(middle, deviation), low, high))

    value, warmth, yellow = draw("value"), draw("warmth"), draw("yellow")
    bile = float(rng.normal())  # from pink to yellow: green rises, blue falls
    warmth, yellow = warmth * 1.10**bile, yellow * 0.82**bile
    mucosa = value * np.array([1.0, warmth, warmth * yellow], dtype=np.float32)
    fluid_value, fluid_green, fluid_blue = draw("fluid_value"), draw("fluid_green"), draw("fluid_blue")
    scalars = {
        name: draw(name)
        for name in (
            "vessel_gain", "mottling", "grain", "gloss", "fold_spacing", "fold_height", "fold_width",
            "triangular", "bend", "fluid_level", "murk", "lumps", "residue", "hue",
            "tonus",
        )
    }  # fmt: skip
    texture = draw_from(seed, "texture")
    rough = fractal(texture, (TILE, TILE), 2.6, 6, 60)
    pits = (
        np.maximum(fractal(texture, (TILE, TILE), 1.0, 30, 90), 0) ** 2  # crypt mouths: small dark dots
    )
    mottles = 0.85 * fractal(texture, (TILE, TILE), 1.5, 5, 55) - texture.uniform(0, 0.22) * (
        pits - pits.mean()
    )
    tile = np.stack(
        [
            vessels(texture, TILE, trees=int(texture.integers(24, 52))),
            mottles,
            fractal(texture, (TILE, TILE), 1.9, 4, 200),
            *(slope / slope.std() for slope in slope_of(rough)),
        ]
    )
    bands = ((3.0, 1, 7), (2.0, 1, 40), (2.5, 1, 8), (2.4, 1, 24))  # lumps, mottling, vessel beds, borders
    low = np.stack([fractal(texture, (1024, COARSE), *band) for band in bands])
    return Appearance(
        seed=seed,
        mucosa=mucosa,
        vessel=np.array(spread["vessel"], dtype=np.float32),
        fluid=fluid_value * np.array([1.0, fluid_green, fluid_blue], dtype=np.float32),
        phases=rng.uniform(0, 2 * np.pi, 16).astype(np.float32),
        tile=torch.from_numpy(np.pad(tile, ((0, 0), (0, 1), (0, 1)), mode="wrap")),
        low=low,
        **scalars,
    )


def wave(look: Appearance, position: np.ndarray, number: int, wavelength: float) -> np.ndarray:
    """A slow wave along the gut in [-1,1], one of sixteen that a patient has; the sum of two sines."""
    a, b = look.phases[number % 16], look.phases[(number + 7) % 16]
    x = 2 * np.pi * np.asarray(position) / wavelength
    return np.asarray(0.6 * np.sin(x + a) + 0.4 * np.sin(1.618 * x + b))
