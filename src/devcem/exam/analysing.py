"""A clip and a model in, a result folder out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from devcem import __version__
from devcem.errors import UserError
from devcem.evaluation import draw_strip
from devcem.exam.truth import clip_truth
from devcem.files import building, check_free, write_text, writing
from devcem.frames import FrameSource, open_source
from devcem.frames.clip import read_clip, stretch
from devcem.labels import Truth, load_dataset
from devcem.model import Model, Prediction, load_model

LONGEST = 1000  # frames: one score a class says little of more, and the strip holds them all
PICTURE = 160  # pixels a side in the strip
SYNTHETIC = "The model was trained on synthetic video."


@dataclass(frozen=True)
class Analysis:
    """What a model says of a clip, and how whole the clip was."""

    out: Path
    source: Path
    model: Model
    prediction: Prediction
    declared: int  # frames of the whole source
    decoded: int
    damaged: int
    notes: tuple[str, ...]

    @property
    def status(self) -> Literal["ok", "partial"]:
        return "partial" if self.damaged else "ok"

    def summary(self) -> dict[str, Any]:
        """For exam.json and for machines."""
        told, info = self.prediction, self.model.info
        classes = {
            name: {"score": round(float(score), 6), "threshold": float(bar), "called": bool(score >= bar)}
            for name, score, bar in zip(told.classes, told.video_scores, told.thresholds, strict=True)
        }
        return {
            "devcem": __version__,
            "status": self.status,
            "source": self.source.name,
            "declared": self.declared,
            "decoded": self.decoded,
            "damaged": self.damaged,
            "notes": list(self.notes),
            "first": int(told.numbers[0]),
            "last": int(told.numbers[-1]),
            "frames": len(told),
            "model": {"method": info.method, "tensors": info.tensors, "trained_on": info.trained_on.dataset},
            "synthetic": told.synthetic,
            "research_use_only": True,
            "classes": classes,
        }


def analyze(
    source: str | Path,
    model: Model | str | Path,
    out: str | Path,
    start: int | None = None,
    stop: int | None = None,
    *,
    truth: str | Path | None = None,
    view: str | None = None,
    overwrite: bool = False,
) -> Analysis:
    """Read the frames start <= number < stop of a clip, all of it without them, and write the result folder.

    *truth* is a dataset folder some of whose segments lie in this clip; its frames.csv joins the picture.
    *view* names the lens view where it cannot be found.
    """
    check_free(Path(out), overwrite)
    chosen = model if isinstance(model, Model) else load_model(model)
    with open_source(source) as opened:
        _check_length(opened, start, stop)
        told = chosen.predict(opened, start, stop, view=view)
        seen = None
        if truth is not None:
            seen = clip_truth(load_dataset(truth), chosen.classes, opened.path, told.numbers)
        done = Analysis(
            Path(out),
            opened.path,
            chosen,
            told,
            opened.declared,
            opened.decoded,
            opened.damaged,
            tuple(opened.notes),
        )
        with building(done.out, {"analyze": str(opened.path)}, overwrite=overwrite) as partial:
            _draw(done, opened, seen, view, partial / "strip.png")
            with writing(partial / "scores.csv") as file:
                frame_table(told).to_csv(file, index=False, float_format="%.6g")
            write_text(partial / "exam.json", json.dumps(done.summary(), indent=1))
    return done


def frame_table(told: Prediction) -> pd.DataFrame:
    """A row a frame: number, time in seconds, attention, and the score of each class."""
    table = pd.DataFrame({"number": told.numbers, "time": told.times, "attention": told.attention})
    return pd.concat([table, pd.DataFrame(told.frame_scores, columns=list(told.classes))], axis=1)


def _check_length(source: FrameSource, start: int | None, stop: int | None) -> None:
    frames = len(stretch(source, start, stop))
    if frames > LONGEST:
        what = f"{frames:,} frames; a clip has at most {LONGEST:,}, and whole exams are not read yet"
        raise UserError(what, source.path, "name a stretch of it with --start and --stop")


def _draw(done: Analysis, source: FrameSource, seen: Truth | None, view: str | None, path: Path) -> None:
    told = done.prediction
    kept = view or done.model.info.view
    clip = read_clip(
        source,
        PICTURE,
        ordinals=np.searchsorted(source.numbers, told.numbers),
        view=None if kept == "auto" else kept,
    )
    draw_strip(
        path,
        clip.frames,
        told.attention,
        told.classes,
        told.video_scores,
        told.frame_scores,
        *(seen if seen is not None else (None, None)),
        title=f"{source.path.name}, frames {told.numbers[0]} to {told.numbers[-1]}, {done.model.info.method}",
        notice=SYNTHETIC if told.synthetic else "",
        threshold=told.thresholds,
        numbers=told.numbers.tolist(),
    )
