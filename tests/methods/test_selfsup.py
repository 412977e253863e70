from __future__ import annotations

from math import exp, log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from devcem.methods.selfsup import SelfSupervision, selected, selfsup_loss

H = torch.tensor([1.0, 2, 4, 8])[None, :, None]  # [1,T,W] with W=1
HALVES = torch.tensor([[0.4, 0.3, 0.2, 0.1]])  # 1/N is .25: frames 0 and 1 are above
FIRST = torch.tensor([[0.7, 0.1, 0.1, 0.1]])


def judge(kind: str, aggregate: str = "sum") -> SelfSupervision:
    """g(z) = z."""
    made = SelfSupervision(1, kind, aggregate)  # type: ignore[arg-type]
    torch.nn.init.ones_(made.classifier.weight)  # type: ignore[arg-type]
    torch.nn.init.zeros_(made.classifier.bias)  # type: ignore[arg-type]
    return made


def term(made: SelfSupervision, attention: Tensor, h: Tensor = H) -> float:
    mask = torch.ones_like(attention).bool()
    return float(selfsup_loss(made(h, attention, mask)).detach())


def same(logit: float) -> float:
    return log(1 + exp(-logit))  # -log sigmoid(logit)


def different(logit: float) -> float:
    return log(1 + exp(logit))


def test_polarity_by_hand() -> None:
    assert term(judge("polarity"), HALVES) == pytest.approx((same(3) + different(12)) / 2)
    assert term(judge("polarity", "mean"), HALVES) == pytest.approx((same(1.5) + different(6)) / 2)
    assert term(judge("polarity"), FIRST) == pytest.approx((same(1) + different(14)) / 2)


def test_pairs_by_hand() -> None:
    """Different: |3 - 12|. Same: frame 0 against 1, frame 2 against 3."""
    wanted = (different(9) + (same(1) + same(4)) / 2) / 2
    assert term(judge("pair"), HALVES) == pytest.approx(wanted)
    wanted = (different(4.5) + (same(1) + same(4)) / 2) / 2
    assert term(judge("pair", "mean"), HALVES) == pytest.approx(wanted)


def test_a_side_of_one_frame_gives_no_pair() -> None:
    """|1 - 14| is different; of the three others 2 + 8 against 4 is the same."""
    assert term(judge("pair"), FIRST) == pytest.approx((different(13) + same(6)) / 2)
    assert term(judge("pair", "mean"), FIRST) == pytest.approx((different(14 / 3 - 1) + same(1)) / 2)


def test_two_frames_make_one_different_pair() -> None:
    attention, h = torch.tensor([[0.6, 0.4]]), H[:, :2]
    assert term(judge("pair"), attention, h) == pytest.approx(different(1))


@pytest.mark.parametrize("kind", ["polarity", "pair"])
@pytest.mark.parametrize("frames", [1, 2, 3, 7, 30])
def test_equal_attention_costs_and_teaches_nothing(kind: str, frames: int) -> None:
    made = judge(kind)
    h = torch.randn(1, frames, 1, requires_grad=True)
    attention = torch.zeros(1, frames).softmax(1)
    loss = selfsup_loss(made(h, attention, torch.ones(1, frames).bool()))
    loss.backward()
    assert loss.item() == 0
    assert h.grad is not None and not h.grad.any()
    assert all(p.grad is not None and not p.grad.any() for p in made.parameters())


@pytest.mark.parametrize("kind", ["polarity", "pair"])
def test_a_bag_without_sides_counts_in_the_mean(kind: str) -> None:
    """The mean is over all bags, so that parts of a batch add up to it."""
    made = judge(kind)
    two = torch.cat([HALVES, torch.full((1, 4), 0.25)])
    mask = torch.ones(2, 4).bool()
    both = float(selfsup_loss(made(H.expand(2, 4, 1), two, mask)).detach())
    assert both == pytest.approx(term(made, HALVES) / 2)


def test_padding_is_on_neither_side() -> None:
    """Four real frames of seven: 1/N is 1/4, and what stands at padding enters no sum."""
    attention = torch.cat([HALVES, torch.zeros(1, 3)], dim=1)
    mask = torch.tensor([[True] * 4 + [False] * 3])
    h = torch.cat([H, torch.full((1, 3, 1), 100.0)], dim=1)
    for kind in ("polarity", "pair"):
        padded = selfsup_loss(judge(kind)(h, attention, mask)).detach()
        assert float(padded) == pytest.approx(term(judge(kind), HALVES))


def test_two_layers_are_a_network() -> None:
    made = SelfSupervision(4, "polarity", layers=2)
    assert [tuple(p.shape) for p in made.parameters()] == [(256, 4), (256,), (1, 256), (1,)]
    first, second = made.classifier[0], made.classifier[2]  # type: ignore[index]
    h, attention = torch.randn(1, 3, 4), torch.tensor([[0.6, 0.3, 0.1]])
    logits = made(h, attention, torch.ones(1, 3).bool())["selfsup_logits"]
    wanted = second(first(h[:, 0]).clamp(min=0))  # .6 alone is above 1/3
    torch.testing.assert_close(logits[:, 0], wanted[:, 0])


@settings(deadline=None)  # the first call into torch is slow
@given(st.lists(st.floats(-20, 20), min_size=1, max_size=40), st.integers(0, 5))
def test_sides_are_above_and_at_or_below_an_equal_share(scores: list[float], padding: int) -> None:
    n = len(scores)
    attention = torch.tensor([scores]).softmax(1)
    mask = torch.tensor([[True] * n + [False] * padding])
    chosen = selected(torch.nn.functional.pad(attention, (0, padding)), mask)
    assert not chosen[~mask].any()
    exact = torch.tensor([scores], dtype=torch.float64).softmax(1) * n
    assert chosen[0, :n][exact[0] > 1 + 2e-4].all() and not chosen[0, :n][exact[0] <= 1].any()
