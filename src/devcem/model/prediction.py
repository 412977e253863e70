"""What every model says of a stretch of video."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def labels(self) -> tuple[str, ...]:
        """Classes whose score reaches their threshold, the highest first."""
        order = np.argsort(-self.video_scores, kind="stable")
        return tuple(self.classes[k] for k in order if self.video_scores[k] >= self.thresholds[k])
