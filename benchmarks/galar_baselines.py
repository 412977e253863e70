"""What rules that look at no pixel score on real event statistics: the 60 exams of Galar's event labels.

    python benchmarks/galar_baselines.py [../shared/data/labels/galar_events.json]

Every figure is a macro mean over classes: first over the pathologies, then over all that the labels have
(with sections of the gut and landmarks). mAP is the mean of temporal mAP at overlaps of 0.1 to 0.7. "kept" is
the percent of frames that must be looked at until 90, 95 or 99% of the events are seen. AUROC and AP are over
single frames. The last table asks for 95% of the events of any pathology, by their length in frames.

The prior is each class's share of these frames: its value changes no figure, as each ranks within a class.
At the end, what the challenge's own scorer, which gives an AP of 1 to each label that a video neither has nor
is given, says of a prediction without events.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from machine import machine

from devcem.evaluation.baselines import BASELINES, baseline_scores
from devcem.evaluation.detection import temporal_map
from devcem.evaluation.kept import ANY, frames_kept
from devcem.evaluation.localisation import localisation_metrics
from devcem.labels import PATHOLOGIES, Dataset
from devcem.labels.importers import IMPORTERS, Options
from devcem.labels.importers.rare_vision import LABELS
from devcem.labels.truth import segment_truth

EVENTS = Path("../shared/data/labels/galar_events.json")
DISEASES = (*PATHOLOGIES, "lymphangiectasia")
KEPT = ["kept@90%", "kept@95%", "kept@99%"]
COLUMNS = ["mAP@0.1..0.7", "pointing", *KEPT, "frame AUROC", "frame AP"]


def read(path: Path) -> tuple[tuple[str, ...], list[npt.NDArray[np.bool_]]]:
    """Classes, and the truth [T,K] of every exam; its frames are all known."""
    found = IMPORTERS["rare-vision"].read(path, Options())
    dataset = Dataset(path, found.name, found.classes, found.segments)
    runs = defaultdict(list)
    for run in found.runs:
        runs[run.segment].append(run)
    truth = []
    for segment in found.segments:
        labels, known = segment_truth(dataset, segment, runs[segment.segment])
        assert known.all()
        truth.append(labels)
    return found.classes, truth


def judged(
    name: str, truth: list[npt.NDArray[np.bool_]], prior: npt.NDArray[np.float64], classes: tuple[str, ...]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A row a class, COLUMNS across; and the frames kept for any pathology, a row a length."""
    scores = baseline_scores(name, [len(exam) for exam in truth], prior, seed=0)
    located = localisation_metrics(truth, scores, classes=classes)
    table = pd.DataFrame(
        {
            "mAP@0.1..0.7": temporal_map(truth, scores, classes=classes)["mean"],
            "pointing": located["pointing"],
            "frame AUROC": located["auroc"],
            "frame AP": located["ap"],
        }
    )
    sick = [k for k, c in enumerate(classes) if c in DISEASES]
    kept = frames_kept(truth, scores, classes=classes, pathologies=sick)
    table = table.join(kept.xs("all", level="length")[KEPT])[COLUMNS].drop(index="macro")
    return table, kept.loc[[ANY]].droplevel("class")


def written(title: str, rows: dict[str, pd.Series]) -> str:
    lines = [f"| {title} | " + " | ".join(COLUMNS) + " |", "|---" * (1 + len(COLUMNS)) + "|"]
    for name, row in rows.items():
        cells = [f"{row[c]:.1f}" if c in KEPT else f"{row[c]:.4f}" for c in COLUMNS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def own_scorer_of_nothing(path: Path) -> float:
    """The mean share of the allowed labels that a video lacks: each is an AP of 1, the others of 0."""
    videos = json.loads(path.read_text(encoding="utf-8"))["videos"]
    shown = [{label for event in video["events"] for label in event["label"]} for video in videos]
    return float(np.mean([1 - len(labels) / len(LABELS) for labels in shown]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("events", type=Path, nargs="?", default=EVENTS)
    options = parser.parse_args()
    begun = time.perf_counter()
    classes, truth = read(options.events)
    prior = np.concatenate(truth).mean(axis=0)
    print(machine())
    print(f"{len(truth)} exams, {sum(map(len, truth)):,} frames, {len(classes)} classes", flush=True)
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda name: judged(name, truth, prior, classes), BASELINES)
        tables, lengths = (dict(zip(BASELINES, part, strict=True)) for part in zip(*results, strict=True))
    sick = [name for name in classes if name in DISEASES]
    for title, chosen in ((f"{len(sick)} pathologies", sick), (f"all {len(classes)} classes", list(classes))):
        print("\n" + written(title, {name: table.loc[chosen].mean() for name, table in tables.items()}))
    counts = lengths["empty"]["events"]
    print("\n| any pathology | " + " | ".join(f"{n} ({count:,})" for n, count in counts.items()) + " |")
    print("|---" * (1 + len(counts)) + "|")
    for name, table in lengths.items():
        print(f"| {name} | " + " | ".join(f"{percent:.1f}" for percent in table["kept@95%"]) + " |")
    wall = time.perf_counter() - begun
    print(f"\n{wall:.0f} s, {time.process_time():.0f} s of processor time")
    print(
        f"The challenge's scorer of a prediction without events: {own_scorer_of_nothing(options.events):.4f}"
    )


if __name__ == "__main__":
    main()
