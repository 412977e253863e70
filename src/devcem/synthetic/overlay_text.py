"""What a capsule's software burns in beside the view: time, date, id and product. All of it is made up."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from devcem.synthetic.scene import Scene
from devcem.synthetic.texture import draw_from

CANVAS = 576  # the layout's own pixels a side; the view has the middle 512
HEIGHT, LEFT, FIRST_LINE, SECOND_LINE, LAST_LINE = 17, 6, 2, 21, 553
PRODUCT = "SynthCap COLON"
INK = (225, 225, 225)


def burn(frames: npt.NDArray[np.uint8], scene: Scene, times: npt.NDArray[np.float64]) -> None:
    """Into *frames* [b,H,W,3], in place: time top left, date top right, id below it, product at the foot."""
    size = frames.shape[1]
    day, number = _card(scene.patient.seed)
    scale = size / CANVAS
    for frame, seconds in zip(frames, times, strict=True):
        image = Image.fromarray(frame)
        pen = ImageDraw.Draw(image)
        font = _font(HEIGHT * scale)
        pen.text((LEFT * scale, FIRST_LINE * scale), clock(float(seconds)), INK, font)
        pen.text((size - LEFT * scale, FIRST_LINE * scale), day, INK, font, anchor="ra")
        pen.text((LEFT * scale, SECOND_LINE * scale), number, INK, font)
        pen.text((LEFT * scale, LAST_LINE * scale), PRODUCT, INK, font)
        frame[:] = np.asarray(image)


def clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


@lru_cache(maxsize=64)
def _card(seed: int) -> tuple[str, str]:
    """Exam date and id of a patient who does not exist."""
    rng = draw_from(seed, "card")
    day = date(2015, 1, 1) + timedelta(days=int(rng.integers(3650)))
    return day.strftime("%d.%m.%Y"), f"S{int(rng.integers(10**6)):06d}"


@lru_cache(maxsize=8)
def _font(height: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(max(height, 4.0))
