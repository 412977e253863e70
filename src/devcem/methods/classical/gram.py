"""The kernel among the samples of a step: single instances, then points made of several instances."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from devcem.methods.classical.bags import Floats, Ints


class Gram:
    """matrix [S,S] of S = instances `singles`, then points W [P,M], a row of weights over instances each.

    The inner product of two weighted sums of feature vectors is the sum of the weighted kernel values, so a
    bag's mean is a sample like any other, and what is learnt about samples is a function of instances:
    `expanded`.

    *centred* takes a constant, about its mean, off the matrix: coefficients sum to 0, so nothing changes
    but that libsvm, which rounds to single precision, has smaller numbers to round.
    """

    def __init__(
        self, kernel: Floats, singles: Ints, points: sparse.csr_array, *, centred: bool = True
    ) -> None:
        self.kernel, self.singles = kernel, singles
        self.whole = len(singles) == len(kernel)
        count = len(singles)
        self.matrix = np.empty((count + points.shape[0],) * 2)
        self.matrix[:count, :count] = kernel if self.whole else kernel[np.ix_(singles, singles)]
        self.level = float(self.matrix[:count, :count].mean()) if centred else 0.0
        self.matrix[:count, :count] -= self.level
        self.put(points)

    def put(self, points: sparse.csr_array) -> None:
        """Other points in the place of those there were."""
        self.points = points
        count = len(self.singles)
        rows = points @ self.kernel  # [P,M]
        self.matrix[count:, :count] = (rows if self.whole else rows[:, self.singles]) - self.level
        self.matrix[:count, count:] = self.matrix[count:, :count].T
        self.matrix[count:, count:] = rows @ points.T - self.level

    def expanded(self, coef: Floats) -> Floats:
        """A coefficient a sample [S] -> a coefficient an instance [M]."""
        count = len(self.singles)
        found: Floats = self.points.T @ coef[count:]
        found[self.singles] += coef[:count]
        return found
