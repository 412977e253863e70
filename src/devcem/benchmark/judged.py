"""What one trained model says of a split, kept so that tables and figures can be made again without it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from devcem.evaluation.split import Evaluated
from devcem.files import building, write_text, writing

ARRAYS, ABOUT = "predictions.npz", "judged.json"
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Judged:
    method: str
    seed: int
    video: Floats  # [N,K] scores
    probabilities: npt.NDArray[np.floating]  # [N,K] the same, calibrated
    frames: list[Floats]  # [T,K] a segment
    attention: list[Floats]  # [T] a segment
    numbers: list[npt.NDArray[np.int64]]  # [T] a segment: which frames these are
    thresholds: npt.NDArray[np.float64]  # [K], tuned on validation
    segments: tuple[str, ...]
    about: dict[str, Any]  # epochs, best_epoch, seconds; notices


def write_judged(folder: Path, evaluated: Evaluated, method: str, seed: int, about: dict[str, Any]) -> None:
    predictions = evaluated.predictions
    arrays = {
        "video": np.stack([one.video_scores for one in predictions]),
        "probabilities": np.stack([one.probabilities for one in predictions]),
        "frames": np.concatenate([one.frame_scores for one in predictions]),
        "attention": np.concatenate([one.attention for one in predictions]),
        "numbers": np.concatenate([one.numbers for one in predictions]),
        "lengths": np.array([len(one) for one in predictions]),
        "thresholds": evaluated.model.thresholds,
    }
    told = {
        "method": method,
        "seed": seed,
        "segments": [segment.segment for segment in evaluated.segments],
        "notices": list(evaluated.notices),
        **about,
    }
    with building(folder, {"benchmark": method, "seed": seed}, overwrite=True) as partial:
        with writing(partial / ARRAYS, "wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        with writing(partial / "metrics.csv") as file:
            evaluated.metrics.to_csv(file, float_format="%.6g")
        write_text(partial / ABOUT, json.dumps(told, indent=1))


def is_judged(folder: Path) -> bool:
    return (folder / ABOUT).is_file()


def read_judged(folder: Path) -> Judged:
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    with np.load(folder / ARRAYS, allow_pickle=False) as file:
        ends = np.cumsum(file["lengths"])[:-1]
        return Judged(
            about["method"],
            about["seed"],
            file["video"],
            file["probabilities"],
            np.split(file["frames"], ends),
            np.split(file["attention"], ends),
            np.split(file["numbers"], ends),
            file["thresholds"],
            tuple(about["segments"]),
            about,
        )
