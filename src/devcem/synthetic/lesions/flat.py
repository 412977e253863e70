"""Lesions that lie in the wall: lost, bleeding or pouched mucosa."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from devcem.synthetic.lesions.patch import EXTENT, SIDE, Draft
from devcem.synthetic.texture import Map, blur, smoothstep

FIBRIN = (0.95, 0.70, 0.42)
SLOUGH = (0.88, 0.60, 0.28)
BLOOD = (0.42, 0.030, 0.022)
CLOT = (0.085, 0.010, 0.010)


def inside(distance: Map, edge: float, soft: float) -> Map:
    """1 within *edge*, 0 beyond, soft between."""
    return 1 - smoothstep(edge - soft / 2, edge + soft / 2, distance)


def erosion(draft: Draft) -> None:
    """A shallow spot of fibrin, flat, in a red halo; at times two or three."""
    draft.dye(inside(draft.distance(0.18), 0.85, 0.6) * 0.5, (1.02, 0.68, 0.66))
    for number in range(int(draft.rng.integers(1, 4))):
        away = 0.0 if number == 0 else float(draft.rng.uniform(0.45, 0.75))
        turn = float(draft.rng.uniform(0, 2 * np.pi))
        width = float(draft.rng.uniform(0.24, 0.42)) * (1.0 if number == 0 else 0.6)
        spot = draft.distance(
            0.05, away * np.cos(turn), away * np.sin(turn), float(draft.rng.uniform(0.85, 1.2)), turn
        )
        draft.dye(inside(spot, 2.0 * width, 1.4 * width), (1.05, 0.52, 0.5))
        base = inside(spot, width, 0.14) * np.clip(0.72 + 0.13 * draft.noise(3, 30), 0, 1)
        draft.cover(base * min(1.0, 0.75 * draft.finding.contrast), FIBRIN)
        draft.height -= 0.10 * inside(spot, width, 0.2)
        draft.mark(inside(spot, 1.6 * width, 0.1))


def ulceration(draft: Draft) -> None:
    """A deep, ragged crater: slough on its floor, a swollen red rim."""
    crater = draft.distance(
        0.13, 0, 0, float(draft.rng.uniform(0.75, 1.3)), float(draft.rng.uniform(0, np.pi))
    )
    rim = np.exp(-(((crater - 0.82) / 0.16) ** 2))
    draft.dye(inside(crater, 1.3, 0.8), (0.98, 0.6, 0.58))
    draft.dye(rim, (0.95, 0.66, 0.66))
    floor = inside(crater, 0.68, 0.14)
    draft.cover(floor * np.clip(0.85 + 0.1 * draft.noise(2, 20), 0, 1), SLOUGH)
    draft.cover(floor * smoothstep(-0.1, 0.9, draft.noise(2, 14)) * 0.75, FIBRIN)
    spots = floor * smoothstep(1.0, 1.9, draft.noise(3, 16)) * 0.7
    draft.cover(spots, (0.30, 0.05, 0.035))
    draft.height += 0.20 * rim - 0.28 * inside(crater, 0.7, 0.35)
    draft.relief += 0.02 * floor * draft.noise(4, 30)
    draft.gloss += 0.4 * floor
    draft.mark(inside(crater, 0.95, 0.1))


def diverticulosis(draft: Draft) -> None:
    """Mouths of pouches: round, dark inside, with a smooth rim."""
    mouths = int(draft.rng.integers(1, 5))
    for number in range(mouths):
        away = 0.0 if mouths == 1 else float(draft.rng.uniform(0.45, 0.8))
        turn = 2 * np.pi * number / mouths + float(draft.rng.uniform(-0.4, 0.4))
        width = float(draft.rng.uniform(0.26, 0.42)) * (1.5 if mouths == 1 else 1.0)
        mouth = draft.distance(
            0.02, away * np.cos(turn), away * np.sin(turn), float(draft.rng.uniform(0.8, 1.25)), turn
        )
        hole = inside(mouth, width, 0.9 * width)
        draft.height -= 0.9 * hole - 0.10 * np.exp(-(((mouth - 1.25 * width) / (0.25 * width)) ** 2))
        draft.dye(np.exp(-(((mouth - 1.2 * width) / (0.3 * width)) ** 2)), (1.10, 1.06, 1.0))
        depth = inside(mouth, 0.92 * width, 0.5 * width)
        draft.dye(depth, (0.20, 0.13, 0.10))
        if draft.rng.random() < 0.3:  # stool caught in the pouch
            draft.cover(inside(mouth, 0.5 * width, 0.3 * width) * 0.8, (0.22, 0.17, 0.05))
        draft.mark(inside(mouth, 1.25 * width, 0.08))


def haemorrhage(draft: Draft) -> None:
    """Blood: a source, streaks that run from it, clots; a stain around."""
    turn = float(draft.rng.uniform(0, 2 * np.pi))
    draft.dye(inside(draft.distance(0.25), 1.1, 0.9), (0.92, 0.55, 0.52))
    blood = inside(draft.distance(0.22, 0, 0, 1.15, turn), 0.5, 0.16)
    for _ in range(int(draft.rng.integers(2, 5))):
        reach, side = float(draft.rng.uniform(0.7, 1.35)), float(draft.rng.normal(0, 0.3))
        run = np.cos(turn) * draft.u + np.sin(turn) * draft.v
        across = np.cos(turn) * draft.v - np.sin(turn) * draft.u - side * np.clip(run, 0, 2)
        across = across + 0.05 * draft.noise(1, 5)
        width = float(draft.rng.uniform(0.07, 0.2)) * np.clip(1.3 - run / reach, 0.35, 1.3)
        streak = (1 - smoothstep(0.7, 1.0, np.abs(across) / width)) * (run > 0) * inside(run, reach, 0.2)
        blood = np.maximum(blood, streak)
    thin = np.clip(0.8 + 0.16 * draft.noise(1.5, 14), 0.3, 1) * min(1.0, 0.9 * draft.finding.contrast + 0.1)
    draft.cover(blood * thin, BLOOD)
    draft.cover(blood * smoothstep(0.5, 1.4, draft.noise(1.5, 8)), CLOT)
    draft.height += 0.05 * blood
    draft.gloss += 1.2 * blood
    draft.mark(blood)


def angioectasia(draft: Draft) -> None:
    """A tuft of dilated vessels: a bright red blotch with spidery arms."""
    image = Image.new("L", (SIDE * 2, SIDE * 2))
    pen = ImageDraw.Draw(image)
    scale, middle = SIDE / EXTENT, float(SIDE)
    arms = [
        (0.0, 0.0, float(draft.rng.uniform(0, 2 * np.pi)), 0.085)
        for _ in range(int(draft.rng.integers(7, 13)))
    ]
    while arms:
        x, y, heading, width = arms.pop()
        for _ in range(int(draft.rng.integers(4, 9))):
            heading += float(draft.rng.normal(0, 0.5))
            nx, ny = x + 0.075 * np.cos(heading), y + 0.075 * np.sin(heading)
            ends = (middle + x * scale, middle + y * scale, middle + nx * scale, middle + ny * scale)
            pen.line(ends, 255, max(1, round(width * scale)))
            x, y = nx, ny
        if width > 0.045 and np.hypot(x, y) < 0.9:
            arms += [(x, y, heading + turn, 0.7 * width) for turn in (-0.6, 0.6)]
    web = np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BOX)).astype(np.float32) / np.float32(255)
    blotch = inside(draft.distance(0.16), 0.5, 0.35) * np.clip(0.8 + 0.25 * draft.noise(4, 30), 0, 1)
    red = np.clip(np.maximum(blur(web, 0.8), blotch), 0, 1)
    draft.dye(inside(draft.distance(0.15), 0.95, 0.7), (1.0, 0.84, 0.84))
    draft.dye(red, (0.85, 0.13, 0.15))
    draft.mark(inside(draft.distance(0.05), 0.85, 0.1))
