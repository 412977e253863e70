"""The classical methods and attention MIL on the classical MIL sets, beside figures of others.

    python benchmarks/classic_mil.py FOLDER [--sets musk1 elephant fox] [--keep FILE.json] [--jobs 2]

FOLDER holds musk1.npz and the like: X [instances, features], bag and bag_label [instances]. 10-fold
cross-validation, bags stratified, three seeds. Instances are standardised by the training folds, gamma is
1 / features; settings are fixed for all sets, and those of the reference package, which ran on MUSK1 and
Elephant. Attention MIL is trained as in musk.py; its reference is Ilse et al. 2018, who give no AUC.

Three figures: accuracy at the methods' own threshold of zero; accuracy at a threshold that the training folds
choose (the most accurate one for bags that were left out, in five folds of their own, two for attention,
whose fits take long); the area under the ROC curve. Each is a mean over the folds of all seeds; its interval
is a 95% bootstrap over folds.

What a fold has finished is kept in FILE.json and not done again.
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
import torch
from machine import machine
from musk import FOLDS, BagSet, Options, feature_bags, read_bags, scored, standardised
from seeds import Floats, interval
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

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

SEEDS, EPOCHS = range(3), 40
Ints = npt.NDArray[np.int64]
Bags = list[Floats]
Decide = Callable[
    [Bags, npt.NDArray[np.bool_], Bags, int], Floats
]  # train, its labels, test, seed -> decisions
Fold = dict[str, list[float]]  # bag, decision and called (at the tuned threshold) of each bag judged


@dataclass(frozen=True)
class Row:
    decide: Decide
    reference: dict[str, tuple[float, float | None]]  # accuracy and AUC by set
    inner: int = 5  # folds within the training folds, for the threshold


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


def attention(options: Options) -> Decide:
    return partial(_decide_deep, options)


def _decide_deep(
    options: Options, train: Bags, labels: npt.NDArray[np.bool_], test: Bags, seed: int
) -> Floats:
    """Logits, so that zero is a probability of a half."""
    learners, judged = standardised(train, test)
    unlabelled = np.zeros(len(test), bool)
    sides = feature_bags(learners, labels), feature_bags(judged, unlabelled)
    scores = np.clip(scored(*sides, options, seed, EPOCHS), 1e-7, 1 - 1e-7)
    decisions: Floats = np.log(scores / (1 - scores))
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
    "attention-mil, embedding=256": Row(
        attention({"embedding": 256}),
        {"musk1": (0.892, None), "elephant": (0.868, None), "fox": (0.615, None)},
        inner=2,
    ),
    "gated-attention-mil, embedding=256": Row(
        attention({"embedding": 256, "gated": True}),
        {"musk1": (0.900, None), "elephant": (0.857, None), "fox": (0.603, None)},
        inner=2,
    ),
}


def judged_fold(path: Path, name: str, seed: int, number: int) -> Fold:
    """The bags of one fold, by a model that did not see them."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # last rounds of an objective: figures as they are
    torch.set_num_threads(1)
    data, decide, inner = read_bags(path), ROWS[name].decide, ROWS[name].inner
    learners, judged = _folds(data.labels, FOLDS, seed)[number]
    train, test = [data.bags[n] for n in learners], [data.bags[n] for n in judged]
    drawn = seed * FOLDS + number
    with threadpool_limits(1):  # folds run side by side
        decision = decide(train, data.labels[learners], test, drawn)
        called = decision > tuned(decide, inner, train, data.labels[learners], drawn)
    return {"bag": judged.tolist(), "decision": decision.tolist(), "called": called.tolist()}


def tuned(decide: Decide, inner: int, bags: Bags, labels: npt.NDArray[np.bool_], seed: int) -> float:
    """The middle of the most accurate thresholds on decisions of bags that were left out."""
    left_out = np.empty(len(bags))
    for learners, judged in _folds(labels, inner, seed):
        train = [bags[n] for n in learners]
        left_out[judged] = decide(train, labels[learners], [bags[n] for n in judged], seed)
    values, true, false = cuts(labels, left_out)
    middles = (values + np.append(values[1:], values[-1])) / 2
    right = true - false
    return float(np.median(middles[right == right.max()]))


def _folds(labels: npt.NDArray[np.bool_], folds: int, seed: int) -> list[tuple[Ints, Ints]]:
    return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(labels)), labels))


def figures_of(data: BagSet, fold: Fold) -> tuple[float, float, float]:
    """Accuracy at zero, accuracy at the tuned threshold, AUC."""
    labels, decision = data.labels[fold["bag"]], np.array(fold["decision"])
    return (
        float(((decision > 0) == labels).mean()),
        float((np.array(fold["called"]) == labels).mean()),
        auroc(labels, decision),
    )


def report(data_name: str, row: str, data: BagSet, folds: list[Fold]) -> str:
    found = np.array([figures_of(data, fold) for fold in folds])  # [folds, 3]
    cells = [data_name, row]
    for values in found.T:
        cells += [
            f"{values.mean():.3f}",
            interval(lambda drawn, of=values: float(of[drawn].mean()), len(values)),
        ]
    accuracy, area = ROWS[row].reference.get(data_name, (None, None))
    cells += ["" if accuracy is None else f"{accuracy:.3f}"]
    cells += ["", ""] if area is None else [f"{area:.3f}", f"{found[:, 2].mean() - area:+.3f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=["musk1", "elephant", "fox"])
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS), metavar="ROW")
    parser.add_argument("--keep", type=Path, help="finished folds; made where it is not")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    kept = options.keep and options.keep.exists()
    found: dict[str, Fold] = json.loads(options.keep.read_text()) if kept else {}
    each = [(seed, fold) for seed in SEEDS for fold in range(FOLDS)]
    wanted = [(name, row, *one) for name in options.sets for row in options.rows for one in each]
    missing = [one for one in wanted if _key(*one) not in found]
    with ProcessPoolExecutor(options.jobs) as pool:
        path = {name: options.folder / f"{name}.npz" for name in options.sets}
        doing = {
            pool.submit(judged_fold, path[name], row, seed, fold): (name, row, seed, fold)
            for name, row, seed, fold in missing
        }
        for done in track(as_completed(doing), "folds", len(doing)):
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
            print(report(name, row, data, [found[_key(name, row, *one)] for one in each]))


def _key(name: str, row: str, seed: int, fold: int) -> str:
    return f"{name}, {row}, seed {seed}, fold {fold}"


if __name__ == "__main__":
    main()
