"""What methods have to beat: rules that look at no pixel, and one that sees colours alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from devcem.benchmark import colour
from devcem.benchmark.judged import Judged
from devcem.evaluation import BASELINES, baseline_scores, baseline_video_scores
from devcem.labels import Dataset, Segment

RULES = (*BASELINES, colour.NAME)
OF_VIDEOS = ("empty", "everything", "training prior", "random", colour.NAME)  # others only place frames


def rules(
    data: Dataset, segments: list[Segment], like: Judged, view: str, cache: Path
) -> dict[str, list[Judged]]:
    """Each as if it had been judged beside the run *like*, at a threshold of 0.5."""
    labels, known = data.targets([one for one in data.segments if one.split == "train"])
    prior = (labels & known).sum(0) / np.maximum(known.sum(0), 1)
    lengths = list(map(len, like.numbers))

    def told(name: str, video: npt.NDArray[np.floating], frames: list[npt.NDArray[np.float32]]) -> Judged:
        scores, half = video.astype(np.float32), np.full(len(prior), 0.5)
        return replace(
            like,
            method=name,
            seed=0,
            video=scores,
            probabilities=scores,
            frames=frames,
            thresholds=half,
            about={},
        )

    found = {
        name: told(
            name,
            baseline_video_scores(name, len(lengths), prior),
            [one.astype(np.float32) for one in baseline_scores(name, lengths, prior)],
        )
        for name in BASELINES
    }
    found[colour.NAME] = told(colour.NAME, *colour.colour_scores(data, segments, view, cache))
    return {name: [one] for name, one in found.items()}
