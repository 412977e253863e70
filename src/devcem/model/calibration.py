"""From a score to a probability, a class: what validation taught and the model folder keeps.

No map ever turns the ranking of scores round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field, RootModel, model_validator
from scipy.special import expit, logit

from devcem.config import Settings

Floats = npt.NDArray[np.float64]
Share = Annotated[float, Field(ge=0, le=1)]
EDGE = 1e-7  # the scores nearest to 0 and 1 whose logits are told apart: those of float32 go no further


def logits(scores: npt.ArrayLike) -> Floats:
    """Of scores in 0..1, both ends included."""
    return np.asarray(logit(np.clip(np.asarray(scores, np.float64), EDGE, 1 - EDGE)))


class Unchanged(Settings):
    """The score as it is: validation could not calibrate the class, or not make it better."""

    kind: Literal["none"] = "none"

    def apply(self, scores: Floats) -> Floats:
        return scores


class Temperature(Settings):
    """sigmoid(logit / T)"""

    kind: Literal["temperature"] = "temperature"
    temperature: float = Field(gt=0)

    def apply(self, scores: Floats) -> Floats:
        return np.asarray(expit(logits(scores) / self.temperature))


class Platt(Settings):
    """sigmoid(slope * logit + bias)"""

    kind: Literal["platt"] = "platt"
    slope: float = Field(ge=0)
    bias: float

    def apply(self, scores: Floats) -> Floats:
        return np.asarray(expit(self.slope * logits(scores) + self.bias))


class Isotonic(Settings):
    """Straight lines between points, level beyond the first and the last."""

    kind: Literal["isotonic"] = "isotonic"
    scores: tuple[float, ...] = Field(min_length=1)
    probabilities: tuple[Share, ...]

    @model_validator(mode="after")
    def _increasing(self) -> Self:
        if len(self.scores) != len(self.probabilities):
            raise ValueError(f"{len(self.scores)} scores for {len(self.probabilities)} probabilities")
        if (np.diff(self.scores) <= 0).any() or (np.diff(self.probabilities) < 0).any():
            raise ValueError("scores must increase, and probabilities must not decrease")
        return self

    def apply(self, scores: Floats) -> Floats:
        return np.asarray(np.interp(scores, self.scores, self.probabilities))


ScoreMap = Annotated[Unchanged | Temperature | Platt | Isotonic, Field(discriminator="kind")]


class Calibration(RootModel[dict[str, ScoreMap]]):
    """A map a class, in the order of the scores that it is applied to."""

    model_config = ConfigDict(frozen=True)

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.root)

    @property
    def kinds(self) -> dict[str, str]:
        return {name: one.kind for name, one in self.root.items()}

    def ordered(self, classes: Sequence[str]) -> Calibration:
        """The same for scores in the order of *classes*; a file may hold the classes in any."""
        return Calibration({name: self.root[name] for name in classes})

    def apply(self, scores: npt.ArrayLike) -> Floats:
        """scores [...,K] to probabilities [...,K]; those of a class without calibration stay as they are."""
        given = np.array(scores, np.float64)
        if not given.ndim or given.shape[-1] != len(self.root):
            raise ValueError(f"scores of shape {given.shape} for {len(self.root)} calibrated classes")
        for k, one in enumerate(self.root.values()):
            given[..., k] = one.apply(given[..., k])
        return given
