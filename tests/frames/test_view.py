from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from burning import burn, seen_through, tissue
from PIL import Image

from devcem.errors import UserError
from devcem.frames.overlay import View, template
from devcem.frames.source import Facts, Frames, FrameSource, Ordinals, Size
from devcem.frames.view import find_view, view_of

CIRCLE = View(256, 256, (12, 14, 244, 246), circle=(128.0, 130.0, 118.0))
OCTAGON = View(240, 240, (20, 20, 220, 220), cuts=(40.0, 40.0, 40.0, 40.0))
WHOLE_ROUND = View(224, 224, (0, 0, 224, 224), circle=(112.0, 112.0, 112.0))
WIDE = View(300, 400, (10, 60, 290, 340), circle=(150.0, 200.0, 140.0))


def overlap(found: View, true: View) -> float:
    a, b = found.mask(margin=0), true.mask(margin=0)
    return float((a & b).sum() / (a | b).sum())


@pytest.mark.parametrize(
    "true", [CIRCLE, OCTAGON, WHOLE_ROUND, WIDE], ids=["circle", "octagon", "whole", "wide"]
)
@pytest.mark.parametrize("text", [False, True], ids=["plain", "text"])
def test_a_view_is_found_to_a_pixel_or_so(true: View, text: bool) -> None:
    frames = seen_through(tissue(12, true.height, true.width), true)
    found = find_view(burn(frames, scale=0.5) if text else frames)
    assert found.kind == true.kind
    assert found.confidence > 0.8
    assert overlap(found, true) > 0.985
    assert not (found.mask() & ~true.mask(margin=0)).any()  # with its margin it never reaches outside


def test_half_a_view_is_not_enough() -> None:
    frames = seen_through(tissue(12, 256, 256), CIRCLE)
    dark = frames.copy()
    dark[:, :, 120:] //= 32  # the right half sees only lumen
    with pytest.raises(UserError, match=r"no lens view was found \(12 frames of 256x256"):
        find_view(dark)
    assert overlap(find_view(np.concatenate([dark, frames[:6]])), CIRCLE) > 0.97


def test_darkness_of_a_known_size_gets_the_narrowest_template() -> None:
    assert find_view(np.zeros((3, 576, 576, 3), np.uint8)).name == "pillcam-colon-2"
    with pytest.raises(UserError, match="no lens view"):
        find_view(np.zeros((3, 250, 250, 3), np.uint8))


def test_light_outside_every_template_is_not_called_darkness() -> None:
    frames = np.zeros((3, 576, 576, 3), np.uint8)
    frames[:, :100, :300] = 200  # a panel where no lens is
    with pytest.raises(UserError, match="no lens view"):
        find_view(frames)


def test_a_full_picture_stays_whole_only_where_nothing_is_burnt_in() -> None:
    frames = tissue(8, 240, 240)
    view = find_view(frames)
    assert view.kind == "frame"
    assert view.mask().all()
    with pytest.raises(UserError, match="burnt into the picture"):
        find_view(burn(frames))
    with pytest.raises(UserError, match="burnt into the picture"):  # one frame can't show what stands still
        find_view(frames[:1])


def test_text_inside_a_view_is_refused_where_it_can_be_told() -> None:
    frames = seen_through(tissue(12, 256, 256), CIRCLE)
    written = frames.copy()
    written[:, 88:168, 88:168] = burn(frames[:, 88:168, 88:168], scale=0.6)
    with pytest.raises(UserError, match="burnt into the picture"):
        find_view(written)
    stalled = np.repeat(written[:1], 5, axis=0)  # a glint would stand as still as text
    assert find_view(stalled).kind == "circle"


class Kept(FrameSource):
    """Frames in memory."""

    def __init__(self, frames: Frames) -> None:
        self.frames, self.path = frames, Path("exam.avi")
        self.asked: list[int] = []

    @property
    def facts(self) -> Facts:
        count = len(self.frames)
        return Facts(np.arange(count), np.arange(count) / 5, declared=count, damaged=0)

    def read(self, ordinals: Ordinals, size: Size = None) -> Frames:
        assert size is None
        self.asked = list(ordinals)
        return self.frames[self.asked]

    def stream(self, size: Size = None, batch: int = 32) -> Iterator[Frames]:
        raise AssertionError(f"a few frames are enough, not {size} by {batch}")


def test_a_source_is_looked_at_all_along() -> None:
    source = Kept(seen_through(tissue(40, 256, 256), CIRCLE))
    assert overlap(view_of(source, samples=8), CIRCLE) > 0.985
    assert source.asked == [2, 7, 12, 17, 22, 27, 32, 37]


def test_a_source_without_a_view_is_named() -> None:
    with pytest.raises(UserError, match=r"^exam\.avi: no lens view"):
        view_of(Kept(np.zeros((5, 100, 100, 3), np.uint8)))


def test_real_frames(shared_data: Path) -> None:
    def load(folder: str) -> Frames:
        paths = sorted((shared_data / folder).glob("*.*g"))
        return np.stack([np.asarray(Image.open(path).convert("RGB")) for path in paths])

    colon = load("captiv8_pillcam_colon2/frames")
    assert find_view(colon).name == "pillcam-colon-2"
    assert find_view(colon).confidence > 0.98
    for frame in colon:  # and each by itself, dark ones too
        assert find_view(frame[None]).name == "pillcam-colon-2"
    # what fitting gives without the template agrees with it
    fitted = find_view(colon[:, 4:-4, 4:-4])
    assert fitted.name == "detected"
    assert overlap(fitted, View(568, 568, (28, 28, 540, 540), circle=(283.5, 283.5, 272.0))) > 0.995
    tiles = find_view(load("kvasir_capsule_tiles"))
    assert tiles.kind == "octagon"
    assert overlap(tiles, template("olympus-ec-s10", 336, 336)) > 0.99
