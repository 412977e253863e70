"""mi-SVM (Andrews et al. 2003): which instances of the positive bags are positive is part of what is learnt.

    min over labels y of the positive bags' instances, at least one + a bag, and f:
        1/2 |w|^2 + C sum_i max(0, 1 - y_i f(x_i))

Rounds alternate. For given labels it is a plain SVM; for a given f an instance's cheaper label is the sign
of f, and a bag without a + turns that instance whose f is highest: (1 - f)+ - (1 + f)+ falls with f.
"""

from __future__ import annotations

import numpy as np

from devcem.methods.classical.bags import BagIndex, Bools, Floats
from devcem.methods.classical.descent import Choice, Descending, Problem
from devcem.methods.classical.machine import Machine, hinge, of_labels, signs


class LabelsProblem(Problem):
    def __init__(self, kernel: Floats, index: BagIndex, negative: float, positive: float, tol: float) -> None:
        self.kernel, self.index, self.tol = kernel, index, tol
        self.upper = np.where(index.in_positive, positive, negative)
        self.near: Floats | None = None

    def start(self, rng: np.random.Generator | None) -> Machine:
        """All instances of positive bags are +; at random, each is or is not."""
        if rng is None:
            return self._solved(self.index.in_positive)
        return self._solved(self._labels(rng.normal(size=len(self.kernel))))

    def choose(self, scores: Floats) -> Choice:
        return self._labels(scores).astype(np.int64)

    def solve(self, choice: Choice) -> Machine:
        return self._solved(choice > 0)

    def objective(self, machine: Machine) -> float:
        labels = signs(self._labels(machine.scores))
        return machine.norm + float(self.upper @ hinge(labels * machine.scores))

    def _labels(self, scores: Floats) -> Bools:
        labels = self.index.in_positive & (scores > 0)
        labels[self.index.highest(scores)] = True
        return labels

    def _solved(self, labels: Bools) -> Machine:
        machine, _ = of_labels(self.kernel, labels, self.upper, self.tol, self.near)
        self.near = machine.scores
        return machine


class MiSVM(Descending):
    """Labels for the instances of positive bags. A bag scores as its highest instance."""

    def _problem(self, kernel: Floats, index: BagIndex, negative: float, positive: float) -> Problem:
        return LabelsProblem(kernel, index, negative, positive, self.tol)
