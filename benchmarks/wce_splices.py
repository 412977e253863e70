"""Bags spliced from real WCEBleedGen frames: does a bag hold bleeding, and in which frames?

    python benchmarks/wce_splices.py FOLDER [--methods all] [--epochs 30] [--train 200] [--test 400]

FOLDER holds frames.csv and frames/. A bag is 24 frames in a source's order: 3 to 8 neighbours of one source
inside a stretch of another. The host is never bleeding. In a positive bag the guest is, in a negative one it
comes from another source without bleeding, so that a cut alone tells nothing. Semi-real: the pixels are, the
cuts are not.

A seed halves the sources, of bleeding and of the rest. Each half once trains and once judges, so that no
source lies on both sides; a seed's figure is the mean of both. Features are standardised by the training
half's frames. Settings are the same for all rows and fixed beforehand (those of the preset `fast`, without
its choice of an epoch): no bag is held back for validation, the last weights are judged. Classical methods
have their own defaults. `w-talc` ranks classes and needs two: "no bleeding" is the second.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from machine import machine
from PIL import Image
from seeds import SEEDS, Floats, each, spread

from devcem.encoders import create_encoder
from devcem.evaluation import localisation_metrics, multilabel_metrics
from devcem.methods import Bag, collate, create, names
from devcem.methods.classical import OneVsRest
from devcem.progress import say, track
from devcem.training import FeatureBags, TrainSettings, fit
from devcem.training.devices import make_fabric
from devcem.training.settings import PRESETS, Data
from devcem.training.trainee import Trainee

FRAMES = 24
GUESTS = (3, 8)  # fewest and most
METHODS = ("ps-devcem", "attention-mil", "mean-pool")
COLOUR = ("attention-mil", "mean-pool")  # rows of the baseline that sees colours alone
FIGURES = ("bag AUC", "frame AUC", "frame AUC within bags", "by attention")
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Sources = dict[str, Ints]  # each source's frames, as ordinals in the table, in its own order


@dataclass(frozen=True)
class Splice:
    frames: Ints  # [24] ordinals
    bleeding: Bools  # [24]


@dataclass(frozen=True)
class Half:
    """Sources that are together on one side of a split."""

    bleeding: Sources
    plain: Sources

    def all(self) -> Ints:
        return np.concatenate([*self.bleeding.values(), *self.plain.values()])


def splice(guest: Ints, host: Ints, bleeding: bool, rng: np.random.Generator) -> Splice:
    """Neighbours of *guest* inside a stretch of *host*, with at least one frame of the host at either end."""
    count = int(rng.integers(GUESTS[0], GUESTS[1] + 1))
    inside = _stretch(guest, count, rng)
    around = _stretch(host, FRAMES - count, rng)
    start = int(rng.integers(1, len(around)))
    within = np.zeros(FRAMES, bool)
    within[start : start + count] = bleeding
    return Splice(np.insert(around, start, inside), within)


def _stretch(frames: Ints, count: int, rng: np.random.Generator) -> Ints:
    first = int(rng.integers(len(frames) - count + 1))
    return frames[first : first + count]


def splices(half: Half, count: int, rng: np.random.Generator) -> list[Splice]:
    """*count* bags, positive and negative by turns; hosts and guests from all sources alike."""
    plain, bleeding = list(half.plain), list(half.bleeding)
    found = []
    for number in range(count):
        positive = number % 2 == 0
        host = plain[int(rng.integers(len(plain)))]
        others = bleeding if positive else [name for name in plain if name != host]
        guest = others[int(rng.integers(len(others)))]
        frames = (half.bleeding if positive else half.plain)[guest]
        found.append(splice(frames, half.plain[host], positive, rng))
    return found


def halves(bleeding: Sources, plain: Sources, rng: np.random.Generator) -> tuple[Half, Half]:
    sides: list[tuple[Sources, Sources]] = []
    for sources in (bleeding, plain):
        names = rng.permutation(sorted(sources))
        middle = len(names) // 2
        sides.append(({n: sources[n] for n in names[:middle]}, {n: sources[n] for n in names[middle:]}))
    return Half(sides[0][0], sides[1][0]), Half(sides[0][1], sides[1][1])


def read_table(folder: Path) -> tuple[list[Path], Sources, Sources]:
    """Files, and the sources with and without bleeding. A source's order is that of its numbers."""
    with (folder / "frames.csv").open(newline="", encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: (row["source"], int(row["num"])))
    sources: tuple[Sources, Sources] = ({}, {})
    for name in dict.fromkeys(row["source"] for row in rows):
        mine = np.array([n for n, row in enumerate(rows) if row["source"] == name])
        sources[rows[mine[0]]["bleeding"] == "0"][name] = mine
    return [folder / "frames" / row["file"] for row in rows], *sources


def encoded(files: Sequence[Path], encoder_name: str) -> Floats:
    """[N,D]"""
    encoder = create_encoder(encoder_name)
    parts = [files[first : first + 64] for first in range(0, len(files), 64)]
    read = ([np.asarray(Image.open(file).convert("RGB")) for file in part] for part in parts)
    features = [encoder.encode(np.stack(pictures)) for pictures in track(read, encoder_name, len(parts))]
    return np.concatenate(features).astype(np.float64)


def bags_of(found: list[Splice], features: npt.NDArray[np.float32], classes: int = 1) -> FeatureBags:
    labels = np.array([[bag.bleeding.any(), not bag.bleeding.any()][:classes] for bag in found])
    names = [f"splice {n}" for n in range(len(found))]
    return FeatureBags(names, [features[bag.frames] for bag in found], labels, data=Data(window=FRAMES))


def judged(
    method_name: str,
    train: list[Splice],
    test: list[Splice],
    features: Floats,
    half: Half,
    seed: int,
    epochs: int,
) -> list[float]:
    """FIGURES on *test* after training on *train*, whose sources are *half*."""
    learnt = features[half.all()]
    deviation = learnt.std(0)
    scale = np.divide(1, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    scaled = ((features - learnt.mean(0)) * scale).astype(np.float32)
    classes = 2 if method_name == "w-talc" else 1
    torch.manual_seed(seed)
    method = create(method_name, num_classes=classes, feature_dim=features.shape[1])
    judges, truth = bags_of(test, scaled, classes), [bag.bleeding for bag in test]
    drawn = [judges.judge(n) for n in range(len(test))]
    if isinstance(method, OneVsRest):
        labels = np.array([[bag.bleeding.any()] for bag in train])
        method.fit([scaled[bag.frames] for bag in train], labels, np.ones_like(labels))
        return figures(Trainee(method), drawn, truth)
    fast = {name: value for name, value in PRESETS["fast"].items() if name not in ("patience", "select")}
    settings = TrainSettings(
        **{
            **fast,
            "method": method_name,
            "seed": seed,
            "epochs": epochs,
            "precision": "bf16",
            "accelerator": "cpu",
        }
    )
    trainee, bags = Trainee(method), bags_of(train, scaled, classes)
    first = bags_of(train[:2], scaled, classes)  # `fit` wants a judge; its verdict decides nothing here
    trainee.load_state_dict(fit(make_fabric(settings), trainee, bags, first, settings).last)
    return figures(trainee, drawn, truth)


@torch.inference_mode()
def figures(trainee: Trainee, bags: list[Bag], bleeding: list[Bools]) -> list[float]:
    trainee.eval()
    batch = collate(bags)
    assert batch.features is not None
    output = trainee.method(batch.features, batch.mask)
    video = trainee.method.scores(output).numpy()[:, :1]  # [N,1]
    frames = trainee.method.frame_scores(output).numpy()[..., :1]  # [N,T,1]
    truth = [bag[:, None] for bag in bleeding]
    tags = np.array([bag.any(0) for bag in truth])
    located = localisation_metrics(truth, list(frames)).loc["macro"]
    attended = localisation_metrics(truth, list(output.attention.numpy()[..., None])).loc["macro"]
    area = float(multilabel_metrics(tags, video).loc["macro", "auroc"])
    return [
        area,
        *(float(value) for value in (located["auroc"], located["bag_auroc"], attended["bag_auroc"])),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), help="names, or all")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--train", type=int, default=200, help="bags that train")
    parser.add_argument("--test", type=int, default=400, help="bags that judge")
    options = parser.parse_args()
    files, bleeding, plain = read_table(options.folder)
    wanted = names() if options.methods == ["all"] else options.methods
    table_rows = [("resnet50-augnet", name) for name in wanted] + [("colour", name) for name in COLOUR]
    features = {name: encoded(files, name) for name in ("resnet50-augnet", "colour")}
    print(machine())
    print(f"{len(files)} frames of {len(bleeding)} sources with bleeding and {len(plain)} without")
    print(f"{options.train} bags train, {options.test} judge, twice a seed; {options.epochs} epochs\n")
    print("| features | method | " + " | ".join(FIGURES) + " | bag AUC of each seed |")
    print("|" + "---|" * (len(FIGURES) + 3))
    for encoder_name, method in table_rows:
        seeds = []
        for seed in SEEDS:
            rng = np.random.default_rng(seed)  # every row sees the same bags
            sides = halves(bleeding, plain, rng)
            drawn = [(splices(side, options.train, rng), splices(side, options.test, rng)) for side in sides]
            values = [
                judged(
                    method,
                    drawn[a][0],
                    drawn[1 - a][1],
                    features[encoder_name],
                    sides[a],
                    seed,
                    options.epochs,
                )
                for a in (0, 1)
            ]
            seeds.append(np.mean(values, axis=0))
            say(f"{encoder_name}, {method}: seed {seed}: bag AUC {seeds[-1][0]:.3f}")
        table = np.array(seeds).T  # [figure, seed]
        cells = [encoder_name, method, *map(spread, table), each(table[0])]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
