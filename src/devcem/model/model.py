"""A trained model: frames or features in, a `Prediction` out."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from devcem.encoders import Backbone, Encoder, encoder_for
from devcem.encoders.encoder import Features
from devcem.errors import UserError
from devcem.frames import FrameSource, interleaved, open_source
from devcem.frames.clip import lens_view, read_view, stretch
from devcem.methods.method import Method
from devcem.model.calibration import Calibration, Unchanged
from devcem.model.info import ModelInfo
from devcem.model.prediction import Prediction

SAMPLES = 32  # that go through the head together
CHUNK = 256  # frames in memory at once; their features alone are kept


class Model:
    """A method with its encoder and all that decides what they see."""

    def __init__(
        self, info: ModelInfo, method: Method, backbone: Backbone, engine: str = "auto", device: str = "auto"
    ) -> None:
        self.info, self.method, self.backbone = info, method.eval(), backbone
        self._engine, self._device = engine, device

    @property
    def classes(self) -> tuple[str, ...]:
        return self.info.classes

    @property
    def synthetic(self) -> bool:
        return self.info.trained_on.synthetic

    @property
    def thresholds(self) -> npt.NDArray[np.float64]:
        return np.array([self.info.thresholds[name].value for name in self.classes], np.float64)

    @cached_property
    def calibration(self) -> Calibration | None:
        """In the order of the classes."""
        return self.info.calibration and self.info.calibration.ordered(self.classes)

    def calibrated(self, scores: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Video scores [...,K] as probabilities; those of a class that is not calibrated stay as they are."""
        calibration = self.calibration or Calibration(dict.fromkeys(self.classes, Unchanged()))
        return calibration.apply(scores)

    @cached_property
    def encoder(self) -> Encoder:
        return encoder_for(self.backbone, engine=self._engine, device=self._device)

    def predict(
        self,
        source: str | Path | FrameSource,
        start: int | None = None,
        stop: int | None = None,
        view: str | None = None,
    ) -> Prediction:
        """Every frame with start <= number < stop of a source, or all; *view* instead of the model's."""
        if not isinstance(source, FrameSource):
            with open_source(source) as opened:
                return self.predict(opened, start, stop, view)
        ordinals = stretch(source, start, stop)
        if not len(ordinals):
            raise UserError(
                "there is no frame to look at in this stretch", source.path, "check start and stop"
            )
        kept = view or self.info.view
        lens = lens_view(source, None if kept == "auto" else kept)
        features = np.concatenate(
            [
                self.encoder.encode(read_view(source, ordinals[at : at + CHUNK], self.encoder.size, lens))
                for at in range(0, len(ordinals), CHUNK)
            ]
        )
        return self.predict_features(features, source.numbers[ordinals], source.times[ordinals])

    @torch.inference_mode()
    def predict_features(
        self,
        features: Features,
        numbers: npt.NDArray[np.int64] | None = None,
        times: npt.NDArray[np.float64] | None = None,
    ) -> Prediction:
        """features [T,D] of consecutive frames. More than a window is read as interleaved samples, each of
        which spans the whole stretch; the video score is their mean."""
        self._check(features, numbers, times)
        count, classes = len(features), len(self.classes)
        samples = interleaved(count, self.info.window)
        video = np.empty((len(samples), classes), np.float32)
        frame, attention = np.empty((count, classes), np.float32), np.empty(count, np.float32)
        for first in range(0, len(samples), SAMPLES):
            part = samples[first : first + SAMPLES]
            mask = torch.zeros(len(part), max(map(len, part)), dtype=torch.bool)
            bags = torch.zeros(*mask.shape, features.shape[1])
            for row, ordinals in enumerate(part):
                mask[row, : len(ordinals)] = True
                bags[row, : len(ordinals)] = torch.from_numpy(np.array(features[ordinals], np.float32))
            output = self.method(bags, mask)
            video[first : first + len(part)] = self.method.scores(output).numpy()
            seen = np.concatenate(part)
            frame[seen] = self.method.frame_scores(output)[mask].numpy()
            attention[seen] = output.attention[mask].numpy() / len(samples)
        return Prediction(
            self.classes,
            video.mean(0),
            frame,
            attention,
            np.arange(count) if numbers is None else numbers,
            np.full(count, np.nan) if times is None else times,
            self.thresholds,
            self.synthetic,
            self.calibration,
        )

    def _check(
        self,
        features: Features,
        numbers: npt.NDArray[np.int64] | None,
        times: npt.NDArray[np.float64] | None,
    ) -> None:
        """A wrong shape is the caller's mistake; a value that is not finite is the encoder's."""
        wanted = self.info.feature_dim
        if features.ndim != 2 or not len(features) or features.shape[1] != wanted:
            shape = [*features.shape]
            raise ValueError(f"features must be [T,{wanted}] with a frame at least, not {shape}")
        for name, told in (("numbers", numbers), ("times", times)):
            if told is not None and len(told) != len(features):
                raise ValueError(f"{len(told)} {name} for {len(features)} frames")
        unfit = np.flatnonzero(~np.isfinite(features).all(1))
        if len(unfit):
            first = unfit[0] if numbers is None else numbers[unfit[0]]
            share = f"{len(unfit)} of {len(features)} frames"
            what = f"features of {share} are not finite, the first of frame {first}"
            raise UserError(what, remedy="load the model with engine torch, and look at that frame")
