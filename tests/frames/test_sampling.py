from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.frames.sampling import interleaved, stratified, uniform

counts = st.integers(1, 5000)
wishes = st.integers(1, 80)


def test_by_hand() -> None:
    assert uniform(5, 30).tolist() == [0, 1, 2, 3, 4]
    assert uniform(30).tolist() == list(range(30))
    assert uniform(10, 5).tolist() == [1, 3, 5, 7, 9]
    assert uniform(9, 3).tolist() == [1, 4, 7]
    assert [part.tolist() for part in interleaved(7, 3)] == [[0, 3, 6], [1, 4], [2, 5]]
    assert [part.tolist() for part in interleaved(3, 3)] == [[0, 1, 2]]
    assert interleaved(0, 3) == []


@settings(deadline=None)
@given(counts, wishes)
def test_uniform_is_even(count: int, wanted: int) -> None:
    chosen = uniform(count, wanted)
    assert len(chosen) == min(count, wanted)
    assert chosen[0] >= 0
    assert chosen[-1] < count
    steps = np.diff(chosen)
    if len(steps):
        assert steps.min() >= 1
        assert steps.max() - steps.min() <= 1
        assert abs(chosen[0] - (count - 1 - chosen[-1])) <= 1  # the same room at both ends


@settings(deadline=None)
@given(counts, wishes, st.integers(0, 2**32 - 1))
def test_stratified_is_sorted_without_repeats_and_spread(count: int, wanted: int, seed: int) -> None:
    chosen = stratified(count, wanted, np.random.default_rng(seed))
    assert len(chosen) == min(count, wanted)
    assert 0 <= chosen[0] <= chosen[-1] < count
    steps = np.diff(chosen)
    assert (steps >= 1).all()
    assert (steps <= 2 * -(-count // wanted)).all()  # no gap longer than two stretches
    np.testing.assert_array_equal(chosen, stratified(count, wanted, np.random.default_rng(seed)))


def test_stratified_favours_no_frame() -> None:
    count, wanted, draws = 50, 30, 4000
    rng = np.random.default_rng(0)
    hits = sum(np.bincount(stratified(count, wanted, rng), minlength=count) for _ in range(draws))
    share, error = wanted / count, np.sqrt(0.6 * 0.4 / draws)
    assert np.abs(hits / draws - share).max() < 4.5 * error  # stretches that never move would be off by 0.4


@settings(deadline=None)
@given(counts, wishes)
def test_interleaved_is_a_partition(count: int, wanted: int) -> None:
    samples = interleaved(count, wanted)
    assert sorted(np.concatenate(samples).tolist()) == list(range(count))
    lengths = [len(sample) for sample in samples]
    assert max(lengths) <= wanted
    assert max(lengths) - min(lengths) <= 1
    assert len(samples) == -(-count // wanted)
    assert all((np.diff(sample) == len(samples)).all() for sample in samples)
