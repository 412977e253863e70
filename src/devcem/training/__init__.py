"""Fits a method to a dataset.

Enters: a dataset folder and `TrainSettings`. Leaves: a run folder with config.yaml, history.csv, curves.png,
validation.csv, checkpoints and, as model folders, the best and the last weights.
"""

from devcem.training.bags import Bags, FeatureBags, FrameBags
from devcem.training.loop import Fitted, Progress, fit
from devcem.training.run import train
from devcem.training.saving import Trained
from devcem.training.settings import PRESETS, TrainSettings

__all__ = [
    "PRESETS",
    "Bags",
    "FeatureBags",
    "Fitted",
    "FrameBags",
    "Progress",
    "TrainSettings",
    "Trained",
    "fit",
    "train",
]
