from __future__ import annotations

import sys

import numpy as np
import pytest

from devcem.synthetic.optics import view_mask
from devcem.synthetic.overlay_text import PRODUCT, burn, clock
from devcem.synthetic.scene import Path, Patient, Scene


def burnt(size: int, seed: int = 5, seconds: float = 3723.9) -> np.ndarray:
    one = np.zeros(1)
    path = Path(one, np.zeros((1, 2)), np.zeros((1, 2)), one, one, one + seconds)
    frames = np.zeros((1, size, size, 3), np.uint8)
    burn(frames, Scene(Patient("", seed), (), path), path.times)
    return frames[0]


def test_the_clock_counts_whole_seconds() -> None:
    assert [clock(s) for s in (0, 59.99, 3723.9, 36000)] == ["00:00:00", "00:00:59", "01:02:03", "10:00:00"]


@pytest.mark.parametrize("view", ["circle", "octagon"])
@pytest.mark.parametrize("size", [256, 512, 576])
def test_text_stays_outside_the_view(size: int, view: str) -> None:
    n = int(size * 228 / 256) // 2 * 2
    edge = (size - n) // 2
    frame = burnt(size)
    assert frame.any()
    assert not frame[edge : edge + n, edge : edge + n][view_mask(n, view).numpy() > 0].any()


def test_text_stands_in_three_corners_and_follows_patient_and_time() -> None:
    frame = burnt(576)
    corners = {"top left": frame[:45, :200], "top right": frame[:25, -150:], "bottom left": frame[-30:, :200]}
    assert all(corner.any() for corner in corners.values())
    assert not frame[-30:, -200:].any()
    later, other = burnt(576, seconds=9), burnt(576, seed=6)
    assert not np.array_equal(later[:20], frame[:20])
    assert np.array_equal(later[22:], frame[22:])
    assert not np.array_equal(other, frame)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the OCR engine has no wheel for this Python")
@pytest.mark.parametrize("size", [512, 576])
def test_an_ocr_engine_reads_it(size: int) -> None:
    engine = pytest.importorskip("rapidocr_onnxruntime").RapidOCR()
    found, _ = engine(burnt(size)[..., ::-1].copy())
    text = " ".join(line[1] for line in found).replace(" ", "")
    assert "01:02:03" in text
    assert PRODUCT.replace(" ", "") in text
