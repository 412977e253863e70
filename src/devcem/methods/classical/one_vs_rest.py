"""A binary estimator a class, each against the rest, over one kernel matrix of all training frames.

    lesson = method.lesson(bags, labels, known)        scaler and kernel, once for all classes
    method.take(lesson, [lesson.solve(k) for k in range(K)])

`devcem train` solves classes in parallel and keeps each; `fit` does it in one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import clone
from torch import Tensor, nn

from devcem.methods.classical.arrays import Array, Arrays
from devcem.methods.classical.estimator import BagEstimator
from devcem.methods.classical.kernel import Kernel, kernel_matrix, scale_gamma
from devcem.methods.classical.scaler import BagScaler
from devcem.methods.method import Method
from devcem.methods.output import MILOutput

Floats = npt.NDArray[np.floating]
Bools = npt.NDArray[np.bool_]
SUPPORT, COLUMNS = "support", "features"  # of an estimator: which kernel columns it needs, of how many


@dataclass(frozen=True)
class Solved:
    """What was learnt of one class. Its support counts the frames of all training bags."""

    arrays: dict[str, Array]
    notes: tuple[str, ...] = ()  # what a reader of its scores must know


class Constant:
    """Stands in for a class that shows one side only: there is nothing to tell apart."""

    def __init__(self, value: float) -> None:
        self.value = value

    def instance_decision_function(self, bag: Floats) -> Floats:
        return np.full(len(bag), self.value)


class Lesson:
    """All training bags, their frames scaled, and one kernel matrix that every class learns from."""

    def __init__(
        self, method: OneVsRest, bags: Sequence[Floats], labels: npt.ArrayLike, known: npt.ArrayLike | None
    ) -> None:
        self.labels = np.asarray(labels, bool)  # [N,K]
        self.known = np.ones_like(self.labels) if known is None else np.asarray(known, bool)
        if not (len(bags),) == self.labels.shape[:1] == self.known.shape[:1]:
            raise ValueError("bags, labels and known must be of one length")
        self._estimator, self._kind = method.estimator, method.kernel
        self.sizes = np.array([len(bag) for bag in bags])
        self.scaler = BagScaler().fit(bags) if method.standardise else None
        seen = bags if self.scaler is None else self.scaler.transform(bags)
        self.frames = np.concatenate([np.asarray(bag, np.float32) for bag in seen])  # [M,D]
        self.gamma = scale_gamma(self.frames) if method.gamma == "scale" else float(method.gamma)

    @cached_property
    def kernel(self) -> Floats:
        """[M,M]"""
        return kernel_matrix(self.frames, None, self._kind, self.gamma)

    def solve(self, k: int) -> Solved:
        """Class *k* from the bags in which it is known."""
        bags = np.flatnonzero(self.known[:, k])
        labels = self.labels[bags, k]
        if not labels.any():
            return _constant(-1.0, "no training video shows it")
        if labels.all():
            return _constant(1.0, "every training video that knows it shows it")
        owner = np.repeat(np.arange(len(self.sizes)), self.sizes)  # [M]
        columns = np.flatnonzero(self.known[owner, k])
        kernel = self.kernel
        if len(columns) < len(kernel):
            kernel = kernel[np.ix_(columns, columns)]
        rows = np.split(kernel, np.cumsum(self.sizes[bags])[:-1])  # views: nothing is copied for a class
        arrays = clone(self._estimator).fit(rows, labels.astype(int)).arrays()
        return Solved(arrays | {SUPPORT: columns[arrays[SUPPORT]]})


class OneVsRest(Method):
    """Many labels from a binary estimator: logits are decision values, so that a score of 0.5 is zero.

    A sigmoid of a decision value keeps order and zero, and is no calibrated probability. Attention is that of
    the estimator's own pooling, a class at a time and then the mean over classes: where a video scores as its
    highest frame, all of it lies there (frames that tie share it), where as the mean of frames, on all alike.
    """

    order_free = True

    def __init__(
        self,
        num_classes: int,
        feature_dim: int,
        estimator: BagEstimator,
        *,
        kernel: Kernel,
        gamma: float | Literal["scale"],
        standardise: bool,
    ) -> None:
        super().__init__(num_classes, feature_dim)
        self.estimator = estimator  # of kernel="precomputed": it is cloned for each class
        self.kernel, self.gamma, self.standardise = kernel, gamma, standardise
        self.shared = Arrays()  # mean [D], scale [D], gamma, frames [S,D]: what some class needs, scaled
        self.each = nn.ModuleList(Arrays() for _ in range(num_classes))
        self._machines: list[BagEstimator | Constant] = []
        self.register_load_state_dict_post_hook(  # type: ignore[no-untyped-call]
            lambda module, _: module.restore()
        )

    def lesson(
        self, bags: Sequence[Floats], labels: npt.ArrayLike, known: npt.ArrayLike | None = None
    ) -> Lesson:
        """Training bags [T,D] with their labels [N,K]; a bag that does not know a class is no part of it."""
        return Lesson(self, bags, labels, known)

    def take(self, lesson: Lesson, solved: Sequence[Solved]) -> None:
        """Keep what the classes have learnt, and of the training frames those that some class needs."""
        kept = [one.arrays.get(SUPPORT, np.zeros(0, np.int64)) for one in solved]
        needed = np.unique(np.concatenate(kept))
        scaling = {} if lesson.scaler is None else lesson.scaler.arrays()
        kept_once = {"gamma": np.array(lesson.gamma), "frames": lesson.frames[needed]}
        self.shared.put({**scaling, **kept_once})
        for place, one, support in zip(self.each, solved, kept, strict=True):
            assert isinstance(place, Arrays)
            moved = {SUPPORT: np.searchsorted(needed, support), COLUMNS: np.array([len(needed)])}
            place.put(one.arrays | (moved if SUPPORT in one.arrays else {}))
        self.restore()

    def fit(
        self, bags: Sequence[Floats], labels: npt.ArrayLike, known: npt.ArrayLike | None = None
    ) -> OneVsRest:
        lesson = self.lesson(bags, labels, known)
        self.take(lesson, [lesson.solve(k) for k in range(self.num_classes)])
        return self

    def restore(self) -> None:
        """Estimators from the arrays that were taken or loaded."""
        shared = self.shared.get()
        if shared.get("frames", np.zeros(0)).shape[1:] != (self.feature_dim,):
            raise RuntimeError(f"no training frames of {self.feature_dim} features")
        self._machines = []
        for k, place in enumerate(self.each):
            assert isinstance(place, Arrays)
            arrays = place.get()
            constant = arrays.get("constant")
            if constant is None and SUPPORT not in arrays:
                raise RuntimeError(f"nothing was learnt of class number {k}")
            self._machines.append(
                clone(self.estimator).restore(arrays) if constant is None else Constant(float(constant))
            )

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        """features [B,T,D] of any device; the work is NumPy's."""
        if not self._machines:
            raise RuntimeError(f"{self.name} has not been fitted")
        rows = self._rows(features[mask].detach().cpu().numpy())  # [R,S]
        found = np.stack([machine.instance_decision_function(rows) for machine in self._machines], 1)
        frame_logits = torch.zeros(*mask.shape, self.num_classes, device=features.device)
        frame_logits[mask] = torch.from_numpy(found).float().to(features.device)
        weights = self._weights(frame_logits, mask)  # [B,T,K]
        video_logits = (weights * frame_logits).sum(1)
        return MILOutput(video_logits, weights.mean(2), frame_logits, {"class_attention": weights})

    def _rows(self, features: Floats) -> Floats:
        """The kernel of frames [R,D] against those that some class needs."""
        shared = self.shared.get()
        if self.standardise:
            features = BagScaler().restore(shared).transform([features])[0]
        return kernel_matrix(features, shared["frames"], self.kernel, float(shared["gamma"]))

    def _weights(self, frame_logits: Tensor, mask: Tensor) -> Tensor:
        real = mask[..., None]
        if self.estimator.pooling == "mean":
            chosen = real.expand_as(frame_logits)
        else:
            highest = frame_logits.masked_fill(~real, -torch.inf).amax(1, keepdim=True)
            chosen = (frame_logits == highest) & real
        return chosen / chosen.sum(1, keepdim=True)


def _constant(value: float, why: str) -> Solved:
    return Solved({"constant": np.array(value)}, (f"{why}: its score is constant",))
