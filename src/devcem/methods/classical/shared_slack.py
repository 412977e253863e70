"""The step that libsvm cannot do: samples that share a slack, so that their multipliers share a bound.

    min  1/2 |w|^2 + sum_g c_g max(0, max over i in g of 1 - y_i f(x_i))

has the dual  max  sum a - 1/2 (y a) K (y a)  over  a >= 0, sum over i in g of a_i <= c_g, y a = 0.

Were each sample to have a slack of its own at the group's whole price, a_i <= c_g, it would be libsvm's
problem. Where that one's solution keeps the groups' bounds it is the solution here, and elsewhere its
support vectors are nearly those sought: the dual is solved over them, an active set, by an interior point
method (interior.py), and samples that go beyond their group's slack are added until the duality gap of the
whole problem is small. The active set is handed on to the next round.

The bias is the multiplier of y a = 0. With an unbounded support vector it is unique, and the one that puts
that vector on its margin; without one it is the analytic centre of the interval of optimal ones.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from devcem.methods.classical.bags import Floats, Ints
from devcem.methods.classical.interior import interior_point
from devcem.methods.classical.svm import Solution, solve

ADDITIONS = 50  # times that the active set is enlarged; one to five are usual


def solve_shared(
    kernel: Floats, labels: Floats, groups: Ints, upper: Floats, active: Ints | None, tol: float
) -> tuple[Solution, Ints]:
    """kernel [S,S], labels [S], groups [S] in 0..G-1, upper [G]; *active* of the round before, None at first.

    Also returns the active set for the next call.
    """
    if active is None:
        alone = solve(kernel, labels, upper[groups], None, tol)
        if (np.bincount(groups, labels * alone.coef) <= upper * (1 + 1e-9)).all():
            return alone, np.flatnonzero(alone.coef)
        active = np.flatnonzero(alone.coef)
    for _ in range(ADDITIONS):
        some = labels[active]
        alpha, bias = interior_point(kernel[np.ix_(active, active)], some, groups[active], upper, tol / 10)
        coef = np.zeros(len(labels))
        coef[active] = some * alpha
        products = kernel[:, active] @ coef[active]
        missing = 1 - labels * (products + bias)
        norm = float(coef @ products)
        primal = norm / 2 + float(upper @ _slack(missing, groups, len(upper)))
        gap = (primal - (float(alpha.sum()) - norm / 2)) / max(primal, np.finfo(float).tiny)
        if gap <= tol:
            return Solution(coef, bias, primal, gap), active[alpha > 1e-9 * upper[groups[active]]]
        allowed = _slack(missing[active], groups[active], len(upper))[groups]
        beyond = np.setdiff1d(np.flatnonzero(missing > allowed), active)
        if not len(beyond):
            break
        active = np.concatenate([active, beyond])
    warnings.warn(
        f"the step with shared slack ended at a relative duality gap of {gap:.1e}, above tol={tol:g}",
        ConvergenceWarning,
        stacklevel=2,
    )
    return Solution(coef, bias, primal, gap), active


def _slack(missing: Floats, groups: Ints, count: int) -> Floats:
    """Each group's slack: what its worst member misses, or 0."""
    found = np.zeros(count)
    np.maximum.at(found, groups, missing)
    return found
