"""STPN by hand: one feature, two classes, W = (1, -1), b = (0.5, 0)."""

from __future__ import annotations

from math import exp, log

import pytest
import torch
from torch import Tensor

from devcem.methods import Bag, Method, MILOutput, collate, create
from devcem.methods.stpn import sparsity_loss

BIAS = torch.tensor([0.5, 0.0])


def by_hand(**options: object) -> Method:
    """Two hidden units of attention, relu(x) and relu(-x): its score is log 3 for x = 1, -log 3 for x = -1,
    and so lambda is 3/4 and 1/4; for x = 0 it is 1/2."""
    method = create("stpn", num_classes=2, feature_dim=1, attention_dim=2, **options)
    with torch.no_grad():
        first, last = method.attention[0], method.attention[2]  # type: ignore[index]
        first.weight.copy_(torch.tensor([[1.0], [-1.0]]))
        last.weight.copy_(torch.tensor([[log(3), -log(3)]]))
        method.head.weight.copy_(torch.tensor([[1.0], [-1.0]]))
        method.head.bias.copy_(BIAS)
        first.bias.zero_()
        last.bias.zero_()
    return method


X = torch.tensor([[[1.0], [-1.0], [0.0]], [[1.0], [7.0], [7.0]]])
MASK = torch.tensor([[True, True, True], [True, False, False]])


def answer(**options: object) -> MILOutput:
    output: MILOutput = by_hand(**options)(X, MASK)
    return output


def close(found: Tensor, wanted: list[object]) -> None:
    torch.testing.assert_close(found, torch.tensor(wanted))


def test_the_sum_by_hand() -> None:
    """First bag: lambda 3/4, 1/4, 1/2, their sum 3/2; sum of lambda x = 3/4 - 1/4 + 0 = 1/2, so the logits
    are 1/2 + 1/2 and -1/2. Frame logits are 3/2 (x, -x) + b."""
    output = answer()
    close(output.extras["lambda"], [[0.75, 0.25, 0.5], [0.75, 0, 0]])
    close(output.attention, [[1 / 2, 1 / 6, 1 / 3], [1, 0, 0]])
    close(output.video_logits, [[1.0, -0.5], [0.75 + 0.5, -0.75]])
    close(output.frame_logits[0], [[2.0, -1.5], [-1.0, 1.5], [0.5, 0.0]])
    close(output.frame_logits[1], [[1.25, -0.75], [0, 0], [0, 0]])


def test_the_mean_by_hand() -> None:
    """As the sum, divided by the 3 real frames: 1/6 + 1/2, -1/6; frame logits are (3/2)/3 (x, -x) + b."""
    output = answer(pooling="mean")
    close(output.attention, [[1 / 2, 1 / 6, 1 / 3], [1, 0, 0]])
    close(output.video_logits, [[1 / 6 + 0.5, -1 / 6], [1.25, -0.75]])
    close(output.frame_logits[0], [[1.0, -0.5], [0.0, 0.5], [0.5, 0.0]])


@pytest.mark.parametrize("pooling", ["sum", "mean"])
def test_frames_score_by_the_weighted_tcam(pooling: str) -> None:
    """lambda sigmoid(w x), without the bias and whatever the pooling: at x = 1 it is 3/4 sigmoid(1)."""
    method = by_hand(pooling=pooling)
    scores = method.frame_scores(method(X, MASK))
    up, down = 1 / (1 + exp(-1)), 1 / (1 + exp(1))
    close(scores[0], [[0.75 * up, 0.75 * down], [0.25 * down, 0.25 * up], [0.25, 0.25]])


def test_the_loss_by_hand() -> None:
    """One bag of x = 1, -1, 0 labelled (1, 0): logits 1 and -1/2. Sparsity (3/4 + 1/4 + 1/2) / 3 = 1/2, or
    their sum 3/2."""
    batch = collate([Bag("a", torch.tensor([1.0, 0]), torch.ones(2).bool(), X[0])])
    video = (log(1 + exp(-1)) + log(1 + exp(-0.5))) / 2
    for sparsity, wanted in (("mean", 0.5), ("sum", 1.5)):
        method = by_hand(beta=0.1, sparsity=sparsity)
        terms = method.loss(method(batch.features, batch.mask), batch)
        assert terms["video"].item() == pytest.approx(video)
        assert terms["sparsity"].item() == pytest.approx(wanted)
        assert terms["total"].item() == pytest.approx(video + 0.1 * wanted)


def test_sparsity_by_hand() -> None:
    """Means 0.4 and 0.2, sums 0.8 and 0.2, whatever stands at padding."""
    weight = torch.tensor([[0.5, 0.3], [0.2, float("nan")]])
    mask = torch.tensor([[True, True], [True, False]])
    assert sparsity_loss(weight, mask).item() == pytest.approx(0.3)
    assert sparsity_loss(weight, mask, "sum").item() == pytest.approx(0.5)


@pytest.mark.parametrize("over", ["mean", "sum"])
def test_gradients_of_sparsity(over: str) -> None:
    weight = torch.rand(2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w: sparsity_loss(w, MASK, over), weight)  # type: ignore[arg-type]


def test_attention_survives_lambdas_of_nothing() -> None:
    """Scores of -200: lambda rounds to 0, and still the attention between frames is theirs."""
    method = by_hand()
    with torch.no_grad():
        method.attention[2].bias.fill_(-200.0)  # type: ignore[index]
    output = method(X, MASK)
    assert output.extras["lambda"].sum() == 0
    wanted = torch.tensor([log(3), -log(3), 0.0]).softmax(0)  # odds are lambda's ratios where lambda is small
    torch.testing.assert_close(output.attention[0], wanted)
