"""Noise that tiles: mottling, grain and vessel trees, made once a patient and looked up ever after."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

Map = npt.NDArray[np.float32]


def fractal(rng: np.random.Generator, shape: tuple[int, int], slope: float, low: float, high: float) -> Map:
    """Periodic noise [H,W] of unit deviation: power falls with frequency**-slope between *low* and *high*
    cycles a shorter side."""
    rows, columns = shape
    side = min(shape)
    fy = np.fft.fftfreq(rows)[:, None] * side
    fx = np.fft.rfftfreq(columns)[None, :] * side
    frequency = np.hypot(fy, fx)
    band = (frequency >= low) & (frequency <= high)
    amplitude = np.where(band, np.maximum(frequency, 1e-6) ** (-slope / 2), 0.0)
    spectrum = np.fft.rfft2(rng.standard_normal(shape)) * amplitude
    noise = np.fft.irfft2(spectrum, s=shape)
    return np.asarray((noise - noise.mean()) / (noise.std() + 1e-12), dtype=np.float32)


def vessels(rng: np.random.Generator, size: int, trees: int) -> Map:
    """Branching, winding vessels on a periodic tile [size,size]: 0 where there is none, 1 in the middle of a
    thick one, a faint blush around."""
    image = Image.new("L", (3 * size, 3 * size))
    draw = ImageDraw.Draw(image)
    unit = size / 1024
    for _ in range(trees):
        x, y = rng.uniform(0, size, 2)
        stack = [(float(x), float(y), float(rng.uniform(0, 2 * np.pi)), float(rng.uniform(2.6, 5.2)))]
        while stack:
            x, y, heading, width = stack.pop()
            steps = int(rng.integers(9, 22))
            wiggle, length = (
                rng.normal(0, 0.3, steps),
                rng.uniform(4, 8, steps) * unit * min(1.0, 0.4 + 0.2 * width),
            )
            twig = rng.random(steps) < 0.09
            for i in range(steps):
                heading += float(wiggle[i])
                width *= 0.99
                nx, ny = x + float(length[i]) * np.cos(heading), y + float(length[i]) * np.sin(heading)
                level = int(255 * min(1.0, 0.35 + 0.2 * width))
                draw.line((size + x, size + y, size + nx, size + ny), level, max(1, round(width * unit)))
                x, y = nx, ny
                if twig[i] and width > 1.2:
                    side = float(rng.choice((-1.0, 1.0)) * rng.uniform(0.7, 1.4))
                    stack.append((x, y, heading + side, 0.55 * width))
            if width > 1.1:
                for turn in (-1, 1):
                    if rng.random() < 0.85:
                        narrower = width * float(rng.uniform(0.65, 0.9))
                        stack.append((x, y, heading + turn * float(rng.uniform(0.2, 0.8)), narrower))
    folded = np.asarray(image, dtype=np.float32).reshape(3, size, 3, size).max(axis=(0, 2)) / 255
    return np.asarray(blur(folded, 1.0 * unit) + 0.9 * blur(folded, 12 * unit), dtype=np.float32)


def blur(tile: Map, sigma: float) -> Map:
    """Periodic Gaussian blur."""
    rows, columns = tile.shape
    fy = np.fft.fftfreq(rows)[:, None]
    fx = np.fft.rfftfreq(columns)[None, :]
    kernel = np.exp(-2 * (np.pi * sigma) ** 2 * (fy**2 + fx**2))
    return np.asarray(np.fft.irfft2(np.fft.rfft2(tile) * kernel, s=tile.shape), dtype=np.float32)


def slope_of(tile: Map) -> tuple[Map, Map]:
    """Periodic gradient of a tile: along rows, along columns, per texel."""
    down = (np.roll(tile, -1, 0) - np.roll(tile, 1, 0)) / 2
    right = (np.roll(tile, -1, 1) - np.roll(tile, 1, 1)) / 2
    return down.astype(np.float32), right.astype(np.float32)


def smoothstep(low: float, high: float, x: npt.NDArray[np.floating]) -> Map:
    """0 below *low*, 1 above *high*, smooth between."""
    t = np.clip((x - low) / (high - low), 0, 1)
    return np.asarray(t * t * (3 - 2 * t), dtype=np.float32)


def draw_from(*seeds: int | str) -> np.random.Generator:
    """A generator of random numbers that depends on nothing but the seeds given."""
    return np.random.default_rng(
        [s if isinstance(s, int) else int.from_bytes(s.encode(), "big") for s in seeds]
    )
