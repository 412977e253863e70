"""What an evaluation leaves: tables, figures, and a page that shows them."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from devcem.evaluation import figures as draw
from devcem.evaluation.averages import averages
from devcem.evaluation.baselines import baseline_scores
from devcem.evaluation.bootstrap import metric_intervals
from devcem.evaluation.calibration import reliability
from devcem.evaluation.confusion import multilabel_confusion
from devcem.evaluation.detection import temporal_map
from devcem.evaluation.kept import frames_kept, kept_curve
from devcem.evaluation.sheet import Sheet
from devcem.evaluation.split import Evaluated
from devcem.evaluation.strip import NOTICE
from devcem.files import building, make_folder, write_text, writing

PAGE, FIGURES = "report.html", "figures"
BESIDE = ("uniform sampling", "random")  # rules that look at no pixel
TITLES = {
    "metrics": "Each class of each video",
    "averages": "Averages, at a threshold of 0.5",
    "intervals": "95% of 1,000 draws of patients, at a threshold of 0.5",
    "localisation": "Frames, by the score of each for the class",
    "events": "Events: average precision by overlap",
    "kept": "Percent of frames to look at until events are seen, by the length of the event",
}
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 78rem; margin: 2rem auto }
table { border-collapse: collapse; margin: 1.5rem 0; font-variant-numeric: tabular-nums; font-size: 13px }
caption { text-align: left; padding-bottom: .4rem; max-width: 60rem }
th, td { padding: .25rem .6rem; text-align: right; white-space: nowrap }
th { border-bottom: 1px solid #444 }
th:first-child, td:first-child { text-align: left }
.grey { color: #888 }
.rule td { border-top: 1px solid #bbb }
.notice { background: #fff4e0; border-left: 4px solid #e08e45; padding: .5rem 1rem }
.wide { overflow-x: auto }
img { max-width: 100%; height: auto; border: 1px solid #eee }
"""


def write_evaluation(evaluated: Evaluated, out: str | Path, overwrite: bool = False) -> Path:
    """CSV tables, figures, report.html and evaluation.json: whole or not at all."""
    tables = evaluation_tables(evaluated)
    recipe = {"evaluate": evaluated.dataset.name, "split": evaluated.split}
    with building(out, recipe, overwrite=overwrite) as partial:
        for name, table in tables.items():
            with writing(partial / f"{name}.csv") as file:
                table.to_csv(file, float_format="%.6g")
        make_folder(partial / FIGURES)
        drawn = _figures(evaluated, tables, partial / FIGURES)
        info = evaluated.model.info
        title = f"{info.method} on {evaluated.dataset.name}, split {evaluated.split}"
        sheets = [sheet(title, tables[name]) for name, title in TITLES.items() if name in tables]
        write_text(partial / PAGE, page(title, evaluated.notices, sheets, drawn))
        write_text(partial / "evaluation.json", json.dumps(evaluated.summary(), indent=1))
    return Path(out)


def evaluation_tables(evaluated: Evaluated) -> dict[str, pd.DataFrame]:
    """Name of the file -> table; those of frames only where their truth is known."""
    data, segments = evaluated.dataset, evaluated.segments
    truth, known = data.targets(segments)
    scores = np.stack([one.video_scores for one in evaluated.predictions])
    names = pd.Index([segment.segment for segment in segments], name="segment")
    patients = [segment.patient for segment in segments]
    tables = {
        "metrics": evaluated.metrics,
        "averages": averages(truth, scores, known, classes=data.classes),
        "intervals": metric_intervals(truth, scores, known, patients, classes=data.classes),
        "scores": pd.DataFrame(scores, index=names, columns=list(data.classes)),
    }
    if evaluated.localisation is not None and evaluated.frame_targets is not None:
        frames = [one.frame_scores for one in evaluated.predictions]
        shown, sure = evaluated.frame_targets
        tables["localisation"] = evaluated.localisation
        tables["events"] = temporal_map(shown, frames, sure, classes=data.classes)
        tables["kept"] = frames_kept(shown, frames, sure, classes=data.classes)
    return tables


def sheet(title: str, table: pd.DataFrame) -> Sheet:
    """Three decimals, a blank where there is nothing to tell."""
    flat = table.reset_index()
    rows = [[_cell(value) for value in row] for row in flat.itertuples(index=False)]
    return Sheet(title, "", [str(name) for name in flat.columns], rows)


def page(title: str, notices: tuple[str, ...], sheets: list[Sheet], drawn: list[Path]) -> str:
    """Pictures lie beside it, so that it can be moved with its folder."""
    said = " ".join((*notices, NOTICE))
    body = [f'<div class="wide">{one.html()}</div>' for one in sheets] + [_shown(path) for path in drawn]
    told, parts = html.escape(title), "\n".join(body)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{told}</title>'
        f"<style>{STYLE}</style></head><body><h1>{told}</h1>"
        f'<p class="notice">{html.escape(said)}</p>{parts}</body></html>\n'
    )


def _shown(path: Path) -> str:
    """A picture once, from its PNG; a video as a link."""
    place = f"{FIGURES}/{path.name}"
    if path.suffix == ".png":
        vector = f"{FIGURES}/{path.stem}.svg"
        return f'<p><a href="{vector}"><img src="{place}" alt="{html.escape(path.stem)}"></a></p>'
    return f'<p><a href="{place}">{path.name}</a></p>' if path.suffix in (".mp4", ".avi") else ""


def _figures(evaluated: Evaluated, tables: dict[str, pd.DataFrame], folder: Path) -> list[Path]:
    data, notices, name = evaluated.dataset, evaluated.notices, evaluated.model.info.method
    truth, known = data.targets(evaluated.segments)
    scores = np.stack([one.video_scores for one in evaluated.predictions])
    intervals = tables["intervals"].drop("macro")
    bars = (
        evaluated.metrics[["ap"]].drop("macro").set_axis([name], axis=1),
        intervals[["ap_low"]].set_axis([name], axis=1),
        intervals[["ap_high"]].set_axis([name], axis=1),
    )
    drawn = draw.class_bars(folder / "classes", *bars, name="average precision", notices=notices)
    called = scores >= evaluated.model.thresholds
    matrix = {name: multilabel_confusion(truth, called, known)}
    title = "What is called instead, at the model's thresholds"
    drawn += draw.confusion(folder / "confusion", matrix, data.classes, title=title, notices=notices)
    if ((scores >= 0) & (scores <= 1)).all():
        probabilities = np.stack([one.probabilities for one in evaluated.predictions])
        before, after = (
            reliability(truth, given, known, classes=data.classes).rename(columns={"share": "rate"})
            for given in (scores, probabilities)
        )
        title = "What scores are worth, before and after calibration"
        drawn += draw.reliability_plot(folder / "reliability", before, after, title=title, notices=notices)
    return drawn + _frames_kept(evaluated, folder)


def _frames_kept(evaluated: Evaluated, folder: Path) -> list[Path]:
    """All classes' events pooled, class beside class: what must be looked at for each of them."""
    if evaluated.frame_targets is None:
        return []
    shown, sure = evaluated.frame_targets
    if not any((told & use).any() for told, use in zip(shown, sure, strict=True)):
        return []
    count = len(evaluated.dataset.classes)
    lengths = [len(one) for one in evaluated.predictions]
    prior = np.zeros(count)
    tables: dict[str, Sequence[npt.NDArray[Any]]] = {
        evaluated.model.info.method: [one.frame_scores for one in evaluated.predictions],
        **{name: baseline_scores(name, lengths, prior) for name in BESIDE},
    }

    def a_class_after_another(parts: Sequence[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        return [part[:, [k]] for k in range(count) for part in parts]

    told, use = a_class_after_another(shown), a_class_after_another(sure)
    curves = {name: kept_curve(told, a_class_after_another(part), use) for name, part in tables.items()}
    title = "Frames to look at for the events of all classes"
    return draw.kept_plot(folder / "kept", curves, title=title, notices=evaluated.notices)


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.3f}"
    return str(value)
