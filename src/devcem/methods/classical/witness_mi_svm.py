"""MI-SVM (Andrews et al. 2003): one instance of each positive bag, its witness, has to be positive.

    min  1/2 |w|^2 + C sum over positive B of max(0, 1 - max_i f(x_i))
                   + C sum over negative B of max(0, 1 + max_i f(x_i))

One slack a bag. A negative bag's term is convex: it is a maximum of convex ones, and its instances share a
slack. A positive bag's is the minimum over witnesses of max(0, 1 - f(witness)); rounds alternate between
the witnesses and the SVM. That SVM has shared slack on the negative side, which libsvm has no place for:
shared_slack.py. It starts with the mean of each positive bag as its witness (the mean of the kernel's
feature vectors, so that any kernel has one).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from devcem.methods.classical.bags import BagIndex, Floats, Ints
from devcem.methods.classical.descent import Choice, Descending, Problem
from devcem.methods.classical.gram import Gram
from devcem.methods.classical.machine import Machine, hinge
from devcem.methods.classical.shared_slack import solve_shared


class WitnessProblem(Problem):
    def __init__(self, kernel: Floats, index: BagIndex, negative: float, positive: float, tol: float) -> None:
        self.index, self.tol = index, tol
        self.costs = np.where(index.positive, positive, negative)  # [N]
        negatives, bags = len(index.negatives), len(index.positives)
        self.labels = np.repeat([-1.0, 1.0], [negatives, bags])
        below = int(index.negative_owner[-1]) + 1  # negative bags
        self.groups = np.concatenate([index.negative_owner, below + np.arange(bags)])
        self.upper = np.repeat([negative, positive], [below, bags])
        self.gram = Gram(kernel, index.negatives, index.mixtures(), centred=False)
        self.active: Ints | None = None

    def start(self, rng: np.random.Generator | None) -> Machine:
        """The bags' means, or random mixtures of their instances."""
        return self._solved(self.index.mixtures(rng))

    def choose(self, scores: Floats) -> Choice:
        return self.index.highest(scores)

    def solve(self, choice: Choice) -> Machine:
        return self._solved(self.index.chosen(choice))

    def objective(self, machine: Machine) -> float:
        highest = self.index.pooled(machine.scores, "max")
        slack = hinge(np.where(self.index.positive, highest, -highest))
        return machine.norm + float(self.costs @ slack)

    def _solved(self, witnesses: sparse.csr_array) -> Machine:
        self.gram.put(witnesses)
        found, self.active = solve_shared(
            self.gram.matrix, self.labels, self.groups, self.upper, self.active, self.tol
        )
        return Machine.on_samples(self.gram, found)


class WitnessMISVM(Descending):
    """A witness for each positive bag. A bag scores as its highest instance."""

    def _problem(self, kernel: Floats, index: BagIndex, negative: float, positive: float) -> Problem:
        return WitnessProblem(kernel, index, negative, positive, self.tol)
