"""Weights of classes and of positive labels in the loss, from the labels of the training bags."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from devcem.training.bags import Bools
from devcem.training.settings import Balance


def loss_weights(labels: Bools, known: Bools, balance: Balance) -> tuple[Tensor, Tensor]:
    """(positive [K], class [K]). A class without a known positive keeps 1 in both."""
    positives = (labels & known).sum(0)
    negatives = (~labels & known).sum(0)
    there = np.maximum(positives, 1)
    positive = np.where(positives > 0, (negatives / there) ** balance.positives, 1.0)
    classes = np.ones(labels.shape[1])
    if balance.classes == "inverse" and positives.any():
        rare = positives.max() / there  # 1 for the most frequent class
        classes = np.where(positives > 0, rare, 1.0)
        classes /= classes.mean()
    return torch.tensor(np.clip(positive, 1.0, balance.largest)).float(), torch.tensor(classes).float()
