"""How much of each class a straight line sees in given features, judged on patients it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

Bools = npt.NDArray[np.bool_]
STRENGTH = 0.01  # scikit-learn's C: strong shrinkage, as features outnumber patients by far


def linear_probe(
    features: npt.NDArray[np.floating],
    labels: Bools,
    known: Bools,
    groups: Sequence[str] | npt.NDArray[Any],
    classes: Sequence[str],
    folds: int = 5,
    seed: int = 0,
) -> pd.DataFrame:
    """A row a class and "macro": frames, positives, patients with positives, held-out AUROC, AP, or why not.

    *features* [N,D], *labels* and *known* [N,K], *groups* [N] (patients). Each class gets a logistic
    regression of its own over its known frames, scaled on the training folds alone. No patient lies on both
    sides. The scores of all held-out frames are judged together.
    """
    patients = np.asarray(groups)
    rows = []
    for k, name in enumerate(classes):
        use = known[:, k]
        rows.append({"class": name, **_probe(features[use], labels[use, k], patients[use], folds, seed)})
    scored = [row for row in rows if not row["reason"]]
    macro: dict[str, Any] = {
        "class": "macro",
        "frames": len(features),
        "positives": int(labels.any(axis=1).sum()),
    }
    macro["patients"] = len(set(patients[labels.any(axis=1)].tolist()))
    for figure in ("auroc", "ap"):
        macro[figure] = float(np.mean([row[figure] for row in scored])) if scored else np.nan
    macro["reason"] = "" if len(scored) == len(rows) else f"mean of {len(scored)} of {len(rows)} classes"
    return pd.DataFrame([*rows, macro])


def _probe(
    features: npt.NDArray[np.floating], truth: Bools, patients: npt.NDArray[Any], folds: int, seed: int
) -> dict[str, Any]:
    positive, negative = set(patients[truth].tolist()), set(patients[~truth].tolist())
    row: dict[str, Any] = {"frames": len(truth), "positives": int(truth.sum()), "patients": len(positive)}
    row |= {"auroc": np.nan, "ap": np.nan, "reason": ""}
    for side, those in (("positive", positive), ("negative", negative)):
        if len(those) < 2:
            return row | {
                "reason": f"{len(those)} patient{'' if len(those) == 1 else 's'} with {side} frames"
            }
    scores = np.empty(len(truth))
    parts = min(folds, len(positive), len(negative))
    for train, test in StratifiedGroupKFold(parts, shuffle=True, random_state=seed).split(
        features, truth, patients
    ):
        if truth[train].all() or not truth[train].any():
            return row | {"reason": "a fold left one side without training frames"}
        model = make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTH, max_iter=1000))
        scores[test] = model.fit(features[train], truth[train]).decision_function(features[test])
    return row | {
        "auroc": float(roc_auc_score(truth, scores)),
        "ap": float(average_precision_score(truth, scores)),
    }
