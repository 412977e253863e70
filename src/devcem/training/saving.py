"""What a run of either kind leaves behind: thresholds, calibration and figures of validation; model.json."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from devcem import __version__
from devcem.evaluation import tune_thresholds
from devcem.evaluation.calibration import fit_calibration
from devcem.evaluation.split import HALF, figures
from devcem.files import writing
from devcem.methods import Method
from devcem.model import ModelInfo, Threshold
from devcem.training.bags import Bags
from devcem.training.judging import Scores, judgeable
from devcem.training.preparing import Prepared


@dataclass(frozen=True)
class Trained:
    """What `train` leaves behind. A classical method knows no epochs: both are 0."""

    out: Path
    model: Path
    epochs: int
    best_epoch: int
    metrics: dict[str, float]  # on validation
    synthetic: bool


def judged_info(
    out: Path, prepared: Prepared, method: Method, judges: Bags, scores: Scores, metrics: dict[str, float]
) -> ModelInfo:
    """Thresholds and calibration from *scores* [N,K] of validation, and validation.csv; *metrics* join the
    rest."""
    data, settings = prepared.data, prepared.settings
    values, tuned = tune_thresholds(judges.labels, scores, judges.known)
    tuned &= judgeable(judges)
    values = np.where(tuned, values, 0.5)
    calibration = fit_calibration(judges.labels, scores, judges.known, classes=data.classes)
    given = (judges.labels, scores, judges.known, values, data.classes)
    table = figures(*given, calibration.apply(scores))
    with writing(out / "validation.csv") as file:
        table.to_csv(file, float_format="%.6g")
    return ModelInfo(
        devcem=__version__,
        method=settings.method,
        options=method.options,
        feature_dim=method.feature_dim,
        classes=data.classes,
        backbone=prepared.backbone.fingerprint,
        backbone_trained=settings.encoder.train,
        view=settings.data.view,
        window=settings.data.window,
        thresholds={
            name: Threshold(value=float(value), tuned=bool(known))
            for name, value, known in zip(data.classes, values, tuned, strict=True)
        },
        calibration=calibration,
        trained_on=prepared.about,
        metrics=_metrics(metrics, table),
        settings=settings.model_dump(mode="json"),
    )


def _metrics(metrics: dict[str, float], table: pd.DataFrame) -> dict[str, float]:
    """Figures that exist; one that no class could give is left out."""
    found = dict(metrics)
    for name in ("auroc", *(figure + HALF for figure in ("precision", "recall", "f1", "specificity"))):
        found[f"macro_{name}"] = float(table[name]["macro"])
    return {name: value for name, value in found.items() if np.isfinite(value)}
