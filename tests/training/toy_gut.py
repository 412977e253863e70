"""A dataset of small pictures: enough to train a small encoder on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from devcem.config import checked, merged
from devcem.labels import Dataset, Segment, save_dataset
from devcem.training.settings import TrainSettings

CLASSES = ("red", "green", "never")
SIDE = 40
ENCODER = {"name": "test_resnet", "weights": "random", "engine": "torch"}
COLOURS = {"red": (200, 30, 30), "green": (30, 180, 40)}


def make_gut(folder: Path, patients: int = 4, segments: int = 3, synthetic: bool = True) -> Path:
    """A folder of pictures a patient; segments of 4 to 7 frames. A label shows as a bright corner in half of
    the frames; "never" has no positive. The last patient is in test."""
    rng = np.random.default_rng(7)
    rows: list[Segment] = []
    for p in range(patients):
        media = folder / "media" / f"p{p}"
        media.mkdir(parents=True)
        at = 0
        for s in range(segments):
            count = int(rng.integers(4, 8))
            labels = (("red",), ("green",), ("red", "green"), ())[(s + p) % 4]
            for k in range(count):
                frame = rng.integers(60, 120, (SIDE, SIDE, 3), dtype=np.uint8)
                for corner, name in enumerate(labels):
                    if k % 2 == 0:
                        frame[:16, 20 * corner : 20 * corner + 16] = COLOURS[name]
                Image.fromarray(frame).save(media / f"{at + k:04d}.png")
            split = "test" if p == patients - 1 else "train"
            rows.append(Segment(f"p{p}s{s}", f"p{p}", at, at + count, f"p{p}", split, labels))
            at += count
    save_dataset(Dataset(folder, "toy gut", CLASSES, rows, "CC0", synthetic=synthetic), None, folder)
    return folder


def small(**changes: Any) -> TrainSettings:
    """Few units, few epochs, the small encoder, no search for a lens."""
    return checked(TrainSettings, told(**changes))


def words(**changes: Any) -> list[str]:
    """The same as words of the command."""
    flat = _flat({"patience": None, "select": "loss", **told(**changes)})
    return [word for key, value in flat for word in ("--set", f"{key}={json.dumps(value)}")]


def told(**changes: Any) -> dict[str, Any]:
    few = {"hidden": 8, "layers": 1, "attention_dim": 6}
    base = {
        "options": few if "method" not in changes else {},
        "batch": 3,
        "epochs": 3,
        "accelerator": "cpu",
        "data": {"window": 4, "view": "frame", "validation": 0.34},
        "encoder": ENCODER,
        "optimiser": {"lr": 0.003},
    }
    return merged(base, changes)


def _flat(tree: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in tree.items():
        found += _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [(prefix + key, value)]
    return found
