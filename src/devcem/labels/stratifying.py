"""Groups dealt out to sides, so that every side gets its share of every class.

Iterative stratification (Sechidis, Tsoumakas and Vlahavas 2011: the rarest class first, to the side that
lacks it most) gives a start; moves and swaps bring the counts nearer to their shares; and should a class then
lack on a side, an exact search finds the deal in which the fewest lack.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Sides = npt.NDArray[np.int64]  # [G] the side of each group
PAIRS, PATIENCE = 4096, 8  # swaps looked at in a round; rounds without a gain before the search ends


def deal(counts: Floats, shares: list[float], seed: int = 0) -> Sides:
    """counts [G,C]: videos of a group that carry a class; in the last column, all videos of the group."""
    rng = np.random.default_rng(seed)
    cost = _Cost(counts, np.array(shares))
    sides = _improve(counts, _start(counts, np.array(shares), rng), cost, rng)
    if cost.lacking(totals(counts, sides, len(shares))):
        sides = _improve(counts, _cover(counts, cost.needed), cost, rng)
    return sides


def totals(counts: Floats, sides: Sides, number: int) -> Floats:
    """[P,C] counts of every side."""
    return np.stack([counts[sides == side].sum(0) for side in range(number)])


def needed_sides(counts: Floats, number: int) -> npt.NDArray[np.bool_]:
    """[P,C] where a class should be: with two groups on train and test, the first sides; with more on all."""
    groups = (counts > 0).sum(0)
    return np.stack([groups >= max(side + 1, 2) for side in range(number)])


class _Cost:
    """How far counts are from their shares (chi-square); that a class lacks on a side always costs more."""

    def __init__(self, counts: Floats, shares: Floats) -> None:
        total = counts.sum(0)
        self.needed = needed_sides(counts, len(shares))
        self.aim = shares[:, None] * total  # [P,C]
        weight = np.ones(len(total))
        weight[-1] = len(total)  # sizes count as much as all classes together
        scale = (weight * total).sum()
        self.weight = (
            weight / np.maximum(self.aim, shares[:, None]) / scale
        )  # the sum is below 1 / min(shares)
        self.lack = np.full(len(total), 2 / shares.min())
        self.lack[-1] *= self.needed.size  # an empty side is worse than anything

    def lacking(self, held: Floats) -> int:
        return int((self.needed & (held < 0.5)).sum())

    def __call__(self, held: Floats, side: Sides) -> Floats:
        """Cost [...] of sides [...] that hold [...,C]."""
        far = (self.weight[side] * (held - self.aim[side]) ** 2).sum(-1)
        lacking = (self.lack * (self.needed[side] & (held < 0.5))).sum(-1)
        cost: Floats = far + lacking
        return cost


def _start(counts: Floats, shares: Floats, rng: np.random.Generator) -> Sides:
    sides = np.full(len(counts), -1)
    wanted = shares[:, None] * counts.sum(0)  # [P,C] what each side still lacks
    while (free := sides < 0).any():
        left = counts[free, :-1].sum(0)
        rarest = int(np.where(left > 0, left, np.inf).argmin()) if left.any() else -1
        members = rng.permutation(np.flatnonzero(free & (counts[:, rarest] > 0)))
        for group in members[np.argsort(-counts[members, rarest], kind="stable")]:  # the largest first
            ties = rng.random(len(shares))
            side = np.lexsort((ties, wanted[:, -1], wanted[:, rarest]))[-1]
            sides[group] = side
            wanted[side] -= counts[group]
    return sides


def _improve(counts: Floats, sides: Sides, cost: _Cost, rng: np.random.Generator) -> Sides:
    """The best move of one group while there is one, else the best of some swaps; ends when neither gains."""
    every = np.arange(len(cost.aim))
    sides = sides.copy()
    quiet = 0
    while quiet < PATIENCE:
        held = totals(counts, sides, len(every))
        base = cost(held, every)
        leave = cost(held[sides] - counts, sides) - base[sides]  # [G]
        enter = cost(held + counts[:, None], every) - base  # [G,P]
        gains = leave[:, None] + enter
        gains[np.arange(len(sides)), sides] = 0.0
        group, side = np.unravel_index(gains.argmin(), gains.shape)
        if gains[group, side] < -1e-9:
            sides[group] = side
            quiet = 0
            continue
        a, b = rng.integers(len(sides), size=(2, PAIRS))
        change = counts[b] - counts[a]
        after = cost(held[sides[a]] + change, sides[a]) + cost(held[sides[b]] - change, sides[b])
        swaps = np.where(sides[a] != sides[b], after - base[sides[a]] - base[sides[b]], 0.0)
        best = swaps.argmin()
        quiet += 1
        if swaps[best] < -1e-9:
            sides[[a[best], b[best]]] = sides[[b[best], a[best]]]
            quiet = 0
    return sides


def _cover(counts: Floats, needed: npt.NDArray[np.bool_]) -> Sides:
    """The deal in which the fewest classes lack on a side where they are needed, by integer programming."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import, and rarely needed

    groups, number = len(counts), len(needed)
    side_of, class_of = np.nonzero(needed)
    one_side = np.hstack([np.kron(np.eye(groups), np.ones(number)), np.zeros((groups, len(side_of)))])
    present = np.zeros((len(side_of), groups * number))
    for row, (side, column) in enumerate(zip(side_of, class_of, strict=True)):
        present[row, side::number] = counts[:, column] > 0
    covered = np.hstack([present, np.eye(len(side_of))])  # or else the slack is 1
    slack = class_of < counts.shape[1] - 1  # no side may be empty
    result = milp(
        np.concatenate([np.zeros(groups * number), np.ones(len(side_of))]),
        integrality=np.ones(groups * number + len(side_of)),
        bounds=Bounds(0, np.concatenate([np.ones(groups * number), slack])),
        constraints=[LinearConstraint(one_side, 1, 1), LinearConstraint(covered, 1, np.inf)],
    )
    if result.x is None:
        raise RuntimeError(f"the integer program that always has a solution found none: {result.message}")
    sides: Sides = result.x[: groups * number].reshape(groups, number).argmax(1)
    return sides
