"""Made-up frames and burnt-in text for the tests of the overlay mask."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage

from devcem.frames.overlay import View
from devcem.frames.source import Frames

WHITE, GREEN = (255, 255, 255), (0, 255, 0)
TEXTS = ("07:12:45", "23 Apr 2019", "ID 48213", "PillCam COLON 2")


def tissue(count: int, height: int, width: int, seed: int = 0) -> Frames:
    """Smooth pinkish patches, other ones in every frame."""
    rng = np.random.default_rng(seed)
    coarse = ndimage.gaussian_filter(rng.normal(size=(count, height, width)), (0, height / 16, width / 16))
    level = 130 + 45 * coarse / coarse.std()
    return np.clip(level[..., None] * (1.2, 0.8, 0.6), 45, 255).astype(np.uint8)


def seen_through(frames: Frames, view: View) -> Frames:
    """The frames with black outside the view, as a capsule films, and a black lumen that crosses its edge."""
    frames = frames * view.mask(margin=0)[..., None]
    y, x = np.mgrid[: view.height, : view.width]
    for k, frame in enumerate(frames):
        angle = 2 * np.pi * k / len(frames)
        centre = view.height * (0.5 + 0.4 * np.sin(angle)), view.width * (0.5 + 0.4 * np.cos(angle))
        frame[np.hypot(y - centre[0], x - centre[1]) < view.height / 7] = 3
    return frames


def burn(
    frames: Frames, colour: tuple[int, int, int] = WHITE, scale: float = 1.0, quality: int = 85
) -> Frames:
    """Time, date, id and product name where PillCam frames carry them, then JPEG."""
    height, width = frames.shape[1:3]
    font = ImageFont.load_default(round(20 * scale))
    burnt = []
    for frame in frames:
        image = Image.fromarray(frame)
        pen = ImageDraw.Draw(image)
        time, date, identity, product = TEXTS
        line = round(24 * scale)
        pen.text((6, 3), time, fill=colour, font=font)
        pen.text((width - 6, 3), date, fill=colour, font=font, anchor="ra")
        pen.text((6, 3 + line), identity, fill=colour, font=font)
        pen.text((6, height - 4), product, fill=colour, font=font, anchor="lb")
        packed = io.BytesIO()
        image.save(packed, "JPEG", quality=quality)
        burnt.append(np.asarray(Image.open(packed)))
    return np.stack(burnt)
