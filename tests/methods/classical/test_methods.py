"""What each method minimises, against a general solver, by hand, and from several starts."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from solving import general_minimum, random_bags

from devcem.errors import UserError
from devcem.methods.classical import SIL, SMIL, MissSVM, MiSVM, SbMIL, StMIL, WitnessMISVM
from devcem.methods.classical.bags import BagIndex, Floats, stacked
from devcem.methods.classical.descent import Problem, descend
from devcem.methods.classical.kernel import kernel_matrix
from devcem.methods.classical.mi_svm import LabelsProblem
from devcem.methods.classical.sbmil import top_share
from devcem.methods.classical.smil import bag_margins
from devcem.methods.classical.transductive import TransductiveProblem
from devcem.methods.classical.witness_mi_svm import WitnessProblem

PROBLEMS = ("mi-svm", "mi-svm-witness", "miss-svm", "stmil")


def problem(name: str, seed: int, price: float = 1.0, tol: float = 1e-8) -> tuple[Problem, BagIndex, Floats]:
    bags, y = random_bags(seed)
    instances, sizes = stacked(bags)
    index = BagIndex(sizes, y > 0)
    kernel = kernel_matrix(instances, None, "rbf", 0.3)
    if name == "mi-svm":
        return LabelsProblem(kernel, index, price, price, tol), index, kernel
    if name == "mi-svm-witness":
        return WitnessProblem(kernel, index, price, price, tol), index, kernel
    margins = bag_margins(index) if name == "stmil" else np.ones(6)
    made = TransductiveProblem(kernel, index, price, price, price, margins, name == "miss-svm", tol)
    return made, index, kernel


@pytest.mark.parametrize("name", PROBLEMS)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), price=st.sampled_from([0.1, 1.0, 10.0]))
def test_the_objective_never_rises(name: str, seed: int, price: float) -> None:
    """Each round is taken by hand, and `descend` takes the same ones until nothing is gained any more."""
    for rng in (None, seed):
        made, again = (problem(name, seed, price)[0] for _ in range(2))  # a problem keeps its warm start
        start = None if rng is None else np.random.default_rng(rng)
        machine = made.start(start)
        values = [made.objective(machine)]
        for _ in range(8):
            machine = made.solve(made.choose(machine.scores))
            values.append(made.objective(machine))
        assert (np.diff(values) <= 1e-6 * values[0]).all()
        found = descend(again, again.start(None if rng is None else np.random.default_rng(rng)), 50, 1e-6)
        assert found.settled
        assert (np.diff(found.objectives) < 0).all()
        both = min(len(values), len(found.objectives))
        assert found.objectives[:both] == pytest.approx(values[:both], rel=1e-12)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_choice_touches_the_objective(name: str) -> None:
    """A round starts at the objective itself: the bound, worked out here for that choice, is equal to it at
    the scores that chose, and no lower anywhere else."""
    made, index, _ = problem(name, 4)
    machine = made.start(None)
    other = made.start(np.random.default_rng(1))
    choice = made.choose(machine.scores)
    assert bound(name, index, choice, machine.scores, machine.norm) == pytest.approx(made.objective(machine))
    assert bound(name, index, choice, other.scores, other.norm) >= made.objective(other) - 1e-12


def bound(name: str, index: BagIndex, choice: Floats, f: Floats, norm: float) -> float:
    """From the formulas at the heads of the files, a term at a time; costs are 1 before they are balanced."""
    total = norm
    ln, lp = (~index.in_positive).sum(), index.in_positive.sum()
    for bag, (start, size) in enumerate(zip(index.starts, index.sizes, strict=True)):
        members = range(start, start + size)
        positive = (index.positive[:bag]).sum()  # its number among the positive bags
        if not index.positive[bag]:
            terms = [max(0, 1 + f[i]) for i in members]
            total += max(terms) if name == "mi-svm-witness" else sum(terms)
        elif name == "mi-svm":
            total += sum(max(0, 1 - (1 if choice[i] else -1) * f[i]) for i in members)
        elif name == "mi-svm-witness":
            assert choice[positive] in members
            total += max(0, 1 - f[choice[positive]])
        else:
            total += ln / lp * sum(max(0, 1 - (1 if choice[i] else -1) * f[i]) for i in members)
            if name == "miss-svm":
                witness = choice[len(f) + positive]
                assert witness in members
                total += ln / 6 * max(0, 1 - f[witness])
            else:
                total += ln / 6 * max(0, 2 / size - 1 - sum(f[i] for i in members) / size)
    return float(total)


@pytest.mark.parametrize("name", ["miss-svm", "stmil"])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), price=st.sampled_from([0.1, 1.0, 10.0]))
def test_a_transductive_step_is_optimal(name: str, seed: int, price: float) -> None:
    """The dual of the SVM that is left after the choice, put together here instance by instance."""
    made, index, kernel = problem(name, seed, price)
    scores = np.random.default_rng(seed).normal(size=len(kernel))
    choice = made.choose(scores)
    machine = made.solve(choice)
    ln, lp, count = (~index.in_positive).sum(), index.in_positive.sum(), len(kernel)
    points, labels, upper, margins = [], [], [], []
    for i in range(count):
        points.append(np.eye(count)[i])
        labels.append(1.0 if choice[i] else -1.0)
        upper.append(price * ln / lp if index.in_positive[i] else price)
        margins.append(1.0)
    for number, bag in enumerate(np.flatnonzero(index.positive)):
        members = np.arange(index.starts[bag], index.starts[bag] + index.sizes[bag])
        mean = np.isin(np.arange(count), members) / len(members)
        points.append(np.eye(count)[choice[count + number]] if name == "miss-svm" else mean)
        labels.append(1.0)
        upper.append(price * ln / 6)
        margins.append(1.0 if name == "miss-svm" else 2 / len(members) - 1)
    of, y = np.array(points), np.array(labels)
    q = of @ kernel @ of.T * np.outer(y, y)
    least = -general_minimum(q, -np.array(margins), np.array(upper), y[None], np.zeros(0))
    slack = np.maximum(0, margins - y * (of @ machine.scores))
    assert machine.norm + np.array(upper) @ slack == pytest.approx(least, rel=1e-5)


def test_mi_svm_finds_the_best_labels() -> None:
    """Of all labels that give each positive bag a +, none beats the best of many starts."""
    made, index, kernel = problem("mi-svm", 2)
    own = np.flatnonzero(index.in_positive)
    best = np.inf
    for labels in product([0, 1], repeat=len(own)):
        y = np.zeros(len(kernel), np.int64)
        y[own] = labels
        if np.maximum.reduceat(y, index.starts)[index.positive].all():
            machine = made.solve(y)
            best = min(best, machine.norm + np.maximum(0, 1 - np.where(y, 1, -1) * machine.scores).sum())
    rng = np.random.default_rng(0)
    tried = [descend(made, made.start(rng), 50, 1e-8).objectives[-1] for _ in range(20)]
    assert min(tried) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("kind", [MiSVM, WitnessMISVM, MissSVM, StMIL])
def test_the_best_of_several_starts_is_kept(kind: type) -> None:
    bags, y = random_bags(7, bags=20)
    one, many = kind(C=3.0).fit(bags, y), kind(C=3.0, starts=6).fit(bags, y)
    assert len(many.start_objectives_) == 6
    assert many.start_objectives_[0] == one.objectives_[-1]
    assert many.objectives_[-1] == many.start_objectives_.min() <= one.objectives_[-1]
    again = kind(C=3.0, starts=6).fit(bags, y)
    assert again.start_objectives_.tolist() == many.start_objectives_.tolist()


def test_sil_is_an_svm_on_instances() -> None:
    bags, y = random_bags(1)
    instances, sizes = stacked(bags)
    theirs = SVC(C=2.0, gamma=0.3, tol=1e-8).fit(instances, np.repeat(y, sizes))
    ours = SIL(C=2.0, gamma=0.3, tol=1e-9).fit(bags, y)
    scores = theirs.decision_function(instances)
    assert ours.instance_decision_function(instances) == pytest.approx(scores, abs=1e-4)
    highest = [part.max() for part in np.split(scores, np.cumsum(sizes)[:-1])]
    assert ours.decision_function(bags) == pytest.approx(highest, abs=1e-4)


def test_smil_by_hand() -> None:
    """A positive bag {2, 6}, mean 4, asks for f(B) >= 2/2 - 1 = 0; the negative instance 0 for f <= -1.

    So w = 1/4, b = -1, and f of an instance x is x / 4 - 1. A summed set kernel would stand the bag at 8.
    """
    model = SMIL(kernel="linear", C=100.0).fit([np.array([[2.0], [6]]), np.zeros((1, 1))], [1, 0])
    assert model.instance_decision_function(np.array([[0.0], [4], [8]])) == pytest.approx(
        [-1, 0, 1], abs=1e-4
    )
    assert model.decision_function([np.array([[4.0], [8]])]) == pytest.approx([0.5], abs=1e-4)


def test_smil_asks_less_of_larger_bags() -> None:
    index = BagIndex(np.array([1, 2, 8, 5]), np.array([True, True, True, False]))
    assert bag_margins(index).tolist() == [1, 0, -0.75]


def test_sbmil_labels_the_top_share() -> None:
    """Six instances in two positive bags: half of them is three; no fewer than a bag each; ties are in."""
    index = BagIndex(np.array([3, 2, 3]), np.array([True, False, True]))
    scores = np.array([0.9, 0.1, 0.5, 9, 9, 0.5, 0.2, 0.3])
    assert np.flatnonzero(top_share(scores, index, 0.01)).tolist() == [0, 2, 5]  # two, and one ties
    assert np.flatnonzero(top_share(scores, index, 0.5)).tolist() == [0, 2, 5]
    assert np.flatnonzero(top_share(scores, index, 0.7)).tolist() == [0, 2, 5, 7]
    assert np.flatnonzero(top_share(scores, index, 1)).tolist() == [0, 1, 2, 5, 6, 7]


def test_sbmil_at_eta_1_is_sil() -> None:
    bags, y = random_bags(3)
    sil, sbmil = SIL(C=2.0).fit(bags, y), SbMIL(C=2.0, eta=1).fit(bags, y)
    assert sbmil.decision_function(bags) == pytest.approx(sil.decision_function(bags), abs=1e-9)


def test_mi_svm_leaves_each_positive_bag_a_positive() -> None:
    made, index, _ = problem("mi-svm", 5)
    labels = made.choose(np.linspace(-3, -1, len(index.in_positive)))
    assert labels.sum() == 6 and labels[~index.in_positive].sum() == 0
    assert (np.add.reduceat(labels, index.starts) == index.positive).all()


def test_mi_svm_witness_starts_at_the_mean() -> None:
    """Linear: first the mean of {2, 6} stands against 0, w = 2/4, then 6 is the witness, w = 2/6."""
    made = WitnessProblem(
        np.outer([2.0, 6, 0], [2.0, 6, 0]), BagIndex(np.array([2, 1]), np.array([True, False])), 10, 10, 1e-9
    )
    first = made.start(None)
    assert first.norm == pytest.approx(1 / 8)
    assert made.choose(first.scores).tolist() == [1]
    assert made.solve(np.array([1])).norm == pytest.approx(1 / 18)


@pytest.mark.parametrize("kind", [MiSVM, WitnessMISVM, MissSVM])
def test_rounds_that_run_out_are_told_with_the_residual(kind: type) -> None:
    bags, y = random_bags(11, bags=30, most=8)
    with pytest.warns(ConvergenceWarning, match=r"after 1 rounds: the last lowered the objective by \d"):
        kind(C=10.0, rounds=1, tol=1e-9).fit(bags, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(C=10.0).fit(bags, y)


@pytest.mark.parametrize(
    ("kind", "options", "told"),
    [
        (SbMIL, {"eta": 0}, "eta is 0"),
        (MissSVM, {"rounds": 0}, "rounds is 0"),
        (MiSVM, {"starts": 0}, "starts is 0"),
        (SIL, {"C": 0}, "C is 0"),
        (SIL, {"kernel": "poly"}, "kernel is 'poly'.*linear, rbf, precomputed"),
        (SIL, {"gamma": "auto"}, "gamma is 'auto'"),
        (SIL, {"class_weight": {2: 1.0}}, "class_weight"),
    ],
)
def test_options_that_make_no_sense(kind: type, options: dict[str, object], told: str) -> None:
    bags, y = random_bags(0)
    with pytest.raises(UserError, match=told):
        kind(**options).fit(bags, y)
