"""How a capsule travels: it rests, drifts, slips back and is pushed; it leans on the wall, turns and tilts.

All is thought of a frame at a time, because the capsule films faster when it moves: a step of the path fixes
the frame rate, as the adaptive rate of a PillCam COLON 2 does, and the rate gives the time stamps.
"""

from __future__ import annotations

import numpy as np

from devcem.synthetic.scene import Array, Path

SLOWEST, FASTEST = 4.0, 35.0  # frames a second
FAST_STEP = 0.12  # radii between two frames at which the capsule films at its fastest
MAX_OFFSET = 0.62  # radii; the capsule's own body keeps its lens off the wall
MAX_TILT = 1.1  # radians; real frames look at the wall as often as down the lumen

# what the capsule does: (share of the time, frames it lasts on average, radii a frame, spread of that)
MOODS = {
    "rest": (0.26, 12, 0.002, 0.004),
    "drift": (0.44, 20, 0.055, 0.020),
    "slip back": (0.12, 9, -0.045, 0.015),
    "push": (0.18, 7, 0.150, 0.050),
}
JUMPS = 0.010  # a frame: between two exposures a contraction throws the capsule on
CONTRACTIONS = 0.012  # a frame


def travel(rng: np.random.Generator, frames: int, position: float = 0.0, clock: float = 0.0) -> Path:
    """*frames* exposures from *position* on (radii along the gut), *clock* seconds into the exam."""
    return follow(rng, steps(rng, frames), position, clock)


def steps(rng: np.random.Generator, frames: int) -> Array:
    """[T] radii from each exposure to the next, by the moods of MOODS, with inertia and a few jumps."""
    names = list(MOODS)
    odds = np.array([share / lasts for share, lasts, _, _ in MOODS.values()])
    wished = np.empty(0)
    while len(wished) < frames:
        _, lasts, pace, spread = MOODS[names[rng.choice(len(names), p=odds / odds.sum())]]
        wished = np.append(wished, np.full(rng.geometric(1 / lasts), rng.normal(pace, spread)))
    smooth = np.convolve(np.pad(wished[:frames], 2, "edge"), np.array([1, 2, 3, 2, 1]) / 9, "valid")
    jumps = (rng.uniform(size=frames) < JUMPS) * rng.uniform(0.3, 1.2, frames)
    return smooth + jumps


def follow(rng: np.random.Generator, steps: Array, position: float = 0.0, clock: float = 0.0) -> Path:
    """The whole path that takes these *steps*: when it is where, and how the camera sits in the lumen."""
    frames = len(steps)
    moved = np.concatenate([[0.0], np.abs(steps[:-1])])  # [T] since the frame before
    stir = np.cumsum(0.15 + np.minimum(moved / FAST_STEP, 2.0))  # it turns and tilts as it travels
    lean = 1.1 * _curves(rng, stir, 2, slow=90, fast=25)
    tilt = 0.55 * _curves(rng, stir, 2, slow=60, fast=15)
    return Path(
        position=position + np.concatenate([[0.0], np.cumsum(steps[:-1])]),
        offset=MAX_OFFSET * lean / np.sqrt(1 + (lean**2).sum(1, keepdims=True)),
        tilt=MAX_TILT * tilt / np.sqrt(1 + (tilt**2).sum(1, keepdims=True)),
        roll=rng.uniform(0, 2 * np.pi) + 1.2 * _curves(rng, stir, 1, slow=200, fast=40)[:, 0],
        squeeze=_contractions(rng, frames, steps),
        times=clock + np.concatenate([[0.0], np.cumsum(1 / rate(steps[:-1]))]),
    )


def rate(steps: Array) -> Array:
    """Frames a second while the capsule takes these steps: 4 at rest, 35 on the run."""
    return np.clip(SLOWEST + (FASTEST - SLOWEST) * np.abs(steps) / FAST_STEP, SLOWEST, FASTEST)


def _curves(
    rng: np.random.Generator, at: Array, count: int, slow: float, fast: float, waves: int = 6
) -> Array:
    """[T,count] smooth random curves of unit variance, made of waves between *slow* and *fast* long."""
    waves = 6
    periods = np.exp(rng.uniform(np.log(fast), np.log(slow), (waves, count)))
    phases = rng.uniform(0, 2 * np.pi, (waves, count))
    angles = 2 * np.pi * at[:, None, None] / periods + phases
    return np.asarray(np.sin(angles).sum(1) * np.sqrt(2 / waves))


def _contractions(rng: np.random.Generator, frames: int, steps: Array) -> Array:
    """[T] waves of closing and opening; one runs with every jump, for it is what throws the capsule."""
    starts = np.flatnonzero((rng.uniform(size=frames) < CONTRACTIONS) | (steps > 2 * FAST_STEP))
    squeeze = np.zeros(frames)
    for start in map(int, starts):
        width, depth = int(rng.integers(6, 20)), rng.uniform(0.3, 0.9)
        first = max(0, start - width // 2)
        wave = depth * np.sin(np.linspace(0, np.pi, width)) ** 2
        stop = min(frames, first + width)
        squeeze[first:stop] = np.maximum(squeeze[first:stop], wave[: stop - first])
    return squeeze
