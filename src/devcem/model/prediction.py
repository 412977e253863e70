"""What every model says of a stretch of video."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from devcem.model.calibration import Calibration

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Prediction:
    """Scores of a segment and of every frame in it. Attention tells frames apart; it is no probability."""

    classes: tuple[str, ...]
    video_scores: Floats  # [K]
    frame_scores: Floats  # [T,K]
    attention: Floats  # [T], sums to 1
    numbers: npt.NDArray[np.int64]  # [T] frame numbers
    times: npt.NDArray[np.float64]  # [T] seconds
    thresholds: npt.NDArray[np.float64]  # [K]
    synthetic: bool  # whether the model was trained on synthetic video
    calibration: Calibration | None = None  # of video scores

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def probabilities(self) -> npt.NDArray[np.float64]:
        """Calibrated video scores [K]; thresholds are for the scores, not for these."""
        if self.calibration is None:
            return self.video_scores.astype(np.float64)
        return self.calibration.apply(self.video_scores)

    @property
    def labels(self) -> tuple[str, ...]:
        """Classes whose score reaches their threshold, the highest first."""
        order = np.argsort(-self.video_scores, kind="stable")
        return tuple(self.classes[k] for k in order if self.video_scores[k] >= self.thresholds[k])
