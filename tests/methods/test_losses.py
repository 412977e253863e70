from __future__ import annotations

from math import inf, log, nan

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from devcem.methods.losses import binary_cross_entropy, video_bce

ONES = torch.ones(2)


def bce(
    logits: list[list[float]],
    labels: list[list[float]],
    known: list[list[int]] | None = None,
    positive: Tensor = ONES,
    classes: Tensor = ONES,
) -> float:
    mask = torch.ones(len(logits), 2).bool() if known is None else torch.tensor(known).bool()
    return float(video_bce(torch.tensor(logits), torch.tensor(labels), mask, positive, classes))


def test_by_hand() -> None:
    """sigmoid(log 3) is 3/4: a present class costs log 4/3, an absent one log 4; at 0 both cost log 2."""
    assert bce([[log(3), 0]], [[1, 0]]) == pytest.approx((log(4 / 3) + log(2)) / 2)
    assert bce([[log(3), 0]], [[0, 1]]) == pytest.approx((log(4) + log(2)) / 2)


def test_a_bag_is_the_mean_of_what_it_knows() -> None:
    logits, labels = [[log(3), 0], [log(3), 0]], [[1.0, 0], [0, 0]]
    assert bce(logits, labels, [[1, 0], [1, 1]]) == pytest.approx((log(4 / 3) + (log(4) + log(2)) / 2) / 2)


def test_a_bag_that_knows_nothing_counts_as_nothing() -> None:
    assert bce([[log(3), 0], [9, 9]], [[1, 1], [0, 0]], [[1, 0], [0, 0]]) == pytest.approx(log(4 / 3) / 2)
    assert bce([[5, 5]], [[1, 0]], [[0, 0]]) == 0


def test_weights_by_hand() -> None:
    logits, labels = [[log(3), 0.0]], [[1.0, 0.0]]
    doubled = bce(logits, labels, positive=torch.tensor([2.0, 2.0]))
    assert doubled == pytest.approx((2 * log(4 / 3) + log(2)) / 2)
    weighed = bce(logits, labels, classes=torch.tensor([3.0, 1.0]))
    assert weighed == pytest.approx((3 * log(4 / 3) + log(2)) / 4)
    assert bce(logits, labels, classes=torch.zeros(2)) == 0
    only = bce(logits, labels, [[0, 1]], classes=torch.tensor([3.0, 0.5]))
    assert only == pytest.approx(log(2))


@pytest.mark.parametrize("junk", [nan, inf, -inf, 1e38])
def test_junk_at_unknown_classes_does_nothing(junk: float) -> None:
    logits = torch.tensor([[log(3), junk]], requires_grad=True)
    labels, known = torch.tensor([[1.0, nan]]), torch.tensor([[True, False]])
    loss = video_bce(logits, labels, known, ONES, ONES)
    loss.backward()
    assert loss.item() == pytest.approx(log(4 / 3))
    assert logits.grad is not None and logits.grad.tolist() == [[pytest.approx(-0.25), 0.0]]


def test_certainty_costs_nothing_or_everything() -> None:
    logits, labels = torch.tensor([inf, -inf, inf, -inf]), torch.tensor([1.0, 0.0, 0.0, 1.0])
    assert binary_cross_entropy(logits, labels).tolist() == [0, 0, inf, inf]


def test_half_precision_is_counted_in_single() -> None:
    cost = binary_cross_entropy(torch.tensor([-200.0], dtype=torch.bfloat16), torch.ones(1))
    assert cost.dtype == torch.float32 and float(cost) == 200


LOGITS = st.lists(st.floats(-50, 50, width=32), min_size=6, max_size=6)


@settings(deadline=None)  # the first call into torch is slow
@given(LOGITS, st.lists(st.booleans(), min_size=6, max_size=6), st.floats(0, 10))
def test_agrees_with_torch(drawn: list[float], present: list[bool], weight: float) -> None:
    logits, labels = torch.tensor(drawn), torch.tensor(present).float()
    positive = torch.full((6,), weight)
    wanted = binary_cross_entropy_with_logits(logits, labels, reduction="none", pos_weight=positive)
    torch.testing.assert_close(binary_cross_entropy(logits, labels, positive), wanted)


@settings(deadline=None)  # the first call into torch is slow
@given(LOGITS, st.lists(st.booleans(), min_size=6, max_size=6), st.integers(1, 2))
def test_parts_of_a_batch_add_up(drawn: list[float], known: list[bool], cut: int) -> None:
    """What lets two devices with uneven shares agree with one."""
    logits, mask = torch.tensor(drawn).reshape(3, 2), torch.tensor(known).reshape(3, 2)
    labels = torch.tensor([[1.0, 0], [0, 1], [1, 1]])
    whole = video_bce(logits, labels, mask, ONES, ONES)
    first, rest = (
        video_bce(logits[part], labels[part], mask[part], ONES, ONES)
        for part in (slice(cut), slice(cut, None))
    )
    torch.testing.assert_close((cut * first + (3 - cut) * rest) / 3, whole)
