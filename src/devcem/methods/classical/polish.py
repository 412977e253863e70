"""The end of a support vector machine by its active set, in double precision: libsvm's is single.

With the samples at their bounds held there, the others meet linear equations: each on its margin, y a = 0.
Their solution is the optimum if the right samples are held. If it takes one over its bound, it is followed
that far, and that sample is held too; if one that is held would do better inside, it is let go. The objective
is convex and falls along each step.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from devcem.methods.classical.bags import Bools, Floats

WORK = 1e10  # operations at most, about a second: with thousands free, libsvm does well on its own
JITTER = 1e-13  # of the trace: equal samples are singular; the next step corrects for it
SMALL = 1e-9  # a violation of the margin that is none
RELEASED = 4  # a fourth of those that ask for it are let go at a time


def polished(kernel: Floats, labels: Floats, upper: Floats, margins: Floats, coef: Floats) -> Floats:
    """coef = y a [S] -> the same, closer to the optimum."""
    low, high = np.minimum(0, labels * upper), np.maximum(0, labels * upper)
    coef = coef.copy()
    free = (coef > low + 1e-9 * upper) & (coef < high - 1e-9 * upper)
    work = 0.0
    while free.sum() >= 2 and (work := work + _cost(free)) < WORK:
        by = _newton(kernel, labels * margins, coef, free)
        room = np.where(by > 0, high[free] - coef[free], low[free] - coef[free])
        steps = np.divide(room, by, out=np.full(len(by), np.inf), where=by != 0)
        first = steps.argmin()
        coef[free] += min(1.0, max(0.0, steps[first])) * by
        if steps[first] < 1:
            where = np.flatnonzero(free)[first]
            coef[where] = high[where] if by[first] > 0 else low[where]
            free[where] = False
            continue
        off = labels * margins - coef @ kernel  # the bias that each asks for, the same one if it is free
        off -= off[free].mean()
        asks = np.where(coef <= low, off, 0) + np.where(coef >= high, -off, 0)
        asks[free] = 0
        asking = np.flatnonzero(asks > SMALL)
        if not len(asking):
            break
        worst = asking[np.argsort(-asks[asking])]
        free[worst[: max(1, len(worst) // RELEASED)]] = True
    return coef


def _cost(free: Bools) -> float:
    return float(free.sum()) ** 3 / 3 + 2.0 * len(free) ** 2


def _newton(kernel: Floats, wanted: Floats, coef: Floats, free: Bools) -> Floats:
    """The change of the free coefficients that puts each on its margin but for a bias and keeps their sum.

    The first of them changes by what the others leave, which makes a kernel definite that is less a constant.
    """
    used = np.flatnonzero(free)
    off = (wanted - coef @ kernel)[used]
    of = kernel[np.ix_(used, used)]
    of -= of[:1].copy()  # in place: hundreds of megabytes
    of -= of[:, :1].copy()
    matrix = of[1:, 1:]
    matrix[np.diag_indices_from(matrix)] += JITTER * max(float(np.trace(matrix)), np.finfo(float).tiny)
    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    by = cho_solve(factor, off[1:] - off[0])
    return np.concatenate([[-by.sum()], by])
