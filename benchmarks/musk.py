"""The classical MIL sets (MUSK1, Elephant, Fox) with attention MIL: 10-fold cross-validation, five seeds.

    python benchmarks/musk.py FOLDER [--sets musk1 elephant fox] [--epochs 40]

FOLDER holds musk1.npz and the like: X [instances, features], bag and bag_label [instances]. A seed draws ten
stratified folds and the weights. Instances are standardised by the training folds. Settings are fixed for
all sets and no bag is held back for validation: the last weights are judged, at 0.5, each bag once a seed.
The interval is a 95% bootstrap over bags of the mean over seeds: what another set of as many bags would show.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from machine import machine
from seeds import SEEDS, Floats, each, interval, spread
from sklearn.model_selection import StratifiedKFold

from devcem.evaluation.ranking import auroc
from devcem.methods import create
from devcem.progress import say
from devcem.training import FeatureBags, TrainSettings, fit
from devcem.training.devices import make_fabric
from devcem.training.judging import judge
from devcem.training.settings import Data
from devcem.training.trainee import Trainee

FOLDS = 10
WHOLE = Data(sampling="uniform", window=10_000)  # every instance of a bag
Options = dict[str, Any]
FORMS: dict[str, Options] = {  # the plain method, and with a layer that embeds as the original's net does
    "attention-mil": {},
    "attention-mil embedding=256": {"embedding": 256},
    "attention-mil embedding=256 gated": {"embedding": 256, "gated": True},
}


@dataclass(frozen=True)
class BagSet:
    bags: list[Floats]  # [T,D] each
    labels: npt.NDArray[np.bool_]  # [N]


Figure = Callable[[BagSet, Floats], float]


def read_bags(path: Path) -> BagSet:
    with np.load(path, allow_pickle=False) as file:
        instances, of, labels = file["X"], file["bag"], file["bag_label"]
    firsts = np.unique(of, return_index=True)[1]
    return BagSet([instances[of == of[first]] for first in firsts], labels[firsts] > 0)


def standardised(train: list[Floats], test: list[Floats]) -> tuple[list[Floats], list[Floats]]:
    """Both by mean and deviation of the training instances; a feature that is constant there becomes 0."""
    instances = np.concatenate(train)
    mean, deviation = instances.mean(0), instances.std(0)
    scale = np.divide(1, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    return [(bag - mean) * scale for bag in train], [(bag - mean) * scale for bag in test]


def cross_validated(data: BagSet, options: Options, seed: int, epochs: int) -> Floats:
    """Each bag's score from the fold that did not train on it. [N]"""
    scores = np.empty(len(data.bags))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for fold, (learners, judged) in enumerate(folds.split(np.zeros(len(data.bags)), data.labels)):
        sides = standardised([data.bags[n] for n in learners], [data.bags[n] for n in judged])
        train, test = (
            feature_bags(bags, data.labels[which])
            for bags, which in zip(sides, (learners, judged), strict=True)
        )
        scores[judged] = scored(train, test, options, seed * FOLDS + fold, epochs)
    return scores


def scored(train: FeatureBags, test: FeatureBags, options: Options, seed: int, epochs: int) -> Floats:
    settings = TrainSettings(
        method="attention-mil",
        options=options,
        seed=seed,
        batch=1,
        epochs=epochs,
        data=WHOLE,
        optimiser={"lr": 5e-4, "weight_decay": 1e-4},
        accelerator="cpu",
        workers=1,
    )
    torch.manual_seed(seed)
    features = train.judge(0).features
    assert features is not None
    method = create(settings.method, num_classes=1, feature_dim=features.shape[1], **options)
    fabric, trainee = make_fabric(settings), Trainee(method)
    trainee.load_state_dict(fit(fabric, trainee, train, train, settings).last)
    return judge(fabric, trainee, test, 32, 1).scores[:, 0]


def feature_bags(bags: list[Floats], labels: npt.NDArray[np.bool_]) -> FeatureBags:
    features = [bag.astype(np.float32) for bag in bags]
    return FeatureBags([f"bag {n}" for n in range(len(bags))], features, labels[:, None], data=WHOLE)


def accuracy(data: BagSet, scores: Floats) -> float:
    return float(((scores >= 0.5) == data.labels).mean())


def area(data: BagSet, scores: Floats) -> float:
    return auroc(data.labels, scores)


def report(name: str, form: str, data: BagSet, runs: list[Floats]) -> str:
    """A row of the table: both figures over the seeds' *runs*, each with its interval over bags."""
    cells = [name, form]
    for figure in (accuracy, area):
        values = [figure(data, scores) for scores in runs]

        def of_drawn(drawn: npt.NDArray[np.int64], figure: Figure = figure) -> float:
            some = BagSet([], data.labels[drawn])
            return float(np.mean([figure(some, scores[drawn]) for scores in runs]))

        cells += [spread(values), interval(of_drawn, len(data.labels)), each(values)]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=["musk1"])
    parser.add_argument("--epochs", type=int, default=40)
    options = parser.parse_args()
    torch.set_num_threads(1)  # steps this small are slower on more
    print(machine())
    print(
        f"{FOLDS}-fold cross-validation, {len(SEEDS)} seeds, {options.epochs} epochs; mean ± sd over seeds\n"
    )
    print("| set | method | accuracy | 95% of bags | each seed | AUC | 95% of bags | each seed |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.sets:
        data = read_bags(options.folder / f"{name}.npz")
        for form, arguments in FORMS.items():
            runs = []
            for seed in SEEDS:
                runs.append(cross_validated(data, arguments, seed, options.epochs))
                say(f"{name}, {form}: seed {seed}: accuracy {accuracy(data, runs[-1]):.3f}")
            print(report(name, form, data, runs), flush=True)


if __name__ == "__main__":
    main()
