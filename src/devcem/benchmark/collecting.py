"""Figures of every judged run, from what it said and what is true."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from devcem.benchmark.judged import Judged, is_judged, read_judged
from devcem.benchmark.plan import Plan
from devcem.benchmark.rules import rules
from devcem.benchmark.running import JUDGED
from devcem.errors import UserError
from devcem.evaluation import (
    attention_character,
    frames_kept,
    localisation_metrics,
    multilabel_metrics,
    temporal_map,
)
from devcem.evaluation.split import RUNS
from devcem.labels import PATHOLOGIES, Dataset, Segment, canonical, frame_truth, load_runs
from devcem.training import TrainSettings
from devcem.training.preparing import prepare

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Results:
    """All runs of a plan that are there, beside the truth."""

    data: Dataset
    plan: Plan
    segments: list[Segment]  # of the split, in the order of every run's arrays
    runs: dict[str, list[Judged]]  # a method's, seed by seed
    cache: Path | None = None  # of features

    @cached_property
    def targets(self) -> tuple[Bools, Bools]:
        """Labels [N,K] and known [N,K] of the segments."""
        return self.data.targets(self.segments)

    @cached_property
    def frame_targets(self) -> tuple[list[Bools], list[Bools]] | None:
        """The same of frames, [T,K] a segment; None where the dataset has no truth of frames."""
        if not (self.data.root / RUNS).is_file():
            return None
        first = next(iter(self.runs.values()))[0]
        numbers = dict(zip(first.segments, first.numbers, strict=True))
        runs = [run for run in load_runs(self.data) if run.segment in numbers]
        told = frame_truth(replace(self.data, segments=self.segments), runs, numbers)
        pairs = [told[segment.segment] for segment in self.segments]
        return [truth for truth, _ in pairs], [known for _, known in pairs]

    @cached_property
    def everything(self) -> dict[str, list[Judged]]:
        """The runs, and the rules that they have to beat."""
        like, view = next(iter(self.runs.values()))[0], self.settings.data.view
        cache = self.cache or self.data.root / ".features"
        return self.runs | rules(self.data, self.segments, like, view, cache)

    @property
    def settings(self) -> TrainSettings:
        """What the runs have in common stands in those of any."""
        return self.plan.settings(next(iter(self.runs)), self.plan.seeds[0], self.data.window)

    @cached_property
    def pathologies(self) -> list[int]:
        """Columns of classes that are pathologies; all of them where none is called like one."""
        found = [k for k, name in enumerate(self.data.classes) if canonical(name) in PATHOLOGIES]
        return found or list(range(len(self.data.classes)))

    @cached_property
    def features(self) -> list[Floats] | None:
        """Of the segments' frames [T,D] by the frozen encoder; None where runs trained one of their own."""
        if self.plan.end_to_end:
            return None
        found = prepare(self.data, self.settings, self.cache).features(self.segments, "cpu")
        return [one.features for one in found]

    @cached_property
    def notices(self) -> tuple[str, ...]:
        said = (note for runs in self.runs.values() for run in runs for note in run.about["notices"])
        return tuple(dict.fromkeys(said))


def collect(data: Dataset, out: Path, plan: Plan, cache: Path | None = None) -> Results:
    segments = [segment for segment in data.segments if segment.split == plan.split]
    names = tuple(segment.segment for segment in segments)
    runs: dict[str, list[Judged]] = {}
    for method in plan.methods:
        folders = [out / JUDGED / method / f"seed-{seed}" for seed in plan.seeds]
        found = [read_judged(folder) for folder in folders if is_judged(folder)]
        for one in found:
            if one.segments != names:
                remedy = "benchmark the changed dataset into another --out"
                raise UserError(f"{one.method} was judged on other segments", out, remedy)
        if found:
            runs[method] = found
    return Results(data, plan, segments, runs, cache)


def video_figures(results: Results) -> pd.DataFrame:
    """A row a method and seed: macro figures at 0.5, and with `tuned` in front those at tuned thresholds.
    The rules to beat come last."""
    truth, known = results.targets
    rows = []
    for method, runs in results.everything.items():
        for run in runs:
            half = multilabel_metrics(truth, run.video, known, 0.5).loc["macro"]
            tuned = multilabel_metrics(truth, run.video, known, run.thresholds).loc["macro"]
            figures = {f"tuned {name}": tuned[name] for name in ("precision", "recall", "f1", "specificity")}
            rows.append({"method": method, "seed": run.seed, **half, **figures, **_learning(run)})
    return pd.DataFrame(rows)


def class_figures(results: Results, figure: str = "f1") -> pd.DataFrame:
    """A row a method and seed, a column a class."""
    truth, known = results.targets
    rows = []
    for method, runs in results.runs.items():
        for run in runs:
            table = multilabel_metrics(truth, run.video, known, 0.5, results.data.classes)
            values = table[figure].drop("macro")
            rows.append({"method": method, "seed": run.seed, **values})
    return pd.DataFrame(rows)


def attention_figures(results: Results) -> pd.DataFrame:
    """A row a method and seed: attention's character, as far as features and truth of frames tell it."""
    features = results.features
    truth, known = (None, None) if results.frame_targets is None else any_pathology(results)
    rows = []
    for method, runs in results.runs.items():
        for run in runs:
            found = attention_character(run.attention, features, truth, known)
            rows.append({"method": method, "seed": run.seed, **found})
    return pd.DataFrame(rows)


def any_pathology(results: Results) -> tuple[list[Bools], list[Bools]]:
    """Whether frames show any pathology [T], and whether that is known; of all classes if none is one."""
    assert results.frame_targets is not None
    return shown_any(results.frame_targets, results.pathologies)


def shown_any(
    targets: tuple[list[Bools], list[Bools]], columns: list[int]
) -> tuple[list[Bools], list[Bools]]:
    """Truth [T] and known [T] of several classes as one: shown if any is known to be, known if all are."""
    truth: list[Bools] = []
    known: list[Bools] = []
    for told, sure in zip(*targets, strict=True):
        shown = np.asarray((told & sure)[:, columns].any(axis=1), bool)
        truth.append(shown)
        known.append(shown | np.asarray(sure[:, columns].all(axis=1), bool))
    return truth, known


def frame_figures(results: Results) -> pd.DataFrame | None:
    """A row a method and seed, the rules to beat last: macro figures of frames and events."""
    if results.frame_targets is None:
        return None
    truth, known = results.frame_targets
    rows = []
    for method, runs in results.everything.items():
        for run in runs:
            macro = localisation_metrics(truth, run.frames, known).loc["macro"]
            events = temporal_map(truth, run.frames, known).loc["macro", "mean"]
            kept = frames_kept(truth, run.frames, known).xs("all", level="length").loc["macro"]
            rows.append({"method": method, "seed": run.seed, **macro, **kept, "events": events})
    return pd.DataFrame(rows)


def _learning(run: Judged) -> dict[str, float]:
    about = run.about
    return {
        name: np.nan if about.get(name) is None else float(about[name])
        for name in ("epochs", "best_epoch", "seconds")
    }
