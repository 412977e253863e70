"""Bags small enough to be learnt in a second, and a small PS-DeVCEM for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from devcem.config import checked, merged
from devcem.methods import create
from devcem.training.bags import FeatureBags
from devcem.training.devices import make_fabric
from devcem.training.loop import Fitted, Listener, fit
from devcem.training.settings import TrainSettings
from devcem.training.trainee import Trainee

CLASSES, DIM = 3, 12


def toy(
    count: int = 8, seed: int = 0, settings: TrainSettings | None = None, views: int = 0, noise: float = 0.3
) -> FeatureBags:
    """Bags of 4 to 12 frames. A class that a bag carries lifts one feature in a third of its frames."""
    told = settings or TrainSettings()
    rng = np.random.default_rng(seed)
    labels = rng.random((count, CLASSES)) < 0.4
    labels[:CLASSES] |= np.eye(CLASSES, dtype=bool)[:count]  # every class once,
    labels[CLASSES : 2 * CLASSES] &= ~np.eye(CLASSES, dtype=bool)[
        : max(count - CLASSES, 0)
    ]  # and missing once
    features, augmented = [], []
    for row in labels:
        frames = int(rng.integers(4, 13))
        signal = np.zeros((frames, DIM), np.float32)
        for k in np.flatnonzero(row):
            signal[rng.permutation(frames)[: -(-frames // 3)], k] = 3
        features.append((signal + noise * rng.standard_normal(signal.shape)).astype(np.float32))
        augmented.append(
            (signal + noise * rng.standard_normal((max(views, 1), *signal.shape))).astype(np.float32)
        )
    ids = [f"bag{index}" for index in range(count)]
    return FeatureBags(
        ids, features, labels, data=told.data, views=augmented if views else None, seed=told.seed
    )


def tiny(method: str = "ps-devcem", dim: int = DIM, **options: Any) -> Trainee:
    """The same weights every time."""
    torch.manual_seed(0)
    small = (
        {"hidden": 8, "layers": 1, "attention_dim": 6}
        if {"devcem", "lstm", "conv"} & {*method.split("-")}
        else {}
    )
    return Trainee(create(method, num_classes=CLASSES, feature_dim=dim, **small, **options))


def settings(**changes: Any) -> TrainSettings:
    base = {"batch": 4, "epochs": 6, "accelerator": "cpu", "optimiser": {"lr": 0.01, "weight_decay": 0}}
    return checked(TrainSettings, merged(base, changes))


def run(
    told: TrainSettings,
    train: FeatureBags | None = None,
    validation: FeatureBags | None = None,
    trainee: Trainee | None = None,
    folder: Path | None = None,
    listener: Listener | None = None,
) -> Fitted:
    learners = train or toy(settings=told)
    judges = validation or toy(7, seed=1, settings=told)
    return fit(make_fabric(told), trainee or tiny(), learners, judges, told, folder, listener)


def history(fitted: Fitted) -> list[dict[str, float]]:
    """Without the seconds, which differ from run to run."""
    return [{key: row[key] for key in row if key != "seconds"} for row in fitted.progress.history]


def same(one: Any, two: Any) -> bool:
    """Equal to the bit, but for seconds; NaN equals NaN."""
    if isinstance(one, torch.Tensor):
        return one.dtype == two.dtype and torch.equal(
            one.view(-1).view(torch.uint8), two.view(-1).view(torch.uint8)
        )
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one if key != "seconds")
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    return bool(one == two or (one != one and two != two))
