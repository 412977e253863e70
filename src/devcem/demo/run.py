"""The demo's steps, one after the other. What is rendered already is not rendered again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from devcem import __version__
from devcem.demo import learning, pictures
from devcem.demo.page import write_page
from devcem.encoders import create_encoder
from devcem.encoders.extract import segment_features
from devcem.encoders.store import FeatureStore
from devcem.errors import UserError
from devcem.evaluation import linear_probe
from devcem.files import write_text, writing
from devcem.labels import Dataset, dataset_stats, load_dataset, load_runs, segment_truth
from devcem.labels.figures import write_stats
from devcem.labels.importers import import_dataset
from devcem.parallel import cores
from devcem.progress import say
from devcem.synthetic import ExamOrder, Order, write_collection, write_exam

ENCODERS = ("colour", "efficientnet-lite0")
EVERY = 2  # the probe looks at every second frame: neighbours are near-copies


@dataclass(frozen=True)
class Size:
    """How much the demo renders, and how long it trains."""

    segments: int | None = None  # None: all of the preset
    patients: int | None = None
    exam_frames: int = 3000
    epochs: int | None = None  # None: as many as the preset fast takes


def run_demo(out: Path, seed: int = 0, size: Size | None = None, workers: int | None = None) -> Path:
    """Run every step into *out*; returns the page to open."""
    size, workers = size or Size(), workers or cores()
    _same_order(out, seed, size)
    collection, exam, imported = out / "collection", out / "exam", out / "imported"

    say("1 of 7  render a collection of tagged segments and a short exam, their truth known")
    order = Order(seed=seed, segments=size.segments, patients=size.patients)
    _once(collection, lambda: write_collection(collection, order, workers))
    _once(exam, lambda: write_exam(exam, ExamOrder(size.exam_frames, seed, size=256), workers))

    say("2 of 7  count what the collection holds")
    dataset = load_dataset(collection)
    write_stats(dataset_stats(dataset), out / "stats")

    say("3 of 7  turn the exam and its reader's tags into a dataset, burnt-in text masked")
    summary = import_dataset("tags", exam / "tags.csv", imported, overwrite=True)

    say("4 of 7  train PS-DeVCEM on the tags of the train split")
    learning.fit(out, dataset, learning.settings(seed, size.epochs))

    say("5 of 7  judge it on the test split's patients, and read a clip of theirs")
    learnt = learning.judge(out, dataset)

    say("6 of 7  see what a straight line finds in the features of patients it has not met")
    probe = _probe(dataset)
    with writing(out / "probe.csv") as file:
        probe.to_csv(file, index=False, float_format="%.3f")

    say("7 of 7  draw")
    pictures.draw_sheet(dataset, out / "segments.jpg")
    pictures.draw_mask(dataset, out / "mask.png")
    pictures.draw_probe(probe, out / "probe.png")
    return write_page(out, dataset, summary, learnt, probe)


def _same_order(out: Path, seed: int, size: Size) -> None:
    """One folder holds one demo: what lies there was made by the same version with the same wishes."""
    order = json.dumps({"demo": __version__, "seed": seed, **asdict(size)}, indent=1)
    note = out / "demo.json"
    if out.exists() and any(out.iterdir()) and not (note.exists() and note.read_text("utf-8") == order):
        raise UserError("the folder holds something else", out, "choose another --out, or delete the folder")
    out.mkdir(parents=True, exist_ok=True)
    write_text(note, order)


def _once(folder: Path, make: Callable[[], object]) -> None:
    if (folder / "dataset.yaml").exists():
        say(f"{folder} is there already")
    else:
        make()


def _probe(dataset: Dataset) -> pd.DataFrame:
    """A row a class: AUROC of each encoder under a linear probe, by held-out patient and per frame."""
    store, runs = FeatureStore(dataset.root / ".features"), load_runs(dataset)
    labels, known, patients = [], [], []
    for segment in dataset.segments:
        truth, said = segment_truth(dataset, segment, [run for run in runs if run.segment == segment.segment])
        labels.append(truth[::EVERY])
        known.append(said[::EVERY])
        patients += [segment.patient] * len(labels[-1])
    tables = {}
    for name in ENCODERS:
        found = segment_features(dataset, dataset.segments, create_encoder(name), store)
        features = np.concatenate([one.features[::EVERY] for one in found])
        say(f"a straight line a class through features of {name}")
        tables[name] = linear_probe(
            features, np.concatenate(labels), np.concatenate(known), patients, dataset.classes
        )
    first = tables[ENCODERS[0]]
    table = first[["class", "positives", "patients"]].copy()
    for name, result in tables.items():
        table[name] = result["auroc"]
    table["reason"] = first["reason"]
    return table
