"""model.json: everything about a model but its tensors."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from devcem.config import Settings
from devcem.model.calibration import Calibration

FORMAT = 1
Positive = Annotated[float, Field(gt=0)]


class Threshold(Settings):
    """From which score on a class is called present."""

    value: float = 0.5
    tuned: bool = False  # else validation could not judge the class


class TrainedOn(Settings):
    """What the model has seen. Synthetic video is said so on every output."""

    dataset: str
    fingerprint: str
    synthetic: bool
    segments: int
    frames: int
    patients: int
    validation_segments: int
    optimistic: bool = False  # patients may lie on both sides of validation


class Network(Settings):
    """What a backbone's fingerprint has to tell, so that it can be built again."""

    encoder: str
    architecture: str
    source: str
    weights: str
    size: int = Field(ge=1)
    mean: tuple[float, float, float]
    std: tuple[Positive, Positive, Positive]


class Built(Settings):
    backbone: Network


class ModelInfo(Settings):
    format: int = FORMAT
    devcem: str  # version that wrote it
    method: str
    options: dict[str, Any]
    feature_dim: int = Field(ge=1)
    classes: tuple[str, ...] = Field(min_length=1)
    backbone: dict[str, Any]  # fingerprint of the encoder, with the checksum of the weights it began with
    backbone_trained: bool  # end to end: its tensors differ from those of the checksum
    view: str = "auto"
    window: int = Field(30, ge=1)
    thresholds: dict[str, Threshold]
    calibration: Calibration | None = None  # fitted on validation; None: no class is calibrated
    trained_on: TrainedOn
    metrics: dict[str, float]  # on validation, of the best epoch
    notes: tuple[str, ...] = ()  # what a reader of the scores must know
    settings: dict[str, Any]  # the run's
    tensors: str = ""  # SHA-256 of model.safetensors, set when it is written

    @model_validator(mode="after")
    def _a_threshold_and_a_map_a_class(self) -> Self:
        if set(self.thresholds) != set(self.classes):
            wrong = sorted(set(self.thresholds) ^ set(self.classes))
            raise ValueError(f"thresholds and classes do not go together: {', '.join(wrong)}")
        if self.calibration is not None and set(self.calibration.classes) != set(self.classes):
            wrong = sorted(set(self.calibration.classes) ^ set(self.classes))
            raise ValueError(f"calibration and classes do not go together: {', '.join(wrong)}")
        return self
