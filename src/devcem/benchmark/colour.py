"""The rule that sees colours alone: a logistic regression a class on the mean colour histogram of a video.

Capsule video tells much by its colours. What a network finds beyond that is what it has learnt to see.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from devcem.encoders import FeatureStore, create_encoder, segment_features
from devcem.labels import Dataset, Segment

NAME = "colour histogram"
STRENGTH = 0.1  # scikit-learn's C: histograms of one video resemble each other
Floats = npt.NDArray[np.float32]


def colour_scores(
    data: Dataset, segments: Sequence[Segment], view: str, cache: Path
) -> tuple[Floats, list[Floats]]:
    """Scores of the segments' videos [N,K] and frames [T,K], learnt from the tags of the split train.

    A class without both sides in train scores its share there.
    """
    store, encoder = FeatureStore(cache), create_encoder("colour")
    learners = [segment for segment in data.segments if segment.split == "train"]
    train = [one.features for one in segment_features(data, learners, encoder, store, view=view)]
    judged = [one.features for one in segment_features(data, segments, encoder, store, view=view)]
    means, ends = np.stack([one.mean(0) for one in train]), np.cumsum([len(one) for one in judged])
    seen = np.concatenate([np.stack([one.mean(0) for one in judged]), *judged])  # videos, then frames
    labels, known = data.targets(learners)
    scores = np.empty((len(seen), len(data.classes)), np.float32)
    for k in range(len(data.classes)):
        some, truth = means[known[:, k]], labels[known[:, k], k]
        if truth.all() or not truth.any():
            scores[:, k] = truth.mean() if len(truth) else 0
            continue
        model = make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTH, max_iter=1000))
        scores[:, k] = model.fit(some, truth).predict_proba(seen)[:, 1]
    count = len(judged)
    return scores[:count], np.split(scores[count:], ends[:-1])
