"""Steps of an epoch: every bag in one of them, pairs that share a class where a method asks for such."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcem.methods import create
from devcem.methods.composing import paired, shuffled


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def labels(count: int, classes: int, seed: int = 0, share: float = 0.3) -> np.ndarray:
    return rng(seed).random((count, classes)) < share


@given(st.integers(1, 40), st.integers(2, 15), st.integers(1, 6), st.integers(0, 9), st.floats(0, 0.6))
def test_every_bag_once_and_pairs_share_a_class(
    count: int, size: int, pairs: int, seed: int, share: float
) -> None:
    positive = labels(count, 3, seed, share)
    steps = paired(positive, size, pairs, rng(seed))
    assert sorted(np.concatenate([step.bags for step in steps]).tolist()) == list(range(count))
    assert all(len(step.bags) == size for step in steps[:-1]) and len(steps) == -(-count // size)
    for step in steps:
        assert len(step.pairs) <= min(pairs, size // 2)
        assert len(set(step.pairs.flatten().tolist())) == 2 * len(step.pairs)
        one, two = positive[step.bags[step.pairs[:, 0]]], positive[step.bags[step.pairs[:, 1]]]
        assert (one & two).any(1).all()


@given(st.integers(2, 40), st.integers(0, 9))
def test_pairs_are_missing_only_where_none_is_left(count: int, seed: int) -> None:
    positive = labels(count, 3, seed, 0.2)
    left = np.ones(count, bool)
    for step in paired(positive, 10, 3, rng(seed)):
        left[step.bags[step.pairs.flatten()]] = False
        if len(step.pairs) < 3:
            assert (positive[left].sum(0) < 2).all()
        left[step.bags] = False


def test_the_same_generator_gives_the_same_steps_and_another_others() -> None:
    positive = labels(60, 4)
    one, again, other = (paired(positive, 10, 3, rng(seed)) for seed in (1, 1, 2))
    assert all(np.array_equal(a.bags, b.bags) for a, b in zip(one, again, strict=True))
    assert any(not np.array_equal(a.bags, b.bags) for a, b in zip(one, other, strict=True))


def test_a_rare_class_is_drawn_as_often_as_a_frequent_one() -> None:
    """Two of 100 bags carry class 0, the others class 1: the first of an epoch's pairs is of either, half the
    time."""
    positive = np.zeros((100, 2), bool)
    positive[:2, 0] = positive[2:, 1] = True
    first = [paired(positive, 10, 1, rng(seed))[0].bags[0] < 2 for seed in range(400)]
    assert 0.4 < np.mean(first) < 0.6  # four deviations of 0.025


def test_bags_beside_the_pairs_are_drawn_from_all() -> None:
    positive = labels(50, 3)
    seen = {int(bag) for seed in range(300) for bag in paired(positive, 10, 3, rng(seed))[0].bags[6:]}
    assert seen == set(range(50))


@pytest.mark.parametrize(("size", "pairs"), [(2, 1), (3, 1), (4, 1), (8, 2), (10, 3), (20, 6)])
def test_w_talc_has_three_pairs_in_ten(size: int, pairs: int) -> None:
    positive = np.ones((60, 2), bool)
    steps = create("w-talc", num_classes=2, feature_dim=3).compose(positive, size, rng())
    assert {len(step.pairs) for step in steps} == {pairs}


def test_other_methods_shuffle() -> None:
    positive = labels(23, 3)
    steps = create("mean-pool", num_classes=3, feature_dim=3).compose(positive, 5, rng(4))
    wanted = shuffled(23, 5, rng(4))
    assert [step.bags.tolist() for step in steps] == [step.bags.tolist() for step in wanted]
    assert np.concatenate([step.bags for step in steps]).tolist() == rng(4).permutation(23).tolist()
    assert all(len(step.pairs) == 0 for step in steps)
