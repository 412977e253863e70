"""What the frames of a scene show, and how that is written down: labels of a segment, runs of frames.

A frame is `normal` where no pathology is visible on it. A segment is `normal` only where all its frames are:
a tag says what a video shows, and normal stretches lie beside every lesion.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from devcem.labels import CLASSES, PATHOLOGIES, Run
from devcem.synthetic.render import coverage, visible
from devcem.synthetic.scene import Path, Scene

Seen = npt.NDArray[np.bool_]  # [T,K], K in the order of CLASSES
REACH = 5.0  # tube radii: what lies further from the capsule throws back no light
NORMAL = CLASSES.index("normal")
SICK = [CLASSES.index(name) for name in PATHOLOGIES]


def truth(scene: Scene) -> Seen:
    """Which class each frame shows. Only frames with a finding within reach are looked at."""
    shares = np.zeros((len(scene.path), len(CLASSES)), dtype=np.float32)
    near = np.zeros(len(scene.path), dtype=bool)
    for finding in scene.findings:
        near |= np.abs(scene.path.position - finding.position) < REACH + 2 * finding.size
    if near.any():
        shares[near] = coverage(replace(scene, path=at(scene.path, near)))
    return visible(shares)


def is_sick(seen: Seen) -> Seen:
    """[T] whether a frame shows any pathology."""
    return np.asarray(seen[:, SICK].any(axis=1))


def labels_of(seen: Seen) -> tuple[str, ...]:
    """The labels of a segment."""
    carried = np.array([column.any() for column in seen.T])
    carried[NORMAL] = not carried[SICK].any()
    return _names(carried)


def runs_of(segment: str, seen: Seen) -> list[Run]:
    """Runs of frames that show the same, from number 0 on."""
    edges = [0, *(np.flatnonzero((seen[1:] != seen[:-1]).any(1)) + 1), len(seen)]
    return [Run(segment, int(a), int(b), _names(seen[a])) for a, b in pairwise(edges)]


def at(path: Path, frames: npt.NDArray[np.generic]) -> Path:
    """The exposures of *frames* alone: a mask [T] or ordinals."""
    return replace(path, **{name: getattr(path, name)[frames] for name in path.__dataclass_fields__})


def _names(carried: Seen) -> tuple[str, ...]:
    return tuple(name for name, yes in zip(CLASSES, carried, strict=True) if yes)
