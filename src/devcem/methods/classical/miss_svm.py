"""MissSVM (Zhou and Xu 2007): multi-instance learning as semi-supervised learning.

Instances of negative bags are labelled, those of positive bags are not, and each positive bag's highest
instance is positive. The objective and its convex steps are written out in transductive.py, with f(B) the
bag's maximum and m_B = 1. It starts at the means of the bags. The paper under work uses kernel="rbf", C=1
and 100 rounds.
"""

from __future__ import annotations

import numpy as np

from devcem.methods.classical.bags import BagIndex, Floats
from devcem.methods.classical.descent import Descending, Problem
from devcem.methods.classical.transductive import TransductiveProblem


class MissSVM(Descending):
    """Semi-supervised MIL. A bag scores as its highest instance."""

    balances = True

    def __init__(
        self,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        C: float = 1.0,
        class_weight: str | dict[int, float] | None = None,
        tol: float = 1e-5,
        rounds: int = 100,
        starts: int = 1,
        random_state: int = 0,
    ) -> None:
        super().__init__(kernel, gamma, C, class_weight, tol, rounds, starts, random_state)

    def _problem(self, kernel: Floats, index: BagIndex, negative: float, positive: float) -> Problem:
        margins = np.ones(len(index.positives))
        return TransductiveProblem(kernel, index, negative, positive, self.C, margins, True, self.tol)
