"""A trained model on disk and in memory.

Enters: a model folder; then a path, a `FrameSource` or features. Leaves: a `Prediction` for every frame.
"""

from devcem.model.calibration import Calibration
from devcem.model.folder import load_model, save_model
from devcem.model.info import ModelInfo, Threshold, TrainedOn
from devcem.model.model import Model
from devcem.model.prediction import Prediction

__all__ = [
    "Calibration",
    "Model",
    "ModelInfo",
    "Prediction",
    "Threshold",
    "TrainedOn",
    "load_model",
    "save_model",
]
