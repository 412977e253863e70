"""The classical methods on the classical MIL sets beside a reference package's figures.

    python benchmarks/classic_mil.py FOLDER [--sets musk1 elephant fox] [--keep FILE.json] [--jobs 2]

FOLDER holds musk1.npz and the like: X [instances, features], bag and bag_label [instances]. 10-fold
cross-validation, bags stratified, three seeds. Instances are standardised by the training folds, gamma is
1 / features; settings are fixed for all sets, and those of the reference, which ran on MUSK1 and Elephant.

Three figures: accuracy at the methods' own threshold of zero; accuracy at a threshold that the training folds
choose (the most accurate one for bags that were left out, in five folds of their own); the area under the ROC
curve. Each is a mean over the folds of all seeds; its interval is a 95% bootstrap over folds.

What a seed has finished is kept in FILE.json and not done again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from machine import machine
from musk import FOLDS, BagSet, read_bags
from seeds import Floats, interval
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from devcem.evaluation.ranking import auroc, cuts
from devcem.files import write_text
from devcem.methods.classical import (
    SIL,
    SMIL,
    BagEstimator,
    BagScaler,
    MissSVM,
    MiSVM,
    SbMIL,
    StMIL,
    WitnessMISVM,
)
from devcem.progress import say, track

SEEDS, INNER = range(3), 5
Ints = npt.NDArray[np.int64]
Bags = list[Floats]
Decide = Callable[
    [Bags, npt.NDArray[np.bool_], Bags, int], Floats
]  # train, its labels, test, seed -> decisions
Run = dict[str, list[float]]  # fold, decision and called (at the tuned threshold) of each bag


@dataclass(frozen=True)
class Row:
    decide: Decide
    reference: dict[str, tuple[float, float]]  # accuracy and AUC by set


def classical(kind: type[BagEstimator], **options: object) -> Decide:
    return partial(_decide, kind, options)


def _decide(
    kind: type[BagEstimator],
    options: dict[str, object],
    train: Bags,
    labels: npt.NDArray[np.bool_],
    test: Bags,
    seed: int,  # noqa: ARG001  (these have no chance in them)
) -> Floats:
    gamma = 1 / train[0].shape[1]
    model = make_pipeline(BagScaler(), kind(gamma=gamma, **options))
    decisions: Floats = model.fit(train, labels.astype(int)).decision_function(test)
    return decisions


ROWS = {
    "SIL, rbf, C=1": Row(classical(SIL), {"musk1": (0.833, 0.917), "elephant": (0.750, 0.904)}),
    "SIL, linear, C=10": Row(
        classical(SIL, kernel="linear", C=10.0), {"musk1": (0.761, 0.780), "elephant": (0.720, 0.847)}
    ),
    "mi-SVM, rbf, C=10": Row(classical(MiSVM, C=10.0), {"musk1": (0.841, 0.925), "elephant": (0.755, 0.890)}),
    "MI-SVM, rbf, C=1": Row(classical(WitnessMISVM), {"musk1": (0.837, 0.924), "elephant": (0.835, 0.894)}),
    "sMIL, rbf, C=10": Row(classical(SMIL, C=10.0), {"musk1": (0.594, 0.938), "elephant": (0.515, 0.899)}),
    "sbMIL, rbf, C=10, eta=0.5": Row(
        classical(SbMIL, C=10.0), {"musk1": (0.801, 0.874), "elephant": (0.775, 0.878)}
    ),
    "stMIL, rbf, C=10": Row(classical(StMIL, C=10.0), {}),
    "MissSVM, rbf, C=1": Row(classical(MissSVM), {"musk1": (0.495, 0.825)}),
}


def cross_validated(path: Path, name: str, seed: int) -> Run:
    """Every bag once, by a model that did not see it."""
    warnings.simplefilter(
        "ignore", ConvergenceWarning
    )  # the objective's last rounds; figures come out as they are
    data = read_bags(path)
    fold, decision, called = (np.empty(len(data.bags)) for _ in range(3))
    decide = ROWS[name].decide
    for number, (learners, judged) in enumerate(_folds(data.labels, FOLDS, seed)):
        train, test = [data.bags[n] for n in learners], [data.bags[n] for n in judged]
        fold[judged], decision[judged] = number, decide(train, data.labels[learners], test, seed)
        called[judged] = decision[judged] > tuned(decide, train, data.labels[learners], seed)
    return {"fold": fold.tolist(), "decision": decision.tolist(), "called": called.tolist()}


def tuned(decide: Decide, bags: Bags, labels: npt.NDArray[np.bool_], seed: int) -> float:
    """The middle of the most accurate thresholds on decisions of bags that were left out."""
    left_out = np.empty(len(bags))
    for learners, judged in _folds(labels, INNER, seed):
        train = [bags[n] for n in learners]
        left_out[judged] = decide(train, labels[learners], [bags[n] for n in judged], seed)
    values, true, false = cuts(labels, left_out)
    middles = (values + np.append(values[1:], values[-1])) / 2
    right = true - false
    return float(np.median(middles[right == right.max()]))


def _folds(labels: npt.NDArray[np.bool_], folds: int, seed: int) -> list[tuple[Ints, Ints]]:
    return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(labels)), labels))


def by_fold(data: BagSet, run: Run) -> list[tuple[float, float, float]]:
    """Accuracy at zero, accuracy at the tuned threshold, AUC."""
    fold, decision, called = (np.array(run[key]) for key in ("fold", "decision", "called"))
    return [
        (
            float(((decision[some] > 0) == data.labels[some]).mean()),
            float((called[some] == data.labels[some]).mean()),
            auroc(data.labels[some], decision[some]),
        )
        for some in (fold == number for number in range(FOLDS))
    ]


def report(data_name: str, row: str, data: BagSet, runs: list[Run]) -> str:
    folds = np.array([figures for run in runs for figures in by_fold(data, run)])  # [folds, 3]
    cells = [data_name, row]
    for values in folds.T:
        cells += [
            f"{values.mean():.3f}",
            interval(lambda drawn, of=values: float(of[drawn].mean()), len(values)),
        ]
    reference = ROWS[row].reference.get(data_name)
    if reference is None:
        return "| " + " | ".join([*cells, "", "", ""]) + " |"
    cells += [f"{figure:.3f}" for figure in reference] + [f"{folds[:, 2].mean() - reference[1]:+.3f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=["musk1", "elephant", "fox"])
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS), metavar="ROW")
    parser.add_argument("--keep", type=Path, help="finished seeds; made where it is not")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    kept = options.keep and options.keep.exists()
    found: dict[str, Run] = json.loads(options.keep.read_text()) if kept else {}
    wanted = [(name, row, seed) for name in options.sets for row in options.rows for seed in SEEDS]
    missing = [one for one in wanted if _key(*one) not in found]
    with ProcessPoolExecutor(options.jobs) as pool:
        path = {name: options.folder / f"{name}.npz" for name in options.sets}
        doing = {
            pool.submit(cross_validated, path[name], row, seed): (name, row, seed)
            for name, row, seed in missing
        }
        for done in track(as_completed(doing), "cross-validations", len(doing)):
            found[_key(*doing[done])] = done.result()
            if options.keep:
                write_text(options.keep, json.dumps(found))
    say(f"{len(missing)} of {len(wanted)} were not done before")
    print(machine())
    print(f"{FOLDS}-fold cross-validation, {len(SEEDS)} seeds: means over {FOLDS * len(SEEDS)} folds\n")
    figures = "accuracy at 0 | 95% | at a tuned threshold | 95% | AUC | 95%"
    print(f"| set | method | {figures} | reference accuracy | AUC | AUC, ours - theirs |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in options.sets:
        data = read_bags(path[name])
        for row in options.rows:
            print(report(name, row, data, [found[_key(name, row, seed)] for seed in SEEDS]))


def _key(name: str, row: str, seed: int) -> str:
    return f"{name}, {row}, seed {seed}"


if __name__ == "__main__":
    main()
