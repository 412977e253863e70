"""A small dense quadratic program of support vectors whose bounds are shared within groups.

    min  1/2 a Q a - sum a   over   a >= 0,  sum over i in g of a_i + room_g = c_g,  room >= 0,  y a = 0

by the primal-dual interior point method with Mehrotra's predictor and corrector. Its multipliers are the
parts of the primal problem: slack_g of the bounds, the bias of y a = 0, force_i of a_i >= 0 (how far i is
beyond its margin). They meet at   Q a - 1 + slack + y bias - force = 0,  a * force = 0,  room * slack = 0.

A Newton step eliminates force, room and slack; what is left is one Cholesky factor of Q + diag + (blocks of
groups).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from devcem.methods.classical.bags import Bools, Floats, Ints

STEPS = 100  # 15 to 30 are usual
FAR = 1e-5  # a gap so far below what is asked for that only rounding is left
JITTER = 1e-11  # of the diagonal: equal instances leave Q singular; refinement takes it out again
REFINED = 3
INSIDE = 0.99  # of the way to the border


@dataclass
class Point:
    alpha: Floats  # [n]
    force: Floats  # [n]
    room: Floats  # [G]
    slack: Floats  # [G]
    bias: float

    def moved(self, by: Point, step: float) -> Point:
        return Point(
            self.alpha + step * by.alpha,
            self.force + step * by.force,
            self.room + step * by.room,
            self.slack + step * by.slack,
            self.bias + step * by.bias,
        )

    def mean(self) -> float:
        """Of the products that are to vanish."""
        total = float(self.alpha @ self.force + self.room @ self.slack)
        return total / (len(self.alpha) + len(self.room))

    def reach(self, by: Point) -> float:
        """How far to go, at most all of it, so that all stay above 0: both sides share equations."""
        pairs = zip(self._positive(), by._positive(), strict=True)
        return min(_reach(values, change) for values, change in pairs)

    def _positive(self) -> tuple[Floats, ...]:
        return self.alpha, self.room, self.force, self.slack


def _reach(values: Floats, by: Floats) -> float:
    falling = by < 0
    return min(1.0, float((-values[falling] / by[falling]).min(initial=np.inf)))


class Newton:
    """The linear system at a point, factored once for the predictor and the corrector."""

    def __init__(self, q: Floats, labels: Floats, group: Ints, bound: Floats, point: Point) -> None:
        self.labels, self.group, self.point = labels, group, point
        self.gradient_off = q @ point.alpha - 1 + point.slack[group] + labels * point.bias - point.force
        self.bound_off = np.bincount(group, point.alpha) + point.room - bound
        self.label_off = float(labels @ point.alpha)

    def off(self) -> float:
        """What being infeasible is worth in units of the objective."""
        dual = float(np.abs(self.gradient_off) @ self.point.alpha)
        return dual + float(np.abs(self.bound_off) @ self.point.slack) + abs(self.label_off * self.point.bias)

    def factor(self, q: Floats, same: Bools) -> None:
        self.q, self.diagonal = q, self.point.force / self.point.alpha
        self.stiffness = self.point.slack / self.point.room
        matrix = same * self.stiffness[self.group]
        matrix += q
        matrix[np.diag_indices_from(matrix)] += self.diagonal
        matrix[np.diag_indices_from(matrix)] += JITTER * matrix.diagonal()
        self.factored = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        self.by_label = self._solved(self.labels)

    def step(self, of_alpha: Floats, of_room: Floats) -> Point:
        """Toward feasibility, and products alpha * force and room * slack that differ by these from the
        present ones.
        """
        at = self.point
        pull = (of_room + at.slack * self.bound_off) / at.room
        free = self._solved(of_alpha / at.alpha - self.gradient_off - pull[self.group])
        bias = (float(self.labels @ free) + self.label_off) / float(self.labels @ self.by_label)
        alpha = free - bias * self.by_label
        room = -self.bound_off - np.bincount(self.group, alpha)
        force, slack = (of_alpha - at.force * alpha) / at.alpha, (of_room - at.slack * room) / at.room
        return Point(alpha, force, room, slack, bias)

    def _solved(self, right: Floats) -> Floats:
        found = np.zeros(len(right))
        for _ in range(REFINED):
            product = self.q @ found + self.diagonal * found
            product += (self.stiffness * np.bincount(self.group, found))[self.group]
            found += cho_solve(self.factored, right - product, check_finite=False)
        return found


def interior_point(
    kernel: Floats, labels: Floats, groups: Ints, upper: Floats, tol: float
) -> tuple[Floats, float]:
    """kernel [n,n], labels and groups [n], upper [G] -> alpha [n] and the bias, at a relative gap of
    *tol*.
    """
    present, group = np.unique(groups, return_inverse=True)
    bound = upper[present]
    q, same = kernel * np.outer(labels, labels), group[:, None] == group  # [n,n]
    alpha = (bound / (2 * np.bincount(group)))[group]
    point = Point(alpha, np.ones(len(alpha)), bound / 2, np.ones(len(bound)), 0.0)
    for _ in range(STEPS):
        newton = Newton(q, labels, group, bound, point)
        mean, small = point.mean(), tol * float(point.alpha.sum())
        gap = mean * (len(alpha) + len(bound))
        if gap < small and (newton.off() < small or gap < FAR * small):  # rounding: it comes no nearer
            break
        newton.factor(q, same)
        products = point.alpha * point.force, point.room * point.slack
        guess = newton.step(-products[0], -products[1])
        aim = mean * (point.moved(guess, point.reach(guess)).mean() / mean) ** 3
        by = newton.step(
            aim - products[0] - guess.alpha * guess.force, aim - products[1] - guess.room * guess.slack
        )
        point = point.moved(by, INSIDE * point.reach(by))
    return point.alpha, point.bias
