"""The paper's tables with this dataset's figures, and those that the paper does not have."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from devcem.benchmark.collecting import (
    Results,
    attention_figures,
    class_figures,
    frame_figures,
    video_figures,
)
from devcem.benchmark.paper import ABLATION, COMPARISON, FIGURES
from devcem.benchmark.rules import OF_VIDEOS, RULES
from devcem.evaluation import metric_differences
from devcem.evaluation.sheet import Sheet

Row = list[str]
NAMES = {"f1": "F1", "auroc": "AUROC", "ap": "mAP", "tuned f1": "F1, tuned"}
VIDEO = (*FIGURES, "tuned f1", "ap", "auroc")
OURS = "ps-devcem"
KEPT = {f"kept@{share}%": f"% of frames kept for {share}% of events" for share in (90, 95, 99)}
FRAME = {
    "auroc": "frame AUROC",
    "ap": "frame mAP",
    "bag_auroc": "AUROC within a segment",
    "pointing": "pointing",
    "events": "event mAP@0.1-0.7",
    **KEPT,
}
ATTENTION = {
    "total_variation": "total variation",
    "effective_frames": "effective frames",
    "effective_share": "their share",
    "alike_jump": "jump between neighbours that are alike",
    "other_jump": "between others",
    "auroc_0_20": "AUROC, pathology in < 20% of frames",
    "auroc_40_60": "40-60%",
    "auroc_80_100": "80-99%",
    "above_uniform_100": "above uniform, where all frames show it",
}
ATTENDED = "Relative attention, whose mean is 1; see the reference for each figure."
LEARNING = {"epochs": "epochs", "best_epoch": "best epoch", "seconds": "s of training"}


def tables(results: Results) -> dict[str, Sheet]:
    """Name of the file -> table; without the methods that have no run."""
    video, how = video_figures(results), conditions(results)
    extra = [name for name in results.runs if name not in {*ABLATION, *COMPARISON}]
    sheets = {
        "table2": _compared("Table 2, ablation", how, video, list(ABLATION), ABLATION),
        "table3": _compared("Table 3, comparison with others", how, video, list(COMPARISON), COMPARISON),
        "others": _compared("Methods that the paper does not compare", how, video, extra, {}),
        "classes": _classes("F1 of each class at 0.5", how, class_figures(results, "f1")),
        "classes-ap": _classes("Average precision of each class", how, class_figures(results, "ap")),
        "attention": _spread("Attention", f"{how} {ATTENDED}", attention_figures(results), ATTENTION, 3),
        "learning": _spread("How fast they learn", how, video, LEARNING, 0),
    }
    if len(results.runs) > 1:
        sheets["differences"] = _differences(results, how)
    frames = frame_figures(results)
    if frames is not None:
        told = f"{how} Scores of frames beside truth that no training saw. Of frames kept fewer is better."
        sheets["frames"] = _spread("Frames", told, frames, FRAME, 3)
    return {name: sheet for name, sheet in sheets.items() if sheet.rows}


def conditions(results: Results) -> str:
    """What must be known to read a figure: data, split, encoder, frozen or end to end, seeds."""
    plan, segments = results.plan, results.segments
    settings = results.settings
    patients = len({segment.patient for segment in segments})
    trained = "trained end to end (frozen for classical methods)" if plan.end_to_end else "frozen"
    seeds = max(map(len, results.runs.values()))
    said = [
        f"{results.data.name}, split {plan.split}: {len(segments)} videos of {patients} patients.",
        f"Encoder {settings.encoder.name}, {trained}; {seeds} seed{'s' * (seeds > 1)}, mean ± sd.",
        *results.notices,
    ]
    return " ".join(said)


def _compared(
    title: str,
    how: str,
    video: pd.DataFrame,
    methods: Sequence[str],
    printed: dict[str, tuple[float, float, float, float]],
) -> Sheet:
    """Our figures, and in grey those that the paper prints for its own data."""
    there = [name for name in methods if name in set(video["method"])]
    rows = []
    for name in [*there, *OF_VIDEOS] if there else []:
        some = video[video["method"] == name]
        cells = [name, *(_cell(some[figure]) for figure in VIDEO)]
        theirs = [f"{value:.3f}" for value in printed.get(name, ())] or [""] * len(FIGURES)
        rows.append(cells + (theirs if printed else []))
    columns = ["method", *(_named(figure) for figure in VIDEO)]
    caption = f"{how} Macro means over classes, at a threshold of 0.5 but for the tuned column."
    grey: frozenset[int] = frozenset()
    if printed:
        grey = frozenset(range(len(columns), len(columns) + len(FIGURES)))
        columns += [f"paper: {_named(figure)}" for figure in FIGURES]
        caption += " Grey: the paper's own figures, on other data, for orientation."
    best = _best(rows[: len(there)], range(1, len(VIDEO) + 1))
    return Sheet(title, caption, columns, rows, grey, best, frozenset({len(there)}))


def _classes(title: str, how: str, figures: pd.DataFrame) -> Sheet:
    """A row a class and a column a method: classes are many, and readers look for one of them."""
    methods = list(dict.fromkeys(figures["method"]))
    classes = [name for name in figures.columns if name not in ("method", "seed")]
    means = figures.drop(columns="seed").groupby("method", sort=False).mean()
    rows = [[name, *(_number(float(means.loc[method, name])) for method in methods)] for name in classes]
    return Sheet(title, f"{how} Means over seeds.", ["class", *methods], rows)


def _spread(title: str, how: str, figures: pd.DataFrame, columns: dict[str, str], digits: int) -> Sheet:
    rows = []
    for name, some in figures.groupby("method", sort=False):
        if not some[list(columns)].isna().all(axis=None):
            rows.append([str(name), *(_cell(some[column], digits) for column in columns)])
    trained = [row for row in rows if row[0] not in RULES]
    better = [n for n, name in enumerate(columns, 1) if name not in KEPT]
    if columns is ATTENTION:  # which describe: none is better
        better = []
    best = _best(trained, better) | _best(
        trained, [n for n, name in enumerate(columns, 1) if name in KEPT], -1
    )
    rule = frozenset({len(trained)})
    return Sheet(
        title, how, ["method", *columns.values()], rows, bold=best if digits else frozenset(), rules=rule
    )


def _differences(results: Results, how: str) -> Sheet:
    """Each method against one, on the same drawn patients."""
    (truth, known), runs = results.targets, results.runs
    base = OURS if OURS in runs else next(iter(runs))
    patients, first = [segment.patient for segment in results.segments], runs[base][0]
    rows = []
    for name, those in runs.items():
        if name != base:
            table = metric_differences(truth, (those[0].video, first.video), known, patients)
            macro = dict(zip(table.columns, table.to_numpy(np.float64)[-1].tolist(), strict=True))
            rows.append([name, *(_difference(macro, figure) for figure in ("ap", "auroc", "f1"))])
    columns = ["method", *(f"{_named(figure)} less that of {base}" for figure in ("ap", "auroc", "f1"))]
    caption = f"{how} First seed; in brackets 95% of 1,000 draws of patients, the same for both methods."
    return Sheet(f"Differences from {base}", caption, columns, rows)


def _difference(macro: dict[str, float], figure: str) -> str:
    return f"{macro[figure]:+.3f} [{macro[f'{figure}_low']:+.3f}, {macro[f'{figure}_high']:+.3f}]"


def _cell(values: pd.Series, digits: int = 3) -> str:
    """Mean ± standard deviation over seeds; one seed has no spread."""
    there = values.dropna().to_numpy(np.float64)
    if not len(there):
        return ""
    mean = f"{there.mean():.{digits}f}"
    return f"{mean} ± {there.std(ddof=1):.{digits}f}" if len(there) > 1 else mean


def _best(rows: list[Row], columns: Sequence[int], sign: int = 1) -> frozenset[tuple[int, int]]:
    """The leader of each column, as printed; nobody where all are alike. *sign* -1: the lowest leads."""
    found = set()
    for column in columns:
        values = [sign * _leading(row[column]) for row in rows]
        top = max(values, default=np.nan)
        leaders = [row for row, value in enumerate(values) if value == top]
        if len(leaders) < len(rows):
            found |= {(row, column) for row in leaders}
    return frozenset(found)


def _leading(cell: str) -> float:
    told = re.match(r"-?[\d.]+", cell)
    return float(told.group()) if told else -np.inf


def _named(figure: str) -> str:
    return NAMES.get(figure, figure)


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"
