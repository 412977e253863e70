"""Lesions that grow into the lumen and hide what lies behind them."""

from __future__ import annotations

import numpy as np

from devcem.synthetic.lesions.flat import FIBRIN, SLOUGH, inside
from devcem.synthetic.lesions.patch import Draft
from devcem.synthetic.texture import Map, smoothstep


def dome(distance: Map, width: float) -> Map:
    """A cap of unit height: steep at its foot, round on top."""
    return np.asarray(np.clip(1 - (distance / width) ** 2, 0, 1) ** 0.6, dtype=np.float32)


def polyp(draft: Draft) -> None:
    """One smooth round bump, broad-based or on a stalk, a little pinker than its surroundings."""
    stalked = draft.rng.random() < 0.35
    body = draft.distance(
        0.02, 0, 0, float(draft.rng.uniform(0.88, 1.14)), float(draft.rng.uniform(0, np.pi))
    )
    width = 0.72 if stalked else 0.92
    bump = dome(body, width)
    draft.height += (1.15 if stalked else 0.95) * bump
    on = inside(body, width, 0.12)
    draft.dye(on, (1.0, 0.64, 0.70))
    draft.dye(on * smoothstep(-0.4, 1.0, draft.noise(4, 26)), (0.96, 0.76, 0.76))
    draft.dye(np.exp(-(((body - width) / 0.12) ** 2)), (0.5, 0.4, 0.38))
    draft.relief += 0.015 * on * draft.noise(6, 30)
    draft.keep *= 1 - 0.75 * on
    draft.gloss += 1.2 * on
    draft.mark(inside(body, width + 0.02, 0.06))


def pseudopolyp(draft: Draft) -> None:
    """A crop of small fingers and beads, pale to red, left standing on inflamed ground."""
    ground = inside(draft.distance(0.15), 1.2, 0.6)
    draft.dye(ground, (0.92, 0.56, 0.55))
    draft.relief += 0.03 * ground * draft.noise(5, 30)
    draft.keep *= 1 - 0.8 * ground
    for _ in range(int(draft.rng.integers(5, 10))):
        away, around = float(draft.rng.uniform(0.0, 0.85)), float(draft.rng.uniform(0, 2 * np.pi))
        stretch, turn = float(draft.rng.uniform(1.0, 1.9)), float(draft.rng.uniform(0, np.pi))
        width = float(draft.rng.uniform(0.2, 0.34))
        finger = draft.distance(0.015, away * np.cos(around), away * np.sin(around), stretch, turn)
        on = inside(finger, width, 0.08)
        draft.height = np.maximum(draft.height, float(draft.rng.uniform(0.45, 0.85)) * dome(finger, width))
        pale = float(draft.rng.uniform(0, 1))
        draft.dye(on, (1.05, 0.95 + 0.45 * pale, 0.95 + 0.45 * pale))
        draft.dye(np.exp(-(((finger - width) / 0.06) ** 2)), (0.6, 0.48, 0.46))
        if draft.rng.random() < 0.3:
            draft.cover(inside(finger, 0.45 * width, 0.1) * 0.6, FIBRIN)
        draft.gloss += 0.9 * on
        draft.mark(inside(finger, width + 0.05, 0.05))


def tumour(draft: Draft) -> None:
    """A large lobed mass, discoloured, its top broken down."""
    mass = draft.distance(
        0.09, 0, 0, float(draft.rng.uniform(0.82, 1.22)), float(draft.rng.uniform(0, np.pi))
    )
    base = dome(mass, 1.12)
    lobes = np.zeros_like(base)
    for _ in range(int(draft.rng.integers(6, 11))):
        away, around = float(draft.rng.uniform(0.15, 0.85)), float(draft.rng.uniform(0, 2 * np.pi))
        width = float(draft.rng.uniform(0.28, 0.5))
        lobe = draft.distance(0.03, away * np.cos(around), away * np.sin(around))
        lobes = np.maximum(lobes, width * 1.4 * dome(lobe, width))
    draft.height += 0.34 * base + 0.42 * lobes * (base > 0)
    on = inside(mass, 1.08, 0.15)
    draft.dye(on, (0.9, 0.68, 0.72))
    draft.dye(on * smoothstep(-0.6, 1.2, draft.noise(2, 14)), (0.78, 0.62, 0.66))
    draft.dye(on * (1 - smoothstep(0.0, 0.3, lobes)), (0.7, 0.55, 0.55))
    u, v = draft.rng.uniform(-0.3, 0.3, 2)
    broken = draft.distance(0.2, float(u), float(v))
    floor = inside(broken, float(draft.rng.uniform(0.3, 0.55)), 0.2)
    draft.height -= 0.14 * floor
    draft.cover(floor * np.clip(0.7 + 0.2 * draft.noise(3, 20), 0, 1), SLOUGH)
    draft.cover(on * smoothstep(1.1, 1.9, draft.noise(2, 14)) * 0.8, (0.22, 0.03, 0.025))
    draft.relief += 0.07 * on * draft.noise(4, 40, 1.5)
    draft.dye(on * smoothstep(-0.3, 1.2, draft.noise(6, 40, 1.2)), (0.92, 0.8, 0.8))
    draft.keep *= 1 - on
    draft.gloss += 0.4 * on
    draft.mark(on)
