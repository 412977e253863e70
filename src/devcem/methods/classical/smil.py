"""sMIL (Bunescu and Mooney 2007): a positive bag need hold but one positive instance, and the larger, the
less is asked of it.

    min  1/2 |w|^2 + C sum_neg max(0, 1 + f(x_i)) + C Ln/Xp sum_B max(0, 2/|B| - 1 - f(B))

f(B) is the mean of f over the bag: the set kernel k(A, B) = sum k(a, b) / (|A| |B|), *averaged*. If one
instance is at 1 and the others are at -1, the mean is 2/|B| - 1: the margin presumes the averaged kernel,
and a sum would be off by |B|. Ln negative instances, Xp positive bags: as published, the two sides weigh
the same.
"""

from __future__ import annotations

import numpy as np

from devcem.methods.classical.bags import BagIndex, Floats
from devcem.methods.classical.estimator import BagEstimator, Learnt
from devcem.methods.classical.gram import Gram
from devcem.methods.classical.machine import Machine
from devcem.methods.classical.svm import Solution, solve


def bag_margins(index: BagIndex) -> Floats:
    return np.asarray(2 / index.sizes[index.positive] - 1)


def bag_cost(index: BagIndex, cost: float) -> float:
    """What a positive bag's slack costs: all of them as much as all negative instances."""
    return cost * len(index.negatives) / len(index.positives)


def against_means(
    kernel: Floats, index: BagIndex, negative: float, bag: float, margins: Floats, tol: float
) -> tuple[Machine, Solution]:
    """The SVM between the negative instances and the means of the positive bags, which ask for *margins*."""
    gram = Gram(kernel, index.negatives, index.mixtures())
    singles, points = len(index.negatives), len(index.positives)
    labels = np.repeat([-1.0, 1.0], [singles, points])
    upper = np.repeat([negative, bag], [singles, points])
    wanted = np.concatenate([np.ones(singles), margins])
    found = solve(gram.matrix, labels, upper, wanted if (wanted != 1).any() else None, tol)
    return Machine.on_samples(gram, found), found


class SMIL(BagEstimator):
    """Sparse MIL. A bag scores as the mean of its instances, by the averaged set kernel."""

    pooling = "mean"
    balances = True

    def _learn(self, kernel: Floats, index: BagIndex, negative: float, positive: float) -> Learnt:
        bag = bag_cost(index, positive)
        machine, found = against_means(kernel, index, negative, bag, bag_margins(index), self.tol)
        return Learnt(machine, [found.objective], [found.objective])
