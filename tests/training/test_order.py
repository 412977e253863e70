"""The order of bags is a function of seed and epoch, loses no bag, and falls apart over processes exactly."""

from __future__ import annotations

from functools import partial

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from devcem.methods import create
from devcem.methods.composing import Step, paired
from devcem.training.order import Compose, generator, share, steps

SIZES = st.integers(1, 40)
SHUFFLED: Compose = create("mean-pool", num_classes=2, feature_dim=1).compose
IN_PAIRS: Compose = create("w-talc", num_classes=2, feature_dim=1).compose


def positive(count: int) -> np.ndarray:
    return np.random.default_rng(count).random((count, 2)) < 0.4


@given(SIZES, SIZES, st.integers(0, 5), st.integers(0, 5), st.booleans())
def test_every_bag_once_an_epoch(count: int, size: int, seed: int, epoch: int, pairs: bool) -> None:
    order = partial(steps, IN_PAIRS if pairs else SHUFFLED, positive(count), size, seed, epoch)
    found = order()
    assert sorted(np.concatenate([step.bags for step in found]).tolist()) == list(range(count))
    assert all(len(step.bags) == size for step in found[:-1])
    assert 1 <= len(found[-1].bags) <= size
    for one, two in zip(found, order(), strict=True):
        assert np.array_equal(one.bags, two.bags) and np.array_equal(one.pairs, two.pairs)


def test_another_epoch_and_another_seed_are_another_order() -> None:
    for compose in (SHUFFLED, IN_PAIRS):
        orders = {
            tuple(np.concatenate([step.bags for step in steps(compose, positive(30), 7, s, e)]).tolist())
            for s in range(5)
            for e in range(5)
        }
        assert len(orders) == 25


@given(st.integers(1, 20), st.integers(1, 6))
def test_processes_share_a_step_without_loss(count: int, ranks: int) -> None:
    step = Step(np.arange(count) + 100, np.empty((0, 2), np.int64))
    parts = [share(step, rank, ranks).bags for rank in range(ranks)]
    assert sorted(np.concatenate(parts).tolist()) == step.bags.tolist()
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@given(st.integers(1, 30), st.integers(1, 6), st.integers(0, 5))
def test_pairs_stay_together_in_a_process(count: int, ranks: int, pairs: int) -> None:
    for step in paired(positive(count), 10, pairs, np.random.default_rng(count)):
        parts = [share(step, rank, ranks) for rank in range(ranks)]
        assert sorted(np.concatenate([part.bags for part in parts]).tolist()) == sorted(step.bags.tolist())
        kept = [part.bags[part.pairs].tolist() for part in parts]
        assert sorted(pair for part in kept for pair in part) == sorted(step.bags[step.pairs].tolist())
        loads = [len(part.bags) for part in parts]
        assert max(loads) - min(loads) <= 2


def test_what_is_drawn_for_a_bag_is_its_own() -> None:
    draws = {generator(s, e, i).integers(2**60).item() for s in range(4) for e in range(4) for i in range(4)}
    assert len(draws) == 64
    assert generator(1, 2, 3).integers(2**60) == generator(1, 2, 3).integers(2**60)
    first = np.random.default_rng([1, 2]).integers(2**60)  # what orders the epoch is not what draws in it
    assert all(generator(1, 2, i).integers(2**60) != first for i in range(20))
