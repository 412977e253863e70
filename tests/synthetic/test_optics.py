from __future__ import annotations

import numpy as np
import pytest
import torch

from devcem.synthetic.optics import CORNER, ROUND, develop, expose, jpeg, view_mask


def test_the_round_view_is_a_circle_with_four_flat_sides() -> None:
    mask = view_mask(256, "circle")
    corner = 4 - (2 * np.pi - 8 * np.arccos(1 / ROUND)) / 2 * ROUND**2 - 4 * np.sqrt(ROUND**2 - 1)
    assert float(mask.mean()) == pytest.approx(1 - corner / 4, abs=0.003)
    assert float(mask[0, 128]) == float(mask[128, 0]) == 1  # flat
    assert float(mask[0, 0]) == 0


def test_the_octagon_has_four_corners_cut() -> None:
    mask = view_mask(256, "octagon")
    assert float(mask.mean()) == pytest.approx(1 - 4 * CORNER**2 / 2 / 4, abs=0.003)
    assert float(mask[0, 0]) == 0
    assert float(mask[0, 128]) == 1


def test_exposure_lifts_the_dark_and_keeps_order() -> None:
    inside = torch.ones(16, 16)
    dark = torch.rand(3, 1, 16, 16, generator=torch.Generator().manual_seed(0)) * 0.1
    bright = dark * 10
    low, high = expose(dark, inside), expose(bright, inside)
    assert float(high.mean()) > float(low.mean())  # the gain does not go all the way
    assert float(high.mean()) / float(low.mean()) < 10**0.5 * 0.8  # but some
    pixels, shown = dark[1, 0, 4].flatten(), low[0, 1, 4].flatten()
    assert torch.equal(pixels[4:12].argsort(), shown[4:12].argsort()) or float(shown.max()) <= 1.3


def test_development_is_reproducible_and_black_outside() -> None:
    mask = view_mask(64, "circle")
    image = torch.full((2, 3, 64, 64), 0.5)
    one, again, other = (develop(image, mask, seeds) for seeds in ([1, 2], [1, 2], [3, 2]))
    assert one.dtype == np.uint8
    assert np.array_equal(one, again)
    assert not np.array_equal(one[0], other[0])
    assert np.array_equal(one[1], other[1])
    assert not one[:, 0, 0].any()
    assert one[0, 16:48, 16:48].mean() == pytest.approx(127.5, abs=1.5)


def test_sharpening_overshoots_at_an_edge() -> None:
    image = torch.full((1, 3, 32, 32), 0.3)
    image[..., 16:] = 0.6
    row = develop(image, torch.ones(32, 32), [0])[0, 16, :, 1].astype(float) / 255
    assert row[17:20].max() > 0.64
    assert row[12:16].min() < 0.26


def test_jpeg_is_near_and_lossy() -> None:
    frames = np.random.default_rng(0).integers(90, 160, (2, 32, 32, 3)).astype(np.uint8)
    back = jpeg(frames, 90)
    assert back.shape == frames.shape
    off = np.abs(back.astype(int) - frames)
    assert 0 < off.mean() < 25
    assert np.abs(jpeg(frames, 40).astype(int) - frames).mean() > off.mean()
