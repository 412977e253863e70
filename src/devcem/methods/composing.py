"""Which bags of an epoch make up a step: shuffled, or with pairs of bags that share a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NO_PAIRS = np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class Step:
    """The bags of one update, over all processes together."""

    bags: Indices  # [B]
    pairs: Indices  # [P,2] places in *bags* of two that are compared; no place occurs twice


def shuffled(count: int, size: int, rng: np.random.Generator) -> list[Step]:
    """All bags once, in any order; the last step may be short, none is dropped."""
    order = rng.permutation(count)
    return [Step(order[first : first + size], NO_PAIRS) for first in range(0, count, size)]


def paired(positive: Bools, size: int, pairs: int, rng: np.random.Generator) -> list[Step]:
    """All bags once, in steps of *size* that begin with *pairs* pairs, as many as can be had.

    *positive* [N,K] is True where a bag is known to carry a class. For each pair a class is drawn, each with
    the same chance that two bags not yet used carry, then two of them; the rest of the step is drawn from all
    that is left. When no two bags left share a class, steps go on without pairs.
    """
    order = rng.permutation(len(positive))
    left = np.ones(len(positive), bool)
    carriers = [order[positive[order, k]] for k in range(positive.shape[1])]
    steps = []
    while left.any():
        bags: list[int] = []
        for _ in range(min(pairs, size // 2)):
            carriers = [some for each in carriers if len(some := each[left[each]]) > 1]
            if not carriers:
                break
            couple = carriers[int(rng.integers(len(carriers)))][:2]
            left[couple] = False
            bags += couple.tolist()
        places = np.arange(len(bags), dtype=np.int64).reshape(-1, 2)
        rest = order[left[order]][: size - len(bags)]
        left[rest] = False
        steps.append(Step(np.array([*bags, *rest.tolist()], np.int64), places))
    return steps
