from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.synthetic.motion import (
    FAST_STEP,
    FASTEST,
    MAX_OFFSET,
    MAX_TILT,
    SLOWEST,
    follow,
    rate,
    steps,
    travel,
)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 300), st.integers(0, 2**31))
def test_a_path_stays_in_the_gut(frames: int, seed: int) -> None:
    path = travel(np.random.default_rng(seed), frames, position=7.0, clock=100.0)
    assert len(path) == frames
    assert path.position[0] == 7.0
    assert path.times[0] == 100.0
    assert (np.hypot(*path.offset.T) < MAX_OFFSET).all()
    assert (np.hypot(*path.tilt.T) < MAX_TILT).all()
    assert (path.squeeze >= 0).all()
    assert (path.squeeze <= 1).all()
    gaps = np.diff(path.times)
    assert (gaps > 1 / FASTEST - 1e-9).all()
    assert (gaps < 1 / SLOWEST + 1e-9).all()
    assert all(np.isfinite(getattr(path, name)).all() for name in path.__dataclass_fields__)


def test_the_capsule_films_faster_when_it_moves() -> None:
    assert rate(np.array([0.0, FAST_STEP / 2, FAST_STEP, 1.0, -FAST_STEP])).tolist() == [4, 19.5, 35, 35, 35]
    path = follow(np.random.default_rng(0), np.array([0.0, 0.5, 0.0, 0.0]))
    assert np.diff(path.times) == pytest.approx([1 / 4, 1 / 35, 1 / 4])
    assert path.position.tolist() == [0, 0, 0.5, 0.5]


def test_all_moods_occur() -> None:
    pace = steps(np.random.default_rng(1), 20_000)
    assert pace.mean() > 0.02  # on it goes
    assert 0.05 < (pace < -0.01).mean() < 0.25  # back it slips
    assert 0.1 < (np.abs(pace) < 0.01).mean() < 0.5  # it rests
    assert (pace > 0.3).sum() > 20  # it is thrown
    assert 0.005 < (travel(np.random.default_rng(1), 20_000).squeeze > 0.3).mean() < 0.4


def test_it_is_often_against_the_wall_and_turns_smoothly() -> None:
    path = travel(np.random.default_rng(2), 5000)
    aside = np.hypot(*path.offset.T)
    assert (aside > 0.45).mean() > 0.3
    assert (aside < 0.3).mean() > 0.05
    assert np.percentile(np.abs(np.diff(path.roll)), 90) < 0.15


def test_the_same_chance_gives_the_same_path() -> None:
    first, again, other = (travel(np.random.default_rng(seed), 50) for seed in (3, 3, 4))
    for name in first.__dataclass_fields__:
        assert np.array_equal(getattr(first, name), getattr(again, name))
    assert not np.array_equal(first.position, other.position)


def test_a_jump_comes_with_a_contraction() -> None:
    pace = np.zeros(60)
    pace[30] = 1.0
    path = follow(np.random.default_rng(5), pace)
    assert path.squeeze[30] > 0.2
