"""Small models made by hand, and sources to show them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from devcem.encoders import Backbone, load_backbone
from devcem.methods import create
from devcem.methods.classical import OneVsRest
from devcem.model import Model, ModelInfo, Threshold, TrainedOn

CLASSES = ("polyp", "debris")


def make_model(
    method: str = "mean-pool",
    classes: tuple[str, ...] = CLASSES,
    backbone: Backbone | None = None,
    seed: int = 0,
    options: dict[str, Any] | None = None,
    **changes: Any,
) -> Model:
    """A model with random weights, or fitted to random bags; *changes* go into its info."""
    backbone = backbone or load_backbone("test_resnet", "random")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        built = create(method, num_classes=len(classes), feature_dim=backbone.dim, **(options or {}))
    if isinstance(built, OneVsRest):
        rng = np.random.default_rng(seed)
        bags = list(rng.standard_normal((6, 3, backbone.dim)).astype(np.float32))
        built.fit(bags, np.arange(6)[:, None] % (np.arange(len(classes)) + 2) == 0)
    told: dict[str, Any] = {
        "devcem": "0.0",
        "method": method,
        "options": built.options,
        "feature_dim": backbone.dim,
        "classes": classes,
        "backbone": backbone.fingerprint,
        "backbone_trained": False,
        "view": "frame",
        "window": 3,
        "thresholds": {name: Threshold() for name in classes},
        "trained_on": trained_on(),
        "metrics": {"map": 0.75},
        "settings": {"seed": seed},
    }
    return Model(ModelInfo(**(told | changes)), built, backbone, "torch", "cpu")


def trained_on(synthetic: bool = False, **changes: Any) -> TrainedOn:
    told = {"dataset": "hand", "fingerprint": "f" * 64, "segments": 7, "frames": 1234, "patients": 5}
    return TrainedOn(**(told | {"synthetic": synthetic, "validation_segments": 2} | changes))


def write_frames(folder: Path, count: int, size: int = 40, seed: int = 0, step: int = 1) -> Path:
    """A folder of PNGs numbered from 10 in steps; frame k is grey noise round a level that grows with k."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    for k in range(count):
        frame = rng.integers(0, 40, (size, size, 3)) + 5 * k % 200
        Image.fromarray(frame.astype(np.uint8)).save(folder / f"f{10 + step * k:05d}.png")
    return folder
