"""Features standardised by the instances of the training bags alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from devcem.methods.classical.bags import Array, stacked


class BagScaler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Each feature to mean 0 and deviation 1 over all training instances; one that is constant there
    becomes 0.

    In a pipeline, `make_pipeline(BagScaler(), SIL())`, a test fold never enters its figures.
    """

    def fit(self, bags: Sequence[Array], y: object = None) -> Self:  # noqa: ARG002  (scikit-learn passes it)
        instances = stacked(bags)[0]
        self.mean_ = instances.mean(0, dtype=np.float64)
        deviation = instances.std(0, dtype=np.float64)
        varies = deviation > 1e-12 * np.abs(self.mean_)  # a constant's deviation is rounding, or 0
        self.scale_ = np.divide(1, deviation, out=np.zeros_like(deviation), where=varies)
        self.n_features_in_ = len(deviation)
        return self

    def transform(self, bags: Sequence[Array]) -> list[Array]:
        check_is_fitted(self, "mean_")
        return [((bag - self.mean_) * self.scale_).astype(np.result_type(bag, np.float32)) for bag in bags]

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        check_is_fitted(self, "mean_")
        return {"mean": self.mean_, "scale": self.scale_}

    def restore(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        self.mean_, self.scale_ = arrays["mean"], arrays["scale"]
        self.n_features_in_ = len(self.mean_)
        return self
