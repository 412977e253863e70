"""Small pictures, clips and tables as other people's data comes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

SIDE = 96


def tissue(seed: int, side: int = SIDE) -> npt.NDArray[np.uint8]:
    """A light round view on black, a little different for every seed."""
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    wave = 20 * np.sin(x / 5 + seed) + 15 * np.cos(y / 7 - seed / 3)
    grey = np.where(np.hypot(y, x) < 0.44 * side, 150 + wave, 0)
    return np.stack([grey, 0.7 * grey, 0.5 * grey], axis=-1).clip(0, 255).astype(np.uint8)


def with_text(frame: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """White strokes in the corner, as a burnt-in time has them."""
    burnt = frame.copy()
    burnt[2:8, 3:21:3] = 255
    return burnt


@pytest.fixture
def picture() -> Callable[..., Path]:
    def write(path: Path, seed: int = 0) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(with_text(tissue(seed))).save(path, quality=95)
        return path

    return write


@pytest.fixture
def clip() -> Callable[..., Path]:
    """An MJPEG clip at 5 frames a second with text burnt in; frame i is `tissue(i)`."""

    def write(path: Path, frames: int, rate: int = 5) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        with av.open(path, "w") as container:
            stream = container.add_stream("mjpeg", rate=Fraction(rate))
            stream.width = stream.height = SIDE
            stream.pix_fmt = "yuvj444p"
            stream.options = {"qmin": "1", "qmax": "1"}
            for i in range(frames):
                image = with_text(tissue(i))
                container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
            container.mux(stream.encode(None))
        return path

    return write
