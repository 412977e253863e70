"""What is learnt, as a function on the training instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from devcem.methods.classical.bags import Bools, Floats
from devcem.methods.classical.gram import Gram
from devcem.methods.classical.svm import Solution, solve


@dataclass(frozen=True)
class Machine:
    """f(x) = sum_j coef_j k(x_j, x) + bias."""

    coef: Floats  # [M]
    bias: float
    scores: Floats  # [M] f of each training instance
    norm: float  # |w|^2 / 2

    @classmethod
    def of(cls, kernel: Floats, coef: Floats, bias: float) -> Self:
        products = kernel @ coef
        return cls(coef, bias, products + bias, float(coef @ products) / 2)

    @classmethod
    def on_samples(cls, gram: Gram, found: Solution) -> Self:
        return cls.of(gram.kernel, gram.expanded(found.coef), found.bias)


def signs(positive: Bools) -> Floats:
    return np.where(positive, 1.0, -1.0)


def hinge(margins: Floats) -> Floats:
    return np.maximum(0, 1 - margins)


def of_labels(
    kernel: Floats, positive: Bools, upper: Floats, tol: float, near: Floats | None = None
) -> tuple[Machine, Solution]:
    """The plain SVM on instances of known labels [M]; *near* as in `solve`."""
    found = solve(kernel, signs(positive), upper, None, tol, near)
    return Machine.of(kernel, found.coef, found.bias), found
