"""Validation by hand: which classes count, what the loss is a mean of, and which epoch is the better one."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from toy_bags import settings

from devcem.methods import create
from devcem.training.bags import FeatureBags
from devcem.training.devices import make_fabric
from devcem.training.judging import Verdict, judge, judgeable
from devcem.training.trainee import Trainee

# a: both sides; b: no positive; c: no negative; d: its only positive is not known
LABELS = np.array([[1, 0, 1, 1], [0, 0, 1, 0], [1, 0, 1, 0]], bool)
KNOWN = np.array([[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]], bool)


def bags(labels: np.ndarray = LABELS, known: np.ndarray = KNOWN) -> FeatureBags:
    features = [np.full((length, 1), length, np.float32) for length in (2, 40, 5)]
    return FeatureBags(["x", "y", "z"], features, labels, known)


def constant(*logits: float) -> Trainee:
    """Answers the same logits for every bag."""
    method = create("mean-pool", num_classes=len(logits), feature_dim=1)
    with torch.no_grad():
        method.head.weight.zero_()
        method.head.bias.copy_(torch.tensor(logits))
    return Trainee(method)


def cost(logit: float, label: int) -> float:
    return math.log1p(math.exp(-logit if label else logit))


def test_classes_that_validation_can_judge() -> None:
    assert judgeable(bags()).tolist() == [True, False, False, False]


@pytest.mark.parametrize("size", [1, 2, 32])
def test_the_loss_counts_what_can_be_judged(size: int) -> None:
    trainee = constant(1.0, 9.0, -9.0, 9.0)
    verdict = judge(make_fabric(settings()), trainee, bags(), size, workers=2)
    assert verdict.loss == pytest.approx((2 * cost(1, 1) + cost(1, 0)) / 3, rel=1e-6)
    assert verdict.terms == pytest.approx({"video": verdict.loss})
    np.testing.assert_allclose(
        verdict.scores, np.tile(1 / (1 + np.exp([-1.0, -9, 9, -9])), (3, 1)), rtol=1e-6
    )
    assert trainee.training  # as it was


def test_where_none_can_be_judged_all_count() -> None:
    labels = np.zeros((3, 2), bool)
    verdict = judge(make_fabric(settings()), constant(1.0, 2.0), bags(labels, ~labels), 2, 1)
    assert verdict.loss == pytest.approx((cost(1, 0) + cost(2, 0)) / 2, rel=1e-6)
    assert math.isnan(verdict.map)


def test_frames_are_the_uniform_ones_whatever_training_draws() -> None:
    """y has 40 frames and the window is 30: the mean of the 30 middles."""
    ramp = FeatureBags(["y"], [np.arange(40, dtype=np.float32)[:, None]], np.ones((1, 1), bool))
    trainee = constant(0.0)
    with torch.no_grad():
        trainee.method.head.weight.fill_(0.1)  # type: ignore[union-attr]
    middles = [int((2 * i + 1) * 40 / 60) for i in range(30)]
    verdict = judge(make_fabric(settings()), trainee, ramp, 1, 1)
    assert verdict.scores[0, 0] == pytest.approx(1 / (1 + math.exp(-0.1 * np.mean(middles))), rel=1e-6)


def verdict(loss: float, map_: float) -> Verdict:
    return Verdict(loss, {}, map_, 0.0, np.zeros((1, 1)))


def test_the_better_epoch() -> None:
    low, high = verdict(0.5, 0.6), verdict(0.9, 0.7)
    assert low.rank("loss") < high.rank("loss")
    assert high.rank("map") < low.rank("map")
    assert verdict(0.5, 0.7).rank("map") < verdict(0.6, 0.7).rank("map")  # the loss decides between equals
    nothing = verdict(0.4, math.nan)
    assert nothing.rank("map") == 0.4  # no class has both sides
    assert verdict(math.inf, 0.9).rank("map") < verdict(0.1, 0.8).rank("map")
