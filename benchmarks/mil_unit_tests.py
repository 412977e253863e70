"""The three MIL unit tests of Raff and Holt (NeurIPS 2023) over every registered method.

    python benchmarks/mil_unit_tests.py [--methods ps-devcem sil] [--bags 300] [--epochs 30]

A bag is positive where it holds what makes it so; nothing else makes it negative. Each test plants a shortcut
that says otherwise, works on all training bags, and is turned round in the test bags: a method that learnt
the rule stays near an AUC of 1, one that took the shortcut falls below 0.5. Written from the description.

    one concept       positive: some instance of concept A. Shortcut: every negative bag holds a poison, an
                      instance that stands out; in the test the positive bags hold it.
    two concepts      positive: A and B; a negative bag holds one of them, or neither. The same shortcut.
    false frequency   positive: some instance of A. Shortcut: a harmless cue stands in a few instances of a
                      positive bag and in most of a negative one; in the test it is the other way round.

Bags of 12 to 20 instances of 16 features; instances are standard normal noise, and what is planted lies at 4
on an axis of its own, the poison at 8. A deep method trains with Adam 1e-3, batches of 10, the last weights;
a recurrent one with 64 hidden units. A classical one has its own defaults. `w-talc` ranks classes and needs
two: "negative" is the second. "passes": mean AUC over seeds of 0.9 at least, in bags drawn as in training
and in those that are turned round.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from machine import machine
from seeds import Floats, spread

from devcem.evaluation.ranking import auroc
from devcem.methods import create, names
from devcem.methods.classical import OneVsRest
from devcem.methods.registry import describe
from devcem.progress import say
from devcem.training import FeatureBags, TrainSettings, fit
from devcem.training.devices import make_fabric
from devcem.training.settings import Data
from devcem.training.trainee import Trainee

DIM, SEEDS, PASS = 16, range(3), 0.9
A, B, POISON, CUE = range(4)  # axes
Bools = npt.NDArray[np.bool_]
Bags = tuple[list[Floats], Bools]


def background(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(int(rng.integers(12, 21)), DIM))


def planted(bag: Floats, counts: dict[int, int], rng: np.random.Generator) -> Floats:
    """So many instances of each thing, none in the place of another."""
    places = rng.permutation(len(bag))
    for axis, count in counts.items():
        bag[places[:count], axis] = (8 if axis == POISON else 4) + rng.normal(size=count)
        places = places[count:]
    return bag


def one_concept(positive: bool, test: bool, _: np.random.Generator) -> dict[int, int]:
    return {A: int(positive), POISON: int(positive == test)}


def two_concepts(positive: bool, test: bool, rng: np.random.Generator) -> dict[int, int]:
    alone = int(rng.integers(3))
    shown = {A: 1, B: 1} if positive else {A: int(alone == 0), B: int(alone == 1)}
    return shown | {POISON: int(positive == test)}


def false_frequency(positive: bool, test: bool, rng: np.random.Generator) -> dict[int, int]:
    many = int(rng.integers(7, 10)) if positive == test else int(rng.integers(1, 4))
    return {A: int(positive), CUE: many}


Plan = Callable[[bool, bool, np.random.Generator], dict[int, int]]
TESTS: dict[str, Plan] = {
    "one concept": one_concept,
    "two concepts": two_concepts,
    "false frequency": false_frequency,
}


def draw(plan: Plan, count: int, test: bool, rng: np.random.Generator) -> Bags:
    labels = np.arange(count) % 2 == 0
    return [planted(background(rng), plan(bool(y), test, rng), rng) for y in labels], labels


def options(name: str) -> dict[str, Any]:
    return {"hidden": 64} if any(option.name == "hidden" for option in describe(name).options) else {}


def scores(name: str, train: Bags, judged: list[Bags], seed: int, epochs: int) -> list[Floats]:
    """Of every bag of *judged*, after training on *train*."""
    classes = 2 if name == "w-talc" else 1
    torch.manual_seed(seed)
    method = create(name, num_classes=classes, feature_dim=DIM, **options(name))
    labels = np.stack([train[1], ~train[1]], 1)[:, :classes]
    if isinstance(method, OneVsRest):
        method.fit(train[0], labels, np.ones_like(labels))
    else:
        learnt = FeatureBags(
            [f"bag {n}" for n in range(len(labels))],
            [bag.astype(np.float32) for bag in train[0]],
            labels,
            data=Data(sampling="uniform"),
        )
        told = TrainSettings(
            method=name,
            seed=seed,
            batch=10,
            epochs=epochs,
            optimiser={"lr": 1e-3},
            accelerator="cpu",
            workers=1,
        )
        trainee = Trainee(method)
        trainee.load_state_dict(fit(make_fabric(told), trainee, learnt, learnt, told).last)
    return [_scores(method.eval(), bags) for bags, _ in judged]


@torch.inference_mode()
def _scores(method: torch.nn.Module, bags: list[Floats]) -> Floats:
    found = []
    for bag in bags:
        features = torch.from_numpy(bag).float()[None]
        output = method(features, torch.ones(1, len(bag), dtype=torch.bool))
        found.append(float(output.video_logits[0, 0]))
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", nargs="+", default=names())
    parser.add_argument("--bags", type=int, default=300, help="that train, and as many that judge")
    parser.add_argument("--epochs", type=int, default=30)
    told = parser.parse_args()
    torch.set_num_threads(1)  # steps this small are slower on more
    print(machine())
    print(f"{told.bags} training bags, {told.epochs} epochs; AUC, mean ± sd over {len(SEEDS)} seeds\n")
    cells = " | ".join(f"{name}: as in training | turned round" for name in TESTS)
    print(f"| method | {cells} | passes |")
    print("|" + "---|" * (2 * len(TESTS) + 2))
    for name in told.methods:
        row, passed = [name], []
        for test, plan in TESTS.items():
            found = []
            for seed in SEEDS:
                drawn = partial(draw, plan, told.bags, rng=np.random.default_rng(seed))
                train, alike, turned = drawn(test=False), drawn(test=False), drawn(test=True)
                sides = [alike, turned]
                both = scores(name, train, sides, seed, told.epochs)
                found.append([auroc(side[1], values) for side, values in zip(sides, both, strict=True)])
            columns = np.array(found).T  # [2, seeds]
            row += [spread(column) for column in columns]
            passed += [test] * bool((columns.mean(1) >= PASS).all())
            say(f"{name}, {test}: {row[-2]}, turned round {row[-1]}")
        print("| " + " | ".join([*row, ", ".join(passed) or "none"]) + " |", flush=True)


if __name__ == "__main__":
    main()
