"""The pictures of a benchmark. Each is drawn from the first seed, but for means and their spread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from devcem.benchmark.collecting import Results, any_pathology, class_figures, shown_any, video_figures
from devcem.benchmark.judged import Judged
from devcem.evaluation import figures as draw
from devcem.evaluation import kept_curve, multilabel_confusion, reliability
from devcem.frames import open_source
from devcem.frames.clip import read_clip, stretch
from devcem.frames.sampling import uniform

SIZE = 224  # pixels of a frame in strips and video
STRIPS = 3
LEADING = ("ps-devcem", "attention-mil", "stpn", "w-talc")  # of which bars and strips can hold few
CONFUSED = ("atten-conv", "atten-conv-lstm", "ps-devcem")  # side by side, as in the paper
BESIDE = ("uniform sampling", "random", "colour histogram")


def write_figures(results: Results, folder: Path) -> list[Path]:
    """All that the results allow, under the names by which the page shows them."""
    makers: tuple[Callable[[Results, Path], list[Path]], ...] = (
        _scatter,
        _bars,
        _confusion,
        _reliability,
        _kept,
        _together,
        _strips,
        _video,
    )
    return [path for make in makers for path in make(results, folder)]


def some(results: Results, wanted: tuple[str, ...]) -> list[str]:
    """Of the wanted methods those that have run, or the first few that have."""
    return [name for name in wanted if name in results.runs] or list(results.runs)[: len(wanted)]


def _scatter(results: Results, folder: Path) -> list[Path]:
    figures = ["precision", "recall", "specificity"]
    table = video_figures(results)
    by_method = table[table["method"].isin(list(results.runs))].groupby("method", sort=False)[figures]
    spread = by_method.std().add_suffix("_spread")
    return draw.scatter(
        folder / "scatter",
        pd.concat([by_method.mean(), spread], axis=1),
        title="Video figures at a threshold of 0.5, mean and spread over seeds",
        notices=results.notices,
    )


def _bars(results: Results, folder: Path) -> list[Path]:
    figures = class_figures(results, "ap").drop(columns="seed").groupby("method", sort=False)
    mean, spread = figures.mean().T, figures.std().T
    names = some(results, LEADING)
    low, high = (mean - spread)[names], (mean + spread)[names]
    kept = (low, high) if len(results.plan.seeds) > 1 else (None, None)
    return draw.class_bars(
        folder / "classes", mean[names], *kept, name="average precision", notices=results.notices
    )


def _confusion(results: Results, folder: Path) -> list[Path]:
    truth, known = results.targets
    matrices = {
        name: multilabel_confusion(truth, results.runs[name][0].video >= 0.5, known)
        for name in some(results, CONFUSED)
    }
    title = "What is called instead, at a threshold of 0.5"
    classes = results.data.classes
    return draw.confusion(folder / "confusion", matrices, classes, title=title, notices=results.notices)


def _reliability(results: Results, folder: Path) -> list[Path]:
    truth, known = results.targets
    name = some(results, LEADING[:1])[0]
    run = results.runs[name][0]
    if not ((run.video >= 0) & (run.video <= 1)).all():
        return []  # decisions of an SVM are no probabilities
    before, after = (
        reliability(truth, scores, known, classes=results.data.classes).rename(columns={"share": "rate"})
        for scores in (run.video, run.probabilities)
    )
    return draw.reliability_plot(
        folder / "reliability",
        before,
        after,
        title=f"{name}: what its scores are worth",
        notices=results.notices,
    )


def _kept(results: Results, folder: Path) -> list[Path]:
    """Of any pathology: what must be looked at until its events are seen."""
    if results.frame_targets is None:
        return []
    truth, known = any_pathology(results)
    told, sure = ([one[:, None] for one in part] for part in (truth, known))
    curves = {}
    for name in (*some(results, LEADING), *BESIDE):
        frames = results.everything[name][0].frames
        scores = [one[:, results.pathologies].max(1, keepdims=True) for one in frames]
        curves[name] = kept_curve(told, scores, sure)
    return draw.kept_plot(
        folder / "kept",
        curves,
        title="Frames to look at for the events of any pathology",
        notices=results.notices,
    )


def _together(results: Results, folder: Path) -> list[Path]:
    labels, known = results.targets
    carried = (labels & known).astype(int)
    return draw.cooccurrence(
        folder / "together", carried.T @ carried, results.data.classes, notices=results.notices
    )


def _strips(results: Results, folder: Path) -> list[Path]:
    """Segments with most labels, each of another patient."""
    names = some(results, LEADING)
    paths: list[Path] = []
    patients: set[str] = set()
    order = sorted(range(len(results.segments)), key=lambda n: -len(results.segments[n].labels))
    for n in order:
        segment = results.segments[n]
        if len(patients) == STRIPS or segment.patient in patients:
            continue
        patients.add(segment.patient)
        runs = {name: results.runs[name][0] for name in names}
        chosen = uniform(len(runs[names[0]].numbers[n]), 30)
        truth = known = None
        if results.frame_targets is not None:
            columns = [results.data.classes.index(name) for name in segment.labels]
            truth, known = (part[n][chosen] for part in shown_any(results.frame_targets, columns))
        paths += draw.attention_strips(
            folder / f"strip-{len(patients)}",
            _frames(results, n, chosen),
            {name: run.attention[n][chosen] for name, run in runs.items()},
            {name: _called(results, run, n) for name, run in runs.items()},
            truth,
            known,
            runs[names[0]].numbers[n][chosen].tolist(),
            labels=segment.labels,
            title=segment.segment,
            notices=results.notices,
        )
    return paths


def _video(results: Results, folder: Path) -> list[Path]:
    """The first strip's segment as it plays, in both formats."""
    name = some(results, LEADING[:1])[0]
    run, n = (
        results.runs[name][0],
        max(range(len(results.segments)), key=lambda n: len(results.segments[n].labels)),
    )
    frames = _frames(results, n, np.arange(len(run.numbers[n])))
    return [
        draw.side_by_side(
            folder / f"video{suffix}",
            frames,
            run.attention[n],
            classes=results.data.classes,
            frame_scores=run.frames[n],
            title=f"{results.segments[n].segment}, {name}",
            notices=results.notices,
        )
        for suffix in (".mp4", ".avi")
    ]


def _called(results: Results, run: Judged, n: int) -> tuple[str, ...]:
    order = np.argsort(-run.video[n], kind="stable")
    return tuple(results.data.classes[k] for k in order if run.video[n, k] >= run.thresholds[k])


def _frames(results: Results, n: int, chosen: np.ndarray) -> np.ndarray:
    segment = results.segments[n]
    view = None if results.settings.data.view == "auto" else results.settings.data.view
    with open_source(results.data.root / "media" / segment.source) as source:
        ordinals = stretch(source, segment.start, segment.stop)[chosen]
        return read_clip(source, SIZE, ordinals=ordinals, view=view).frames
