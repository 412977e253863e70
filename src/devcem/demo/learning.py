"""The demo's model: trained on the collection's tags, judged on test patients, shown a clip of theirs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from devcem.config import checked, merged
from devcem.evaluation.folder import write_evaluation
from devcem.evaluation.split import Evaluated, evaluate
from devcem.exam import Analysis, analyze
from devcem.labels import Dataset, Segment
from devcem.model import load_model
from devcem.progress import say
from devcem.training import PRESETS, TrainSettings, train

METHOD = "ps-devcem"


@dataclass(frozen=True)
class Learnt:
    """What the page tells of the model."""

    judged: Evaluated
    clip: Segment
    analysis: Analysis

    @property
    def table(self) -> pd.DataFrame:
        """A row a class and "macro": the test figures, and how well frames of one segment are told apart."""
        figures = self.judged.metrics[
            ["positives", "auroc", "ap", "threshold", "precision", "recall", "f1"]
        ].copy()
        if self.judged.localisation is not None:
            figures["auroc of frames in a segment"] = self.judged.localisation["bag_auroc"]
        return figures.reset_index()


def settings(seed: int, epochs: int | None = None) -> TrainSettings:
    """Preset fast: a frozen EfficientNet-Lite0, features computed once."""
    told: dict[str, object] = {"method": METHOD, "seed": seed}
    if epochs is not None:
        told["epochs"] = epochs
    return checked(TrainSettings, merged(PRESETS["fast"], told))


def fit(out: Path, dataset: Dataset, told: TrainSettings) -> None:
    """Train into out/run, or go on there, or leave what is finished."""
    if (out / "run" / "model").exists():
        say(f"{out / 'run' / 'model'} is there already")
        return
    train(dataset, out / "run", told, resume=True)


def judge(out: Path, dataset: Dataset) -> Learnt:
    """Evaluate on the test split, then read the test segment with the most labels as a clip."""
    model = load_model(out / "run")
    judged = evaluate(model, dataset, "test")
    write_evaluation(judged, out / "evaluation", overwrite=True)
    clip = max(judged.segments, key=lambda segment: len(segment.labels))
    analysis = analyze(
        dataset.root / "media" / clip.source,
        model,
        out / "analysis",
        clip.start,
        clip.stop,
        truth=dataset.root,
        overwrite=True,
    )
    return Learnt(judged, clip, analysis)
