"""A scikit-learn estimator's manners, for all seven."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from safetensors.numpy import load, save
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from solving import random_bags

from devcem.errors import UserError
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
    kernel_matrix,
    scale_gamma,
)
from devcem.methods.classical.bags import stacked

ALL = (SIL, MiSVM, WitnessMISVM, MissSVM, SMIL, StMIL, SbMIL)
every = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
kernels = pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])


def as_rows(bags: list[np.ndarray], train: list[np.ndarray], kernel: str) -> list[np.ndarray]:
    """The bags as the estimator wants them."""
    if kernel != "precomputed":
        return bags
    stack = np.concatenate(train)
    return [kernel_matrix(bag, stack, "rbf", scale_gamma(stack)) for bag in bags]


@every
def test_learns_a_witness_and_points_at_it(kind: type[BagEstimator]) -> None:
    """One instance of five lies apart in positive bags: new bags are ranked, the witness is highest."""
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(5, 4)) for _ in range(80)]
    y = np.arange(80) % 2
    for bag in bags[1::2]:
        bag[3, :2] += 4
    model = kind(C=1.0).fit(bags[:40], y[:40])
    decisions = model.decision_function(bags[40:])
    positive, negative = decisions[1::2], decisions[::2]
    assert (positive[:, None] > negative).mean() > 0.95
    assert np.mean([model.instance_decision_function(bag).argmax() == 3 for bag in bags[41::2]]) > 0.85


@every
@kernels
def test_a_bag_scores_as_its_instances_say(kind: type[BagEstimator], kernel: str) -> None:
    train, y = random_bags(1)
    bags = as_rows(random_bags(2)[0], train, kernel)
    model = kind(kernel=kernel).fit(as_rows(train, train, kernel), y)
    decisions = model.decision_function(bags)
    scores = [model.instance_decision_function(bag) for bag in bags]
    assert [len(one) for one in scores] == [len(bag) for bag in bags]
    pooled = [one.mean() if kind in (SMIL, StMIL) else one.max() for one in scores]
    assert decisions == pytest.approx(pooled, abs=1e-12)
    assert model.predict(bags).tolist() == (decisions > 0).astype(int).tolist()
    assert model.classes_.tolist() == [0, 1]


@every
@kernels
def test_comes_back_from_its_arrays(kind: type[BagEstimator], kernel: str) -> None:
    train, y = random_bags(1)
    bags = as_rows(random_bags(2)[0], train, kernel)
    model = kind(kernel=kernel, C=2.0).fit(as_rows(train, train, kernel), y)
    back = clone(model).restore(load(save(model.arrays())))
    assert back.decision_function(bags).tolist() == model.decision_function(bags).tolist()
    support = model.arrays()["support" if kernel == "precomputed" else "support_vectors"]
    assert 0 < len(support) <= len(np.concatenate(train))


@every
def test_a_kernel_worked_out_before_is_the_same_kernel(kind: type[BagEstimator]) -> None:
    train, y = random_bags(4)
    bags = random_bags(5)[0]
    rows, asked = as_rows(train, train, "precomputed"), as_rows(bags, train, "precomputed")
    given, own = kind(kernel="precomputed").fit(rows, y), kind().fit(train, y)
    assert given.decision_function(asked) == pytest.approx(own.decision_function(bags), abs=2e-3)


def test_one_matrix_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """What reaches the solver is the matrix itself. Bags in another order, or some of them, are copied."""
    train, y = random_bags(4)
    matrix = kernel_matrix(np.concatenate(train), None, "rbf", 0.3)
    parts = np.split(matrix, np.cumsum([len(bag) for bag in train])[:-1])
    seen, learn = [], SIL._learn
    monkeypatch.setattr(
        SIL, "_learn", lambda self, kernel, *to: seen.append(kernel) or learn(self, kernel, *to)
    )
    SIL(kernel="precomputed").fit(parts, y)
    assert seen[0] is matrix
    for some in (parts[::-1], parts[1:]):
        joined = stacked(some)[0]
        assert not np.shares_memory(joined, matrix) and (joined == np.concatenate(some)).all()
    with pytest.raises(UserError, match="kernel values each"):
        SIL(kernel="precomputed").fit(parts[1:], y[1:])


@every
def test_order_does_not_matter(kind: type[BagEstimator]) -> None:
    """Of bags, and of the instances in them: up to the gap at which a step ends."""
    train, y = random_bags(8, bags=20)
    rng = np.random.default_rng(0)
    order = rng.permutation(20)
    shuffled = [rng.permutation(train[n]) for n in order]
    one, other = kind(tol=1e-8).fit(train, y), kind(tol=1e-8).fit(shuffled, y[order])
    bags = random_bags(9)[0]
    decisions = one.decision_function(bags)
    assert other.decision_function(bags) == pytest.approx(decisions, abs=2e-3)
    assert one.decision_function([rng.permutation(bag) for bag in bags]) == pytest.approx(decisions)
    assert one.decision_function(bags[::-1]) == pytest.approx(decisions[::-1])


@every
def test_parameters_clones_and_searches(kind: type[BagEstimator]) -> None:
    bags, y = random_bags(6, bags=24)
    model = kind(C=2.5, gamma=0.2)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(C=1.0).C == 1.0
    with pytest.raises(NotFittedError):
        model.decision_function(bags)
    pipe = make_pipeline(BagScaler(), kind())
    names = {f"{kind.__name__.lower()}__C": [0.1, 1.0]}
    search = GridSearchCV(pipe, names, cv=2, error_score="raise").fit(bags, y)
    assert search.predict(bags).shape == (24,)
    assert len(cross_val_score(pipe, bags, y, cv=2, scoring="roc_auc", error_score="raise")) == 2


@every
def test_weights_of_classes(kind: type[BagEstimator]) -> None:
    """Dearer positives raise decisions; `balanced` is N / (2 n) a class, or nothing on balanced sides."""
    bags, y = random_bags(3, bags=24)
    keep = np.flatnonzero((y == 0) | (np.arange(24) < 8))  # 12 negatives, 4 positives
    some, few = [bags[n] for n in keep], y[keep]
    plain, dear = kind(C=0.5).fit(some, few), kind(C=0.5, class_weight={0: 0.2, 1: 5.0}).fit(some, few)
    assert dear.decision_function(some).mean() > plain.decision_function(some).mean()
    balanced = kind(C=0.5, class_weight="balanced").fit(some, few).decision_function(some)
    same = None if kind in (MissSVM, SMIL, StMIL) else {0: 16 / 24, 1: 16 / 8}
    assert balanced == pytest.approx(kind(C=0.5, class_weight=same).fit(some, few).decision_function(some))


def test_the_scaler_knows_its_training_bags_alone() -> None:
    train = [np.array([[1.0, 5], [3, 5]]), np.array([[5.0, 5]])]
    scaler = BagScaler().fit(train)
    deviation = np.sqrt(8 / 3)
    (test,) = scaler.transform([np.array([[3 + deviation, 9]])])
    assert test.tolist() == [[pytest.approx(1), 0]]  # the second feature was constant
    back = BagScaler().restore(load(save(scaler.arrays())))
    assert (back.transform(train)[0] == scaler.transform(train)[0]).all()


def test_gamma() -> None:
    x = np.array([[0.0, 2], [4, 2]])  # variance of 0, 2, 4, 2 is 2
    assert scale_gamma(x) == 0.25
    assert kernel_matrix(x, x[:1], "rbf", 0.1) == pytest.approx(np.exp([[0.0], [-1.6]]))
    assert kernel_matrix(x, None, "rbf", 0.1) == pytest.approx(np.exp([[0, -1.6], [-1.6, 0]]))
    assert kernel_matrix(x, None, "linear").tolist() == [[4, 4], [4, 20]]
    assert kernel_matrix(x.astype(np.float32), None, "rbf", 0.1, dtype=np.float32).dtype == np.float32


def test_gamma_1_on_wide_features_is_called_the_identity() -> None:
    rng = np.random.default_rng(0)
    bags, y = [rng.normal(size=(3, 200)) for _ in range(10)], np.arange(10) % 2
    with pytest.warns(UserWarning, match=r"nearly the identity: at gamma=1 .*use gamma='scale'"):
        SIL(gamma=1.0).fit(bags, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SIL().fit(bags, y)


@pytest.mark.parametrize(
    ("bags", "y", "told"),
    [
        ([np.ones((2, 3)), np.ones((1, 3))], [1, 1], "all 2 bags are positive.*add bags of the other class"),
        ([np.ones((2, 3)), np.ones((1, 3))], [0, 0], "all 2 bags are negative"),
        ([np.ones((2, 3)), np.ones((1, 3))], [0, -1], "use 0 and 1"),
        ([np.ones((2, 3)), np.ones((1, 3))], [0], "for 2 bags"),
        ([np.ones((2, 3)), np.ones((1, 2))], [0, 1], "bag 1: it has 2 columns"),
        ([np.ones((2, 3)), np.ones((0, 3))], [0, 1], r"bag 1: it has the shape \(0, 3\)"),
        ([np.ones((2, 3)), np.array([[1, np.nan, 0]])], [0, 1], "bag 1: it holds values that are not finite"),
        ([], [], "no bags"),
    ],
)
@every
def test_bags_that_nothing_can_be_learnt_from(
    kind: type[BagEstimator], bags: list, y: list, told: str
) -> None:
    with pytest.raises(UserError, match=told):
        kind().fit(bags, y)


def test_bags_of_other_features_are_refused() -> None:
    model = SIL().fit(*random_bags(0))
    with pytest.raises(UserError, match="4 columns, 3 were learnt from"):
        model.decision_function([np.ones((2, 4))])
