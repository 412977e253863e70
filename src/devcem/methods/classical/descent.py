"""Objectives that are not convex: convex steps that lower them, round by round, from one start or several.

Each round bounds the objective from above by a convex function that touches it at the present solution, by
a *choice*: which instance stands for a bag, which label an instance takes. Minimising the bound cannot
raise the objective (the concave-convex procedure). What has been reached is a point that no other choice
improves, not the lowest one: several starts help to see.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from devcem.errors import UserError
from devcem.methods.classical.bags import BagIndex, Floats
from devcem.methods.classical.estimator import BagEstimator, Learnt
from devcem.methods.classical.machine import Machine

Choice = npt.NDArray[np.int64]


class Problem(ABC):
    @abstractmethod
    def start(self, rng: np.random.Generator | None) -> Machine:
        """The method's own start, or with *rng* a random one."""

    @abstractmethod
    def choose(self, scores: Floats) -> Choice:
        """The choice that touches the objective at instance scores [M]."""

    @abstractmethod
    def solve(self, choice: Choice) -> Machine:
        """The minimum of the convex bound that belongs to the choice."""

    @abstractmethod
    def objective(self, machine: Machine) -> float:
        """What is to be minimised, itself."""


@dataclass(frozen=True)
class Descent:
    machine: Machine
    objectives: list[float]  # at the start and after each round, never rising
    settled: bool


def descend(problem: Problem, machine: Machine, rounds: int, tol: float) -> Descent:
    """Until the choice stays the same, or a round lowers the objective by less than *tol* of it."""
    objectives = [problem.objective(machine)]
    last: Choice | None = None
    for _ in range(rounds):
        choice = problem.choose(machine.scores)
        if last is not None and np.array_equal(choice, last):
            return Descent(machine, objectives, True)
        following, last = problem.solve(choice), choice
        value, before = problem.objective(following), objectives[-1]
        if value < before:
            machine = following
            objectives.append(value)
        if value >= before * (1 - tol):
            return Descent(machine, objectives, True)
    settled = last is not None and np.array_equal(problem.choose(machine.scores), last)
    return Descent(machine, objectives, settled)


class Descending(BagEstimator):
    """An estimator that goes by rounds. `starts` > 1 tries random starts as well and keeps the lowest
    objective.
    """

    def __init__(
        self,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        C: float = 1.0,
        class_weight: str | dict[int, float] | None = None,
        tol: float = 1e-5,
        rounds: int = 50,
        starts: int = 1,
        random_state: int = 0,
    ) -> None:
        super().__init__(kernel, gamma, C, class_weight, tol)
        self.rounds = rounds
        self.starts = starts
        self.random_state = random_state

    @abstractmethod
    def _problem(self, kernel: Floats, index: BagIndex, negative: float, positive: float) -> Problem:
        """What is to be minimised, for the kernel matrix [M,M] and the costs of slack on either side."""

    def _learn(self, kernel: Floats, index: BagIndex, negative: float, positive: float) -> Learnt:
        for name in ("rounds", "starts"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}", type(self).__name__, "give at least 1")
        problem = self._problem(kernel, index, negative, positive)
        rng = np.random.default_rng(self.random_state)
        tried = [
            descend(problem, problem.start(rng if number else None), self.rounds, self.tol)
            for number in range(self.starts)
        ]
        best = min(tried, key=lambda one: one.objectives[-1])
        if not best.settled:
            _warn(self, best)
        return Learnt(best.machine, best.objectives, [one.objectives[-1] for one in tried])


def _warn(estimator: Any, descent: Descent) -> None:
    fall = 1 - descent.objectives[-1] / descent.objectives[-2] if len(descent.objectives) > 1 else 1.0
    warnings.warn(
        f"{type(estimator).__name__} was still changing after {estimator.rounds} rounds: the last lowered the"
        f" objective by {fall:.1e} of it, tol is {estimator.tol:g}",
        ConvergenceWarning,
        stacklevel=4,
    )
