"""Weights of the loss, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from devcem.training.settings import Balance
from devcem.training.weights import loss_weights

# ten bags; a: 2 positives; b: 8; c: none; d: 1, and 3 bags do not know it
LABELS = np.zeros((10, 4), bool)
LABELS[:2, 0] = LABELS[:8, 1] = LABELS[:1, 3] = True
KNOWN = np.ones((10, 4), bool)
KNOWN[7:, 3] = False


def weights(**settings: object) -> tuple[list[float], list[float]]:
    positive, classes = loss_weights(LABELS, KNOWN, Balance(**settings))  # type: ignore[arg-type]
    assert positive.dtype == classes.dtype == torch.float32
    return positive.tolist(), classes.tolist()


def test_nothing_is_weighed_by_default() -> None:
    assert weights() == ([1, 1, 1, 1], [1, 1, 1, 1])


def test_positives_count_for_as_many_as_there_are_negatives() -> None:
    assert weights(positives=1)[0] == [4, 1, 1, 6]  # 8 / 2; 2 / 8 is not lowered below 1; none; 6 / 1
    assert weights(positives=0.5)[0] == pytest.approx([2, 1, 1, 6**0.5])
    assert weights(positives=1, largest=5)[0] == [4, 1, 1, 5]


def test_rare_classes() -> None:
    """1 / positives, as 8/2, 8/8, 8/1; a class without one keeps 1; then the mean is 1."""
    assert weights(classes="inverse")[1] == pytest.approx([x / 3.5 for x in (4, 1, 1, 8)])


def test_a_label_that_is_not_known_is_none() -> None:
    labels, known = np.array([[True], [True], [False]]), np.array([[True], [False], [True]])
    positive, _ = loss_weights(labels, known, Balance(positives=1))
    assert positive.tolist() == [1]  # one against one


def test_no_positive_at_all() -> None:
    positive, classes = loss_weights(
        np.zeros((3, 2), bool), np.ones((3, 2), bool), Balance(positives=1, classes="inverse")
    )
    assert positive.tolist() == classes.tolist() == [1, 1]
