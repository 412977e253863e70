"""What a training run is told: every setting with its default, and the presets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from devcem.config import Settings
from devcem.errors import UserError
from devcem.methods import describe, names

Share = Annotated[float, Field(ge=0, lt=1)]


class Data(Settings):
    """Which frames of a segment a step sees, and who judges."""

    window: int = Field(30, ge=1, description="frames a sample")
    sampling: Literal["stratified", "uniform"] = Field(
        "stratified",
        description="stratified: one random frame of each stretch; uniform: always the same frames",
    )
    augment: bool = Field(True, description="flip and zoom, drawn once a segment (end to end)")
    views: int = Field(
        0, ge=0, description="augmented views of each segment beside the plain one (cached features)"
    )
    view: str = Field("auto", description="the lens view: auto, frame, or a device template's name")
    validation: float = Field(
        0.2, gt=0, lt=1, description="share of train that judges, where no split is called val"
    )
    validation_by: Literal["patient", "video"] = Field(
        "patient", description="video leaves near-copies of training frames in validation: optimistic"
    )


class EncoderSettings(Settings):
    """From frames to features."""

    name: str = Field("efficientnet-lite0", description="a packaged encoder or any timm name")
    weights: str | None = Field(None, description="none: packaged; hub, random, or a local file")
    engine: Literal["auto", "torch", "openvino"] = Field("auto", description="what computes cached features")
    train: bool = Field(False, description="end to end: the encoder learns too")
    freeze_norm: bool = Field(True, description="batch-norm statistics stay as they came")
    checkpointing: bool = Field(False, description="recompute activations: less memory, a third more time")


class Optimiser(Settings):
    name: Literal["adam", "adamw", "sgd"] = "adam"
    lr: float = Field(1e-4, gt=0)
    betas: tuple[Share, Share] = Field((0.9, 0.999), description="of adam and adamw")
    momentum: float = Field(0.9, ge=0, lt=1, description="of sgd, Nesterov's")
    weight_decay: float = Field(1e-4, ge=0)
    clip: float = Field(0.0, ge=0, description="largest norm of the gradient; 0: not clipped")
    schedule: Literal["constant", "cyclic", "cosine"] = "constant"
    lowest_lr: float = Field(1e-5, ge=0, description="foot of the cycle, or end of the cosine")
    half_cycle: int = Field(2000, ge=1, description="steps from the foot of a cycle to its top")

    @model_validator(mode="after")
    def _ordered(self) -> Optimiser:
        if self.schedule != "constant" and self.lowest_lr > self.lr:
            raise ValueError("lowest_lr lies above lr")
        return self


class Balance(Settings):
    """Weights of the video loss, from the training labels."""

    positives: float = Field(
        0.0,
        ge=0,
        le=1,
        description="0: all videos count the same; 1: negatives / positives; between: that power of it",
    )
    largest: float = Field(20.0, ge=1, description="no positive counts more than this")
    classes: Literal["equal", "inverse"] = Field("equal", description="inverse: rare classes count more")


class TrainSettings(Settings):
    """One run. `devcem train --set key=value` and YAML files speak these names."""

    method: str = "ps-devcem"
    options: dict[str, Any] = Field(
        default_factory=dict, description="the method's own; see devcem methods NAME"
    )
    seed: int = Field(0, ge=0, lt=2**32)
    batch: int = Field(8, ge=1, description="bags a step, over all devices together")
    epochs: int = Field(60, ge=1)
    patience: int | None = Field(
        None, ge=1, description="epochs without a better validation after which it ends"
    )
    select: Literal["loss", "map"] = Field(
        "loss", description="what the best epoch is judged by on validation"
    )
    precision: Literal["fp32", "bf16"] = "fp32"
    data: Data = Data()
    encoder: EncoderSettings = EncoderSettings()
    optimiser: Optimiser = Optimiser()
    balance: Balance = Balance()
    accelerator: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    devices: int = Field(1, ge=1, description="on this machine; under torchrun or SLURM the launcher decides")
    workers: int = Field(2, ge=1, description="threads that read bags ahead")
    checkpoint_seconds: float = Field(30.0, ge=0, description="at most this much work is lost by a kill")
    tensorboard: bool = Field(False, description="the history for TensorBoard too (extra tensorboard)")


PRESETS: dict[str, dict[str, Any]] = {
    # The appendix of the paper: batch 1, 500 epochs, lowest validation loss, no patience, encoder trained.
    "paper": {
        "batch": 1,
        "epochs": 500,
        "data": {"sampling": "uniform", "augment": True},
        "encoder": {"name": "tv_resnet50.tv_in1k", "weights": "hub", "train": True},
        "optimiser": {"lr": 1e-4, "weight_decay": 1e-4, "schedule": "cyclic", "lowest_lr": 1e-5},
    },
    # Frozen encoder, features computed once; minutes on a laptop.
    "fast": {
        "batch": 8,
        "epochs": 60,
        "patience": 15,
        "select": "map",
        "optimiser": {"lr": 3e-4, "schedule": "cosine", "clip": 1.0},
        "balance": {"positives": 0.5},
    },
}
PUBLISHED = "published"  # a third preset, which differs by method


def preset(name: str, method: str) -> dict[str, Any]:
    """The settings of a preset; `published` are those that the authors of *method* trained it with."""
    if name != PUBLISHED:
        return PRESETS[name]
    if told := describe(method).published:
        return dict(told)
    have = [each for each in names() if describe(each).published]
    remedy = f"take fast, or paper for PS-DeVCEM and its ablations; it is there for {', '.join(have)}"
    raise UserError(f"the preset published has no settings for '{method}'", remedy=remedy)


FREE = ("workers", "checkpoint_seconds", "tensorboard")  # may change between a run and its resumption
