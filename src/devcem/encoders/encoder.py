"""What every encoder can do, whatever computes it."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from devcem.frames.source import Frames

Features = npt.NDArray[np.float32]  # [T,D]
Precision = Literal["fp32", "bf16"]


class Encoder(Protocol):
    """A frame in, a feature out. Frames of any shape are scaled to a square: crop to the view before."""

    name: str
    dim: int  # D
    size: int  # pixels a side that frames are scaled to; 0 where they are taken as they come
    batch: int  # frames it takes at once: more are cut up, and whoever has fewer should gather some

    def encode(self, frames: Frames) -> Features:
        """uint8 [T,H,W,3] to float32 [T,D]; each frame by itself."""

    @property
    def fingerprint(self) -> dict[str, Any]:
        """All that decides the features, for caches and model folders."""
