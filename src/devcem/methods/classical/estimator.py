"""What the classical methods share: bags in, one binary decision out, with a scikit-learn estimator's
manners.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from devcem.errors import UserError
from devcem.methods.classical.bags import Array, BagIndex, Floats, Ints, stacked
from devcem.methods.classical.kernel import kernel_matrix, scale_gamma
from devcem.methods.classical.machine import Machine

KERNELS = ("linear", "rbf", "precomputed")
ROWS = 2048  # instances whose kernel values are held at a time when predicting


@dataclass(frozen=True)
class Learnt:
    machine: Machine
    objectives: list[float]  # of each round
    tried: list[float]  # the last of each start


class BagEstimator(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A bag is an array [T,D] of its instances, y in {0,1} says whether it holds a positive one.

    kernel: `rbf`, `linear`, or `precomputed`: a bag is then its rows of the kernel matrix, [T,M]
    against all M training instances in order. What `np.split` cuts from one matrix is not copied.
    gamma of rbf: a number, or `scale`, 1 / (D * variance of the training instances).
    C: what one unit of slack costs against |w|^2 / 2; it is not divided by the number of bags or instances.
    class_weight: {0: a, 1: b} multiplies C for slack of negative and of positive bags; `balanced` has a bag
    of either class weigh N / (2 * its class's bags), unless the objective itself `balances` the sides.
    tol: the relative duality gap at which a convex step ends, and the relative fall at which rounds end.
    """

    pooling: ClassVar[str] = "max"  # of instance scores to the bag's
    balances: ClassVar[bool] = False

    def __init__(
        self,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        C: float = 1.0,
        class_weight: str | dict[int, float] | None = None,
        tol: float = 1e-5,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.C = C
        self.class_weight = class_weight
        self.tol = tol

    @abstractmethod
    def _learn(self, kernel: Floats, index: BagIndex, negative: float, positive: float) -> Learnt:
        """The kernel matrix [M,M], and the costs of slack on either side."""

    def fit(self, bags: Sequence[Array], y: npt.ArrayLike) -> Self:
        self._check()
        instances, sizes = stacked(bags)
        index = BagIndex(sizes, _labels(y, len(sizes)))
        if self.kernel == "precomputed":
            if len(instances) != instances.shape[1]:
                raise UserError(
                    f"{len(instances)} instances have {instances.shape[1]} kernel values each",
                    "kernel='precomputed'",
                    "at fit a bag is its rows of the square matrix of all training instances",
                )
            gamma, kernel = 1.0, instances
        else:
            gamma = scale_gamma(instances) if self.gamma == "scale" else float(self.gamma)
            kernel = kernel_matrix(instances, None, self.kernel, gamma)
        learnt = self._learn(np.ascontiguousarray(kernel, np.float64), index, *self._costs(index.positive))
        used = np.flatnonzero(learnt.machine.coef)
        self.dual_coef_ = learnt.machine.coef[used]
        self.bias_ = learnt.machine.bias
        self.gamma_ = gamma
        if self.kernel == "precomputed":
            self.support_: Ints = used
        else:
            self.support_vectors_ = instances[used]
        self.n_features_in_ = instances.shape[1]
        self.classes_ = np.array([0, 1])
        self.objectives_ = np.array(learnt.objectives)  # after the start and each round
        self.start_objectives_ = np.array(learnt.tried)  # reached from each start
        return self

    def instance_decision_function(self, bag: Array) -> Floats:
        return self._scores(stacked([bag])[0])

    def decision_function(self, bags: Sequence[Array]) -> Floats:
        instances, sizes = stacked(bags)
        return BagIndex(sizes, np.zeros(len(sizes), bool)).pooled(self._scores(instances), self.pooling)

    def predict(self, bags: Sequence[Array]) -> Ints:
        return (self.decision_function(bags) > 0).astype(np.int64)

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """All that fit learnt and predicting needs; the parameters are not among them."""
        check_is_fitted(self, "dual_coef_")
        support = "support_" if self.kernel == "precomputed" else "support_vectors_"
        return {
            "dual_coef": self.dual_coef_,
            "bias": np.array([self.bias_]),
            "gamma": np.array([self.gamma_]),
            "features": np.array([self.n_features_in_], np.int64),
            support.rstrip("_"): getattr(self, support),
        }

    def restore(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """A fitted estimator again, that decides as the one whose `arrays` these are."""
        self.dual_coef_ = arrays["dual_coef"]
        self.bias_, self.gamma_ = float(arrays["bias"][0]), float(arrays["gamma"][0])
        self.n_features_in_ = int(arrays["features"][0])
        if self.kernel == "precomputed":
            self.support_ = arrays["support"]
        else:
            self.support_vectors_ = arrays["support_vectors"]
        self.classes_ = np.array([0, 1])
        return self

    def _scores(self, instances: Array) -> Floats:
        check_is_fitted(self, "dual_coef_")
        if instances.shape[1] != self.n_features_in_:
            raise UserError(
                f"the bags have {instances.shape[1]} columns, {self.n_features_in_} were learnt from",
                type(self).__name__,
                "give features of the same encoder, or kernel values against all training instances",
            )
        if self.kernel == "precomputed":
            return np.asarray(instances[:, self.support_] @ self.dual_coef_ + self.bias_, np.float64)
        found = np.empty(len(instances))
        for start in range(0, len(instances), ROWS):
            some = slice(start, start + ROWS)
            values = kernel_matrix(instances[some], self.support_vectors_, self.kernel, self.gamma_)
            found[some] = values @ self.dual_coef_
        return found + self.bias_

    def _costs(self, positive: npt.NDArray[np.bool_]) -> tuple[float, float]:
        weight = self.class_weight
        if weight is None or (weight == "balanced" and self.balances):
            return self.C, self.C
        if weight == "balanced":
            count = len(positive)
            return self.C * count / (2 * int((~positive).sum())), self.C * count / (2 * int(positive.sum()))
        if not isinstance(weight, dict) or not set(weight) <= {0, 1} or min(weight.values(), default=1) <= 0:
            raise UserError(
                f"class_weight is {weight!r}",
                type(self).__name__,
                "give None, 'balanced' or {0: a, 1: b} above 0",
            )
        return self.C * weight.get(0, 1.0), self.C * weight.get(1, 1.0)

    def _check(self) -> None:
        who = type(self).__name__
        if self.kernel not in KERNELS:
            raise UserError(f"kernel is {self.kernel!r}", who, f"choose one of {', '.join(KERNELS)}")
        for name in ("C", "tol"):
            if not 0 < getattr(self, name) < np.inf:
                raise UserError(f"{name} is {getattr(self, name)}", who, "give a finite number above 0")
        if self.gamma != "scale" and (isinstance(self.gamma, str) or not 0 < self.gamma < np.inf):
            raise UserError(f"gamma is {self.gamma!r}", who, "give 'scale' or a finite number above 0")


def _labels(y: npt.ArrayLike, count: int) -> npt.NDArray[np.bool_]:
    labels = np.asarray(y)
    if labels.shape != (count,):
        raise UserError(f"y has the shape {labels.shape} for {count} bags", remedy="give one label a bag")
    if not np.isin(labels, (0, 1)).all():
        raise UserError(f"labels are {np.unique(labels)[:5].tolist()}", "y", "use 0 and 1")
    positive = labels.astype(bool)
    if positive.all() or not positive.any():
        only = "positive" if positive.all() else "negative"
        raise UserError(
            f"all {count} bags are {only}: nothing separates them",
            "y",
            "add bags of the other class, or leave the class out",
        )
    return positive
