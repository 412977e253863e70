"""The convex steps against a general solver."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from solving import general_minimum

from devcem.methods.classical.bags import Floats
from devcem.methods.classical.kernel import kernel_matrix
from devcem.methods.classical.shared_slack import solve_shared
from devcem.methods.classical.svm import free_bias, judged, solve

seeds = st.integers(0, 10_000)
prices = st.sampled_from([0.03, 0.5, 1.0, 20.0])


def problem(seed: int, count: int = 16, kind: str = "rbf") -> tuple[Floats, Floats, np.random.Generator]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 3))
    labels = np.where(rng.random(count) < 0.5, 1.0, -1.0)
    labels[:2] = 1, -1
    x[labels > 0] += 0.7
    return kernel_matrix(x, None, kind, 0.3), labels, rng


@settings(max_examples=15, deadline=None)
@given(seed=seeds, price=prices, kind=st.sampled_from(["rbf", "linear"]), plain=st.booleans())
def test_a_step_is_optimal(seed: int, price: float, kind: str, plain: bool) -> None:
    """Bounds differ by sample; margins do too, and some are below 0, unless *plain*."""
    kernel, labels, rng = problem(seed, kind=kind)
    upper = price * rng.uniform(0.2, 2, len(labels))
    margins = np.ones(len(labels)) if plain else rng.uniform(-0.9, 1, len(labels))
    margins[0] = 1
    found = solve(kernel, labels, upper, None if plain else margins, 1e-7)
    q = kernel * np.outer(labels, labels)
    least = general_minimum(q, -margins, upper, labels[None], np.zeros(0))
    assert found.objective == pytest.approx(-least, rel=1e-5, abs=1e-8)
    assert found.gap < 1e-6


@settings(max_examples=15, deadline=None)
@given(seed=seeds, price=prices)
def test_a_step_with_shared_slack_is_optimal(seed: int, price: float) -> None:
    kernel, labels, rng = problem(seed, 20)
    groups = np.where(labels > 0, np.arange(20), 100 + rng.integers(3, size=20))
    groups = np.unique(groups, return_inverse=True)[1]
    upper = price * rng.uniform(0.5, 2, groups.max() + 1)
    found, active = solve_shared(kernel, labels, groups, upper, None, 1e-7)
    again, _ = solve_shared(kernel, labels, groups, upper, active, 1e-7)
    rows = np.vstack([labels, np.arange(len(upper))[:, None] == groups])
    q = kernel * np.outer(labels, labels)
    least = general_minimum(q, -np.ones(20), np.inf, rows, upper)
    assert found.objective == pytest.approx(-least, rel=1e-5)
    assert again.objective == pytest.approx(-least, rel=1e-5)


def test_two_points_by_hand() -> None:
    """x = 0 is -, x = 2 is +: f = x - 1, w = 1, objective 1/2, both multipliers 1/2.

    Bounds of 0.1 give a = 0.1 each, w = 0.2. The slacks 1 + b and 1 - 0.4 - b add up to 1.6 wherever both are
    positive, -1 <= b <= 0.6, whose middle is -0.2; objective 0.02 + 0.16.
    """
    kernel, labels = np.array([[0.0, 0], [0, 4]]), np.array([-1.0, 1])
    free = solve(kernel, labels, np.full(2, 10.0), None, 1e-9)
    assert (free.bias, free.objective) == (pytest.approx(-1), pytest.approx(0.5))
    assert free.coef == pytest.approx([-0.5, 0.5])
    bound = solve(kernel, labels, np.full(2, 0.1), None, 1e-9)
    assert (bound.bias, bound.objective) == (pytest.approx(-0.2), pytest.approx(0.18))


def test_margins_by_hand() -> None:
    """As above, but the positive asks for 0 only: f = x / 2 - 1, objective 1/8."""
    kernel, labels = np.array([[0.0, 0], [0, 4]]), np.array([-1.0, 1])
    found = solve(kernel, labels, np.full(2, 10.0), np.array([1.0, 0]), 1e-9)
    assert (found.bias, found.objective) == (pytest.approx(-1), pytest.approx(1 / 8))


def test_shared_slack_by_hand() -> None:
    """A negative bag {0, 1} against a positive {2}, C = 0.1: 0 is always lower than 1 and pays nothing.

    Both multipliers are bounded, w = 0.1 * 2 - 0.1 * 1, objective 0.005 + 0.1 (1.1 + b + 0.8 - b).
    With a slack of its own, 0 would have cost 0.1 (1 + b) on top, or b = -1.
    """
    x = np.array([[0.0], [1], [2]])
    found, _ = solve_shared(
        x @ x.T, np.array([-1.0, -1, 1]), np.array([0, 0, 1]), np.full(2, 0.1), None, 1e-9
    )
    assert found.objective == pytest.approx(0.195)
    assert found.coef == pytest.approx([0, -0.1, 0.1], abs=1e-6)


def test_the_bias_is_of_unbounded_support_vectors_alone() -> None:
    """Scores 0, 0.5, 3 of -, +, +: the second is free and wants b = 0.5; the third, bounded, has no say."""
    bias = free_bias(
        np.array([0.0, 0.5, 3]), np.array([-1.0, 1, 1]), np.ones(3), np.ones(3), np.array([1.0, 0.4, 1])
    )
    assert bias == pytest.approx(0.5)


@pytest.mark.parametrize("plain", [True, False])
def test_a_warm_start_ends_where_a_cold_one_does(plain: bool) -> None:
    kernel, labels, rng = problem(3, 300)
    margins = None if plain else rng.uniform(-0.5, 1, 300)
    cold = solve(kernel, labels, np.full(300, 0.5), margins, 1e-8)
    true = kernel @ cold.coef + cold.bias
    misled = true + rng.normal(size=300)  # leaves out samples that matter, which have to come back
    for near in (true, misled, -true, np.full(300, 9.0) * labels):
        warm = solve(kernel, labels, np.full(300, 0.5), margins, 1e-8, near)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-7)
        assert kernel @ warm.coef + warm.bias == pytest.approx(true, abs=1e-3)


def test_a_narrow_tube_is_widened(monkeypatch: pytest.MonkeyPatch) -> None:
    """With e = 0.01 the far positive is on the wrong side of the tube."""
    kernel, labels, _ = problem(5, 60, "linear")
    margins = np.linspace(0.2, 1, 60)
    wanted = solve(kernel, labels, np.ones(60), margins, 1e-8)
    monkeypatch.setattr("devcem.methods.classical.svm.TUBE", 0.01)
    assert solve(kernel, labels, np.ones(60), margins, 1e-8).objective == pytest.approx(
        wanted.objective, rel=1e-7
    )


def test_a_gap_that_stays_is_told_with_its_size() -> None:
    """Kernel values of 1e8 round to more than their differences in libsvm's single precision."""
    kernel, labels, _ = problem(0, 40)
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap of \d.*tol=1e-14.*scale the features"):
        solve(kernel * 3 + 1e8, labels, np.ones(40), None, 1e-14)


def test_the_gap_is_the_distance_of_two_objectives() -> None:
    """Any feasible multipliers give a gap above 0, and the optimum's objective lies within it."""
    kernel, labels, _ = problem(1)
    best = solve(kernel, labels, np.ones(16), None, 1e-9)
    coef = labels * np.where(labels > 0, 1 / (labels > 0).sum(), 1 / (labels < 0).sum())
    poor, _ = judged(kernel, labels, np.ones(16), np.ones(16), coef)
    assert poor.objective * (1 - poor.gap) < best.objective < poor.objective
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(kernel, labels, np.ones(16), None, 1e-6)
