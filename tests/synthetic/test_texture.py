from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcem.synthetic.texture import blur, draw_from, fractal, slope_of, smoothstep, vessels


def test_fractal_has_unit_deviation_and_no_power_outside_its_band() -> None:
    noise = fractal(draw_from(1), (64, 64), 2.0, low=4, high=10)
    assert noise.mean() == pytest.approx(0, abs=1e-5)
    assert noise.std() == pytest.approx(1, abs=1e-3)
    power = np.abs(np.fft.fft2(noise)) ** 2
    frequency = np.hypot(np.fft.fftfreq(64)[:, None], np.fft.fftfreq(64)[None, :]) * 64
    inside = (frequency >= 4) & (frequency <= 10)
    assert power[~inside].sum() < 1e-6 * power[inside].sum()


def test_steeper_noise_is_smoother() -> None:
    rough, smooth = (fractal(draw_from(2), (128, 128), slope, 1, 60) for slope in (0.5, 3.0))
    assert np.abs(np.diff(rough)).mean() > 3 * np.abs(np.diff(smooth)).mean()


def test_slope_of_a_wave_is_its_derivative() -> None:
    x = np.arange(64) * 2 * np.pi / 64
    down, right = slope_of(np.tile(np.sin(x), (64, 1)).astype(np.float32))
    assert np.abs(down).max() < 1e-6
    np.testing.assert_allclose(right[0], np.cos(x) * np.sin(2 * np.pi / 64), atol=1e-5)


def test_blur_wraps_and_keeps_the_mean() -> None:
    tile = np.zeros((16, 16), np.float32)
    tile[0, 0] = 1
    soft = blur(tile, 1.5)
    assert soft.sum() == pytest.approx(1, abs=1e-5)
    assert soft[0, 1] == pytest.approx(soft[0, 15], abs=1e-6)  # over the edge as within
    assert 0 < soft[0, 1] < soft[0, 0]


def test_vessels_cover_some_of_the_tile_and_differ_by_seed() -> None:
    one, again, other = (vessels(draw_from(seed), 256, trees=12) for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert 0.01 < (one > 0.5).mean() < 0.5


@given(st.floats(-3, 3))
def test_smoothstep_stays_between_and_is_exact_in_the_middle(x: float) -> None:
    assert 0 <= float(smoothstep(-1, 1, np.array([x]))[0]) <= 1
    assert float(smoothstep(-1, 1, np.array([0.0]))[0]) == 0.5


def test_draw_from_depends_on_every_seed() -> None:
    values = [draw_from(*seeds).uniform() for seeds in ((1, "a"), (1, "b"), (2, "a"))]
    assert len(set(values)) == 3
    assert draw_from(1, "a").uniform() == values[0]
