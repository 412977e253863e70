"""Bags as one stack of instances, and whose each instance is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from devcem.errors import UserError

Array = npt.NDArray[np.floating]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class BagIndex:
    """N bags of sizes [N], M instances in all, and which bags are positive [N]."""

    sizes: Ints
    positive: Bools

    @cached_property
    def starts(self) -> Ints:
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def in_positive(self) -> Bools:  # [M]
        return np.repeat(self.positive, self.sizes)

    @cached_property
    def negatives(self) -> Ints:
        """The instances of negative bags, in order."""
        return np.flatnonzero(~self.in_positive)

    @cached_property
    def negative_owner(self) -> Ints:
        """Of each of them its bag's number among the negative bags."""
        sizes = self.sizes[~self.positive]
        return np.repeat(np.arange(len(sizes)), sizes)

    @cached_property
    def positives(self) -> list[Ints]:
        """The instances of each positive bag."""
        return [
            np.arange(self.starts[n], self.starts[n] + self.sizes[n]) for n in np.flatnonzero(self.positive)
        ]

    def highest(self, scores: Floats) -> Ints:
        """The instance with the highest of scores [M] in each positive bag."""
        return np.array([members[scores[members].argmax()] for members in self.positives])

    def pooled(self, scores: Floats, how: str) -> Floats:
        """scores [M] -> [N], each bag's maximum or mean."""
        if how == "max":
            return np.maximum.reduceat(scores, self.starts)
        return np.add.reduceat(scores, self.starts) / self.sizes

    def mixtures(self, rng: np.random.Generator | None = None) -> sparse.csr_array:
        """A point for each positive bag, [positive bags, M]: its mean, or with *rng* a random convex
        mixture.
        """
        weights = [
            np.full(len(members), 1 / len(members)) if rng is None else rng.dirichlet(np.ones(len(members)))
            for members in self.positives
        ]
        return self._points(self.positives, weights)

    def chosen(self, instances: Ints) -> sparse.csr_array:
        """One instance for each positive bag as such a point."""
        return self._points(list(instances[:, None]), [np.ones(1)] * len(instances))

    def _points(self, columns: list[Ints], weights: list[Floats]) -> sparse.csr_array:
        ends = np.cumsum([0, *map(len, columns)])
        shape = (len(columns), int(self.sizes.sum()))
        return sparse.csr_array((np.concatenate(weights), np.concatenate(columns), ends), shape=shape)


def stacked(bags: Sequence[Array]) -> tuple[Array, Ints]:
    """Bags [T,D] as one [M,D] and their sizes. Bags that `np.split` cut from one matrix give that matrix
    back.
    """
    arrays = [np.asarray(bag) for bag in bags]
    if not arrays:
        raise UserError("there are no bags", remedy="give at least one array [instances, features]")
    for number, array in enumerate(arrays):
        if array.ndim != 2 or not len(array):
            raise UserError(
                f"it has the shape {array.shape}",
                f"bag {number}",
                "a bag is an array [instances, features], not empty",
            )
        if array.shape[1] != arrays[0].shape[1]:
            raise UserError(
                f"it has {array.shape[1]} columns, bag 0 has {arrays[0].shape[1]}",
                f"bag {number}",
                "give all the same",
            )
    sizes = np.array([len(array) for array in arrays], np.int64)
    whole = _common(arrays)
    if whole is None:
        whole = np.concatenate(arrays)
    if not np.issubdtype(whole.dtype, np.floating):
        whole = whole.astype(np.float64)
    if not np.isfinite(whole.sum()) and not (finite := np.isfinite(whole).all(1)).all():
        bag = int(np.repeat(np.arange(len(sizes)), sizes)[finite.argmin()])
        raise UserError("it holds values that are not finite", f"bag {bag}", "remove or fill them")
    return whole, sizes


def _common(arrays: list[Array]) -> Array | None:
    """The matrix whose rows all bags are, in order: a kernel of gigabytes is not copied for each class."""
    base = arrays[0].base
    if not isinstance(base, np.ndarray) or base.ndim != 2 or not base.flags.c_contiguous:
        return None
    if base.shape != (sum(map(len, arrays)), arrays[0].shape[1]) or base.dtype != arrays[0].dtype:
        return None
    place = base.ctypes.data
    for array in arrays:
        if array.base is not base or array.ctypes.data != place or not array.flags.c_contiguous:
            return None
        place += array.nbytes
    return base
