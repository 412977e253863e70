"""A scene in words: whose gut, what lies where on its wall, and how the capsule travels. No pixels here."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Finding:
    """Something a reader would tag. Lengths are in tube radii, so that a size means the same in every gut."""

    kind: str  # a class of devcem.labels.CLASSES other than normal
    position: float  # along the gut; the middle of a diffuse stretch
    angle: float  # on the wall, radians; of no meaning where the finding goes round
    size: float  # focal: radius on the wall; diffuse (and debris, bubbles): half the length of the stretch
    contrast: float  # 1 is typical, 0.5 subtle, 1.5 plain
    seed: int  # shape and texture


@dataclass(frozen=True)
class Patient:
    """Colour, texture and cleanliness come from the seed alone (see appearance.py)."""

    id: str
    seed: int


@dataclass(frozen=True)
class Path:
    """Where the capsule is at each of T exposures."""

    position: Array  # [T] along the gut, tube radii; not monotonic
    offset: Array  # [T,2] off the axis, tube radii
    tilt: Array  # [T,2] of the optical axis against the gut's, radians
    roll: Array  # [T] round the optical axis, radians
    squeeze: Array  # [T] in [0,1], how far a contraction ahead has closed the lumen
    times: Array  # [T] seconds since the exam began, rising

    def __len__(self) -> int:
        return len(self.position)

    def part(self, start: int, stop: int) -> Path:
        return replace(self, **{name: getattr(self, name)[start:stop] for name in self.__dataclass_fields__})


@dataclass(frozen=True)
class Scene:
    """What the renderer needs for one stretch of video from one camera."""

    patient: Patient
    findings: tuple[Finding, ...]
    path: Path
    camera: str = "front"  # "front" looks along +position, "rear" along -position
    view: str = "circle"  # or "octagon"
    overlay: bool = True  # burnt-in time, date, id and product name outside the view
