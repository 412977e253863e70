"""A model on a split of a dataset: its scores beside the tags and, where it is known, the truth of frames.

Needs torch and the encoders, and is imported by its module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from devcem import __version__
from devcem.encoders.extract import segment_features
from devcem.encoders.store import FeatureStore
from devcem.errors import UserError
from devcem.evaluation.calibration import brier, expected_calibration_error
from devcem.evaluation.entries import Bools
from devcem.evaluation.localisation import localisation_metrics
from devcem.evaluation.metrics import multilabel_metrics
from devcem.frames import open_source
from devcem.frames.clip import stretch
from devcem.labels import Dataset, Segment, frame_truth, load_runs
from devcem.model import Model, Prediction

AT_THRESHOLD = ["precision", "recall", "f1", "specificity"]
HALF = "_at_0.5"  # suffix of the same figures at 0.5
CALIBRATED = "_calibrated"  # suffix of a figure of probabilities rather than scores
RUNS = "frames.csv"
FrameTargets = tuple[tuple[Bools, ...], tuple[Bools, ...]]  # truth and known, [T,K] a segment


@dataclass(frozen=True)
class Evaluated:
    """What a model says of a split, and how good that is."""

    model: Model
    dataset: Dataset  # classes in the model's order
    split: str
    segments: list[Segment]
    predictions: list[Prediction]  # one a segment
    metrics: pd.DataFrame  # a row a class and "macro"
    localisation: pd.DataFrame | None  # where the dataset has truth of frames
    notices: tuple[str, ...]  # what must be said beside any figure
    frame_targets: FrameTargets | None = None  # where the dataset has truth of frames

    def summary(self) -> dict[str, Any]:
        """For evaluation.json and for machines."""
        info = self.model.info
        found = {
            "devcem": __version__,
            "model": {"method": info.method, "tensors": info.tensors, "trained_on": info.trained_on.dataset},
            "dataset": self.dataset.name,
            "split": self.split,
            "segments": len(self.segments),
            "patients": len({segment.patient for segment in self.segments}),
            "frames": sum(map(len, self.predictions)),
            "synthetic": self.model.synthetic or self.dataset.synthetic,
            "notices": list(self.notices),
            "macro": _finite(self.metrics.loc["macro"]),
        }
        if self.localisation is not None:
            found["localisation"] = _finite(self.localisation.loc["macro"])
        return found


def evaluate(
    model: Model,
    dataset: Dataset,
    split: str = "test",
    cache: str | Path | None = None,
    view: str | None = None,
) -> Evaluated:
    """Predict every segment of *split* and judge it.

    *cache* keeps features, as in training. *view* is the lens view to use instead of the model's.
    """
    data = _in_order(model, dataset)
    segments = [segment for segment in data.segments if segment.split == split]
    if not segments:
        there = sorted({segment.split for segment in data.segments} - {""})
        remedy = f"pass --split {there[0]}" if there else f"run devcem data split {data.root}"
        raise UserError(f"no segment lies in the split '{split}'", data.root, remedy)
    store = FeatureStore(Path(cache) if cache else data.root / ".features")
    found = segment_features(data, segments, model.encoder, store, view=view or model.info.view)
    numbers = list(_numbers(data, segments, [len(one.features) for one in found]))
    predictions = [
        model.predict_features(one.features, those) for one, those in zip(found, numbers, strict=True)
    ]
    truth, known = data.targets(segments)
    scores = np.stack([one.video_scores for one in predictions])
    told = _frame_targets(data, segments, predictions)
    return Evaluated(
        model,
        data,
        split,
        segments,
        predictions,
        figures(truth, scores, known, model.thresholds, model.classes, model.calibrated(scores)),
        None if told is None else _localisation(told, predictions, data.classes),
        notices(model, data, split, segments),
        told,
    )


def notices(model: Model, data: Dataset, split: str, segments: list[Segment]) -> tuple[str, ...]:
    """What makes the figures mean less than they seem to."""
    said = []
    if model.synthetic:
        said.append("The model was trained on synthetic video.")
    if data.synthetic:
        said.append("The dataset is synthetic video.")
    if model.info.trained_on.dataset == data.name:
        if split in ("train", "val"):
            said.append(f"Optimistic: the model was made with the split {split}.")
        learnt = {segment.patient for segment in data.segments if segment.split == "train"}
        here = {segment.patient for segment in segments}
        if here & learnt and split != "train":
            said.append(f"Optimistic: {len(here & learnt)} of {len(here)} patients lie in train as well.")
    return tuple(said)


def _in_order(model: Model, data: Dataset) -> Dataset:
    """The dataset with its classes in the model's order; others than the model's are refused."""
    unknown = [name for name in data.classes if name not in model.classes]
    missing = [name for name in model.classes if name not in data.classes]
    if unknown or missing:
        parts = [f"the dataset has no {', '.join(missing)}"] * bool(missing)
        parts += [f"the model knows no {', '.join(unknown)}"] * bool(unknown)
        remedy = f"train on these classes, or let dataset.yaml have the model's: {', '.join(model.classes)}"
        raise UserError("; ".join(parts), data.root, remedy)
    return replace(data, classes=model.classes)


def _numbers(data: Dataset, segments: list[Segment], counts: list[int]) -> Iterator[npt.NDArray[np.int64]]:
    """The numbers [T] of each segment's frames; the source is asked only where some numbers have no frame."""
    for segment, count in zip(segments, counts, strict=True):
        if count == len(segment):
            yield np.arange(segment.start, segment.stop)
            continue
        with open_source(data.root / "media" / segment.source) as source:
            yield source.numbers[stretch(source, segment.start, segment.stop)]


def figures(
    truth: npt.ArrayLike,
    scores: npt.ArrayLike,
    known: npt.ArrayLike,
    thresholds: npt.NDArray[np.float64],
    classes: tuple[str, ...],
    calibrated: npt.ArrayLike | None = None,
) -> pd.DataFrame:
    """Figures at *thresholds* [K], beside them at 0.5, and how far scores, and *calibrated* ones, are
    probabilities: a row a class and "macro"."""
    table = multilabel_metrics(truth, scores, known, thresholds, classes)
    half = multilabel_metrics(truth, scores, known, 0.5, classes)
    kept = table[["positives", "negatives", "auroc", "ap"]].copy()
    kept["threshold"] = [*thresholds.tolist(), np.nan]
    kept[AT_THRESHOLD] = table[AT_THRESHOLD]
    kept[[name + HALF for name in AT_THRESHOLD]] = half[AT_THRESHOLD]
    for name, judge in (("ece", expected_calibration_error), ("brier", brier)):
        for suffix, given in (("", scores), (CALIBRATED, scores if calibrated is None else calibrated)):
            values = pd.Series(judge(truth, given, known))
            kept[name + suffix] = [*values, values.mean()]  # NaN left out
    return kept


def _frame_targets(
    data: Dataset, segments: list[Segment], predictions: list[Prediction]
) -> FrameTargets | None:
    if not (data.root / RUNS).is_file():
        return None
    numbers = {segment.segment: one.numbers for segment, one in zip(segments, predictions, strict=True)}
    chosen = set(numbers)
    runs = [run for run in load_runs(data) if run.segment in chosen]
    told = frame_truth(replace(data, segments=segments), runs, numbers)
    truth, known = zip(*(told[segment.segment] for segment in segments), strict=True)
    return truth, known


def _localisation(
    told: FrameTargets, predictions: list[Prediction], classes: tuple[str, ...]
) -> pd.DataFrame:
    """Frame scores beside the truth of frames."""
    truth, known = told
    return localisation_metrics(truth, [one.frame_scores for one in predictions], known, classes=classes)


def _finite(row: Any) -> dict[str, float]:
    """Figures that exist: JSON knows no NaN."""
    return {str(name): float(value) for name, value in row.items() if np.isfinite(value)}
