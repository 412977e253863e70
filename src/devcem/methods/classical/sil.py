"""SIL: every instance takes its bag's label, a plain SVM follows.

The paper under work uses it with kernel="linear", C=10.
"""

from __future__ import annotations

import numpy as np

from devcem.methods.classical.bags import BagIndex, Floats
from devcem.methods.classical.estimator import BagEstimator, Learnt
from devcem.methods.classical.machine import of_labels


class SIL(BagEstimator):
    """Single-instance learning. A bag scores as its highest instance."""

    def _learn(self, kernel: Floats, index: BagIndex, negative: float, positive: float) -> Learnt:
        upper = np.where(index.in_positive, positive, negative)
        machine, found = of_labels(kernel, index.in_positive, upper, self.tol)
        return Learnt(machine, [found.objective], [found.objective])
