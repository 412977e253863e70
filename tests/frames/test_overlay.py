from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.errors import UserError
from devcem.frames.overlay import TEMPLATES, View, mask_overlay, template

BOX = View(20, 30, (4, 5, 16, 25))


def test_a_box_loses_its_margin_only_inside_the_frame() -> None:
    mask = BOX.mask(margin=0)
    assert mask[4:16, 5:25].all()
    assert mask.sum() == 12 * 20
    assert BOX.mask(margin=2).sum() == 8 * 16
    assert View(20, 30, (0, 5, 16, 30)).mask(margin=2).sum() == 14 * 23  # top and right end with the frame


def test_a_circle_has_its_area() -> None:
    view = View(200, 200, (0, 0, 200, 200), circle=(100, 100, 80))
    assert view.mask(margin=0).sum() == pytest.approx(np.pi * 80**2, rel=0.002)
    assert view.mask(margin=3).sum() == pytest.approx(np.pi * 77**2, rel=0.002)


def test_an_octagon_lacks_its_corners() -> None:
    view = View(100, 100, (0, 0, 100, 100), cuts=(10, 0, 20, 30))
    mask = view.mask(margin=0)
    # of the pixels at the corner, the first n diagonals have their centres on or before x + y = n
    assert (~mask).sum() == sum(n * (n + 1) // 2 for n in (10, 20, 30))
    assert (~mask[:10, :10]).sum() == 55
    assert not (~mask[:10, -10:]).any()
    assert (~mask[-20:, :20]).sum() == 210
    assert (~mask[-30:, -30:]).sum() == 465


@pytest.mark.parametrize("view", TEMPLATES, ids=lambda view: view.name)
@pytest.mark.parametrize("size", [160, 224, 336, 448])
def test_scaled_frames_get_the_scaled_view(view: View, size: int) -> None:
    small = view.at(size, size)
    assert small.mask(margin=0).mean() == pytest.approx(view.mask(margin=0).mean(), abs=0.01)
    assert small.kind == view.kind


def test_another_shape_is_refused() -> None:
    with pytest.raises(UserError, match="640x480 are not a scaled 576x576"):
        template("pillcam-colon-2", 480, 640)


def test_unknown_template() -> None:
    with pytest.raises(UserError, match=r"'pilcam'.*use one of pillcam-colon-2.*frame"):
        template("pilcam", 576, 576)


def test_the_whole_frame_is_left_alone() -> None:
    frames = np.random.default_rng(0).integers(0, 256, (2, 40, 50, 3), dtype=np.uint8)
    np.testing.assert_array_equal(mask_overlay(frames, template("frame", 40, 50)), frames)
    np.testing.assert_array_equal(template("frame", 40, 50).crop(frames), frames)


def test_masking_blackens_the_outside_and_nothing_else() -> None:
    frames = np.random.default_rng(0).integers(1, 256, (3, 288, 288, 3), dtype=np.uint8)
    view = template("pillcam-colon-2", 576, 576)
    before = frames.copy()
    masked = mask_overlay(frames, view)
    inside = view.at(288, 288).mask()
    np.testing.assert_array_equal(frames, before)
    np.testing.assert_array_equal(masked[:, inside], frames[:, inside])
    assert not masked[:, ~inside].any()
    assert mask_overlay(frames, view, out=frames) is frames
    np.testing.assert_array_equal(frames, masked)


def test_the_crop_holds_all_of_the_view() -> None:
    frames = np.ones((2, 288, 288, 3), np.uint8)
    view = template("pillcam-colon-2", 576, 576)
    cropped = view.crop(mask_overlay(frames, view))
    assert cropped.shape == (2, 256, 256, 3)
    assert cropped.sum() == mask_overlay(frames, view).sum()


@settings(deadline=None)
@given(
    centre=st.tuples(st.floats(60, 140), st.floats(60, 140)),
    radius=st.floats(30, 90),
    margin=st.floats(0, 8),
    scale=st.sampled_from([0.5, 1.0, 1.5]),
)
def test_a_larger_margin_is_always_inside_a_smaller(
    centre: tuple[float, float], radius: float, margin: float, scale: float
) -> None:
    view = View(200, 200, (10, 10, 190, 190), circle=(*centre, radius)).at(int(200 * scale), int(200 * scale))
    assert not (view.mask(margin + 1) & ~view.mask(margin)).any()
