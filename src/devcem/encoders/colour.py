"""How far colour alone goes: the baseline that stands beside every result."""

from __future__ import annotations

from typing import Any

import numpy as np

from devcem.encoders.encoder import Features
from devcem.frames.source import Frames

BINS = 8  # a channel
VALUES = np.arange(256) / 255
DARK = 16  # a pixel with no channel up to this is no tissue: masked, or the black beside the view


class ColourEncoder:
    """The joint RGB histogram (8x8x8, roots of shares) with mean, deviation and skewness of each channel.

    Only tissue counts, and shares are of tissue, so that the view's shape says nothing. D = 512 + 9.
    """

    name = "colour"
    dim = BINS**3 + 9
    size = 0
    batch = 32

    def encode(self, frames: Frames) -> Features:
        return (
            np.stack([_describe(frame) for frame in frames])
            if len(frames)
            else np.empty((0, self.dim), np.float32)
        )

    @property
    def fingerprint(self) -> dict[str, Any]:
        return {"encoder": self.name, "bins": BINS, "dark": DARK, "version": 1}


def _describe(frame: Frames) -> Features:
    """[H,W,3] to [D]; all zeros for a frame without tissue."""
    pixels = frame[frame.max(axis=2) >= DARK].T  # [3,P]
    count = pixels.shape[1]
    if not count:
        return np.zeros(ColourEncoder.dim, np.float32)
    red, green, blue = (pixels // (256 // BINS)).astype(np.uint16)
    shares = np.bincount((red * BINS + green) * BINS + blue, minlength=BINS**3) / count
    values = np.stack([np.bincount(channel, minlength=256) for channel in pixels]) / count  # [3,256]
    mean = values @ VALUES
    off = VALUES - mean[:, None]  # [3,256]
    deviation = np.sqrt((values * off**2).sum(1))
    skewness = np.cbrt((values * off**3).sum(1))  # a length in brightness, like the other two
    return np.concatenate([np.sqrt(shares), mean, deviation, skewness]).astype(np.float32)
