"""Which bag comes when, and what is drawn for it: functions of seed and epoch alone.

Nothing here keeps a state, so that a resumed run, any number of reading threads and any number of devices see
the same bags with the same frames and the same flips. What makes up a step is the method's to say
(`compose`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from devcem.methods.composing import Bools, Step

Compose = Callable[[Bools, int, np.random.Generator], list[Step]]


def steps(compose: Compose, positive: Bools, size: int, seed: int, epoch: int) -> list[Step]:
    """The global batches of an epoch, each bag in one of them; *positive* [N,K] as in `Method.compose`."""
    return compose(positive, size, np.random.default_rng([seed, epoch]))


def share(step: Step, rank: int, ranks: int) -> Step:
    """What one of several processes takes of a step, never half of a pair; may be empty."""
    inside = set(step.pairs.flatten().tolist())
    units = [*step.pairs.tolist(), *([place] for place in range(len(step.bags)) if place not in inside)]
    loads: list[list[int]] = [[] for _ in range(ranks)]
    for unit in units:
        min(loads, key=len).extend(unit)  # the first of the shortest
    mine = loads[rank]
    at = {place: here for here, place in enumerate(mine)}
    pairs = [[at[one], at[two]] for one, two in step.pairs.tolist() if one in at]
    return Step(step.bags[mine], np.array(pairs, np.int64).reshape(-1, 2))


def generator(seed: int, epoch: int, index: int) -> np.random.Generator:
    """All that is drawn for one bag in one epoch comes from here."""
    return np.random.default_rng([seed, epoch, index + 1])
