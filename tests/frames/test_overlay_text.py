"""An optical reader finds the burnt-in strings before the mask and none after it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
from burning import GREEN, TEXTS, WHITE, burn, seen_through, tissue
from PIL import Image

from devcem.frames.overlay import View, mask_overlay
from devcem.frames.source import Frames
from devcem.frames.view import find_view
from devcem.synthetic import Patient, Scene, render
from devcem.synthetic.motion import travel
from devcem.synthetic.overlay_text import PRODUCT

Reader = Callable[[Frames], str]


@pytest.fixture(scope="session")
def read_text() -> Reader:
    """All letters and digits an OCR engine sees in one frame [H,W,3] (it takes some tissue for Chinese)."""
    ocr = pytest.importorskip("rapidocr_onnxruntime", reason="the OCR engine has no build for this Python")
    engine = ocr.RapidOCR(intra_op_num_threads=1)

    def read(frame: Frames) -> str:
        factor = max(1, round(576 / frame.shape[0]))
        large = np.repeat(np.repeat(frame, factor, 0), factor, 1)
        found, _ = engine(np.ascontiguousarray(large[..., ::-1]), use_cls=False)
        return re.sub(r"[^0-9A-Za-z:]", "", "".join(text for _, text, _ in found or []))

    return read


def assert_read_before_and_not_after(frames: Frames, read_text: Reader, looked_at: int = 2) -> None:
    view = find_view(frames)
    masked = mask_overlay(frames, view)
    for before, after in zip(frames[:looked_at], masked[:looked_at], strict=True):
        seen = read_text(before)
        for text in TEXTS:
            assert text.replace(" ", "") in seen
        assert read_text(after) == ""


@pytest.mark.parametrize("colour", [WHITE, GREEN], ids=["white", "green"])
def test_real_pillcam_frames(shared_data: Path, read_text: Reader, colour: tuple[int, int, int]) -> None:
    paths = sorted((shared_data / "captiv8_pillcam_colon2" / "frames").glob("*.jpg"))
    frames = np.stack([np.asarray(Image.open(path).convert("RGB")) for path in paths[::4]])
    assert_read_before_and_not_after(burn(frames, colour), read_text, looked_at=3)


def test_a_dark_frame_by_itself(shared_data: Path, read_text: Reader) -> None:
    paths = sorted((shared_data / "captiv8_pillcam_colon2" / "frames").glob("*.jpg"))
    frames = np.stack([np.asarray(Image.open(path).convert("RGB")) for path in paths])
    darkest = frames[np.argmin(frames.mean(axis=(1, 2, 3)))]
    assert_read_before_and_not_after(burn(darkest[None]), read_text, looked_at=1)


def test_an_octagon_filmed_in_a_larger_frame(shared_data: Path, read_text: Reader) -> None:
    paths = sorted((shared_data / "kvasir_capsule_tiles").glob("*.png"))
    tiles = np.stack([np.asarray(Image.open(path).convert("RGB")) for path in paths])
    frames = np.zeros((len(tiles), 512, 512, 3), np.uint8)
    frames[:, 88:424, 88:424] = tiles
    assert_read_before_and_not_after(burn(frames), read_text)


def test_the_name_that_a_real_video_carries(shared_data: Path, read_text: Reader) -> None:
    with av.open(str(shared_data / "tsr_pillcam_colon_video" / "4_C2_6mm_polyp_B_cut.wmv")) as container:
        frames = np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])
    assert "COLON" in read_text(frames[0])
    assert read_text(mask_overlay(frames, find_view(frames))[0]) == ""


@pytest.mark.parametrize(
    "view",
    [
        View(400, 400, (30, 30, 370, 370), circle=(200.0, 200.0, 175.0)),
        View(400, 400, (30, 30, 370, 370), cuts=(70.0, 70.0, 70.0, 70.0)),
    ],
    ids=["circle", "octagon"],
)
def test_made_up_frames(read_text: Reader, view: View) -> None:
    frames = seen_through(tissue(10, 400, 400), view)
    assert_read_before_and_not_after(burn(frames, scale=0.7), read_text)


@pytest.mark.parametrize("shape", ["circle", "octagon"])
def test_rendered_frames_carry_their_own_text(read_text: Reader, shape: str) -> None:
    path = travel(np.random.default_rng(0), 12, position=50.0, clock=4 * 3600 + 27 * 60 + 31.5)
    scene = Scene(Patient("p", 1), findings=(), path=path, view=shape)
    frames = np.concatenate([frames for frames, _ in render(scene, size=576)])
    view = find_view(frames)
    assert view.kind == shape
    seen = read_text(frames[0])
    assert "04:27:31" in seen
    assert PRODUCT.replace(" ", "") in seen
    assert re.search(r"S\d{6}", seen)  # the id
    assert re.search(r"\d{8}", seen)  # the date, its dots taken out
    assert read_text(mask_overlay(frames, view)[0]) == ""
