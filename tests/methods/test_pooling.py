from __future__ import annotations

from math import exp, inf, nan, tanh

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from devcem.methods.pooling import Attention, SharedDropout, masked_softmax, pool, real_only, top_weights

SCORES = st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=20)


@settings(deadline=None)  # the first call into torch is slow
@given(SCORES, st.lists(st.sampled_from([nan, inf, -inf, 0.0, 1e30]), max_size=5))
def test_softmax_over_real_frames_alone(scores: list[float], junk: list[float]) -> None:
    n = len(scores)
    mask = torch.tensor([[True] * n + [False] * len(junk)])
    weights = masked_softmax(torch.tensor([scores + junk]), mask)[0]
    assert not weights[n:].any()
    torch.testing.assert_close(weights[:n].double(), torch.from_numpy(softmax(scores)), atol=1e-6, rtol=1e-5)


def test_a_row_without_frames_is_zeros() -> None:
    weights = masked_softmax(torch.tensor([[1.0, 2], [3, 4]]), torch.tensor([[False, False], [True, True]]))
    assert weights[0].tolist() == [0, 0] and float(weights[1].sum()) == pytest.approx(1)


def test_real_only_stops_junk_and_its_gradient() -> None:
    values = torch.tensor([[[1.0, 2], [nan, inf]]], requires_grad=True)
    real = real_only(values, torch.tensor([[True, False]]))
    assert real.tolist() == [[[1, 2], [0, 0]]]
    (real * torch.tensor([1.0, nan])).nansum().backward()
    assert values.grad is not None and not values.grad[0, 1].any()
    flat = real_only(torch.tensor([[5.0, nan]]), torch.tensor([[True, False]]))
    assert flat.tolist() == [[5, 0]]


def test_pool_by_hand() -> None:
    attention = torch.tensor([[0.75, 0.25], [1.0, 0.0]])
    frame_logits = torch.tensor([[[4.0, 0], [0, 8]], [[1, 2], [50, 50]]])
    assert pool(attention, frame_logits).tolist() == [[3, 2], [1, 2]]
    assert pool(attention, frame_logits.bfloat16()).dtype == torch.float32


@pytest.mark.parametrize("gated", [False, True])
def test_attention_by_hand(gated: bool) -> None:
    """Eq. 4 with V = 2, w = 3 on features 0 and .5; the gate's U = 1."""
    attention = Attention(1, 1, gated)
    for part, weight in ((attention.hidden, 2.0), (attention.score, 3.0), (attention.gate, 1.0)):
        if part is not None:
            torch.nn.init.constant_(part.weight, weight)
            torch.nn.init.zeros_(part.bias)
    first, second = attention(torch.tensor([[[0.0], [0.5]]]), torch.ones(1, 2).bool())[0].tolist()
    gate = 1 / (1 + exp(-0.5)) if gated else 1
    assert second / first == pytest.approx(exp(3 * tanh(1) * gate), rel=1e-5)
    assert first + second == pytest.approx(1)


def test_the_inert_parameter_shifts_all_scores_alike() -> None:
    torch.manual_seed(0)
    attention, h, mask = Attention(3, 4), torch.randn(2, 5, 3), torch.ones(2, 5).bool()
    before = attention(h, mask)
    torch.nn.init.constant_(attention.get_parameter(Attention.INERT), 7.0)
    torch.testing.assert_close(attention(h, mask), before)


def test_dropout_is_shared_by_the_frames_of_a_bag() -> None:
    torch.manual_seed(0)
    dropout = SharedDropout(0.25).train()
    dropped = dropout(torch.ones(400, 3, 50))
    assert (dropped == dropped[:, :1]).all()
    torch.testing.assert_close(dropped.unique(), torch.tensor([0, 1 / 0.75]))
    share = float((dropped[:, 0] == 0).float().mean())
    assert share == pytest.approx(0.25, abs=0.015)  # 20,000 draws: five standard deviations
    assert not (dropped[0] == dropped[1]).all()
    assert (dropout.eval()(torch.ones(2, 3, 4)) == 1).all()
    assert (SharedDropout(0.0).train()(torch.ones(2, 3, 4)) == 1).all()


def test_the_highest_frames_share_the_weight_by_hand() -> None:
    """Column 0 of the first bag: the two highest, 3 and 2; column 1: 5, and two tie at 1. One of one in the
    second."""
    values = torch.tensor([[[3.0, 1], [2, 1], [0, 5]], [[-1, -2], [9, 9], [nan, 9]]])
    mask = torch.tensor([[True, True, True], [True, False, False]])
    weights = top_weights(values, mask, torch.tensor([2, 1]))
    assert weights.tolist() == [[[0.5, 0.25], [0.5, 0.25], [0, 0.5]], [[1, 1], [0, 0], [0, 0]]]


@settings(deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.integers(1, 12))
def test_weights_of_the_highest_give_their_mean(drawn: list[int], count: int) -> None:
    k = min(count, len(drawn))
    values = torch.tensor(drawn).float()[None, :, None]
    weights = top_weights(values, torch.ones(1, len(drawn)).bool(), k)
    assert float((weights * values).sum()) == pytest.approx(sum(sorted(drawn)[-k:]) / k, abs=1e-5)
    assert float(weights.sum()) == pytest.approx(1)
