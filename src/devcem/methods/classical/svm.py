"""The convex step of every method: a support vector machine with a bound and a margin a sample, by libsvm.

    min  1/2 |w|^2 + sum_i c_i max(0, m_i - y_i f(x_i)),   f(x) = w x + b

has the dual  max  m a - 1/2 (y a) K (y a)  over  0 <= a_i <= c_i, y a = 0.

- All margins 1: libsvm's C-SVC, with c_i as the sample's weight.
- Other margins: libsvm's epsilon-SVR. Its loss is max(0, |t_i - f| - e); with targets t_i = y_i (m_i + e) one
  side of it is max(0, m_i - y_i f), the loss above, and the other begins at y_i f > m_i + 2 e. For a tube e
  so wide that no sample gets there (looked up in the solution, and widened if one does) it is the same.

libsvm stops at a violation of the optimality conditions, which bounds the duality gap only roughly, computes
in single precision, and crawls where C is high on a linear kernel. So its steps are limited, the gap is
measured, the active set is followed to its end here (polish.py), and only then libsvm is asked for more.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from devcem.methods.classical.polish import polished

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
ATTEMPTS = 4
COARSE, FINEST = 1e-5, 1e-7  # violations: below the latter libsvm counts rounding, and may not end
LIMIT = 30  # steps of libsvm a sample at the first attempt, ten times as many at each further one
SPARE = 0.1  # beyond the margin by this much, and a sample is expected to stay there
WORTH = 0.7  # of the samples: a warm start that keeps more saves nothing
TUBE = 64.0  # f moves between -1 and 1, more or less
CACHE = 200  # MB of kernel rows in single precision


class Plain(SVC):  # type: ignore[misc]
    def _warn_from_fit_status(self) -> None:
        """That its steps were used up is no news: the gap says what they led to."""


class Margins(SVR):  # type: ignore[misc]
    _warn_from_fit_status = Plain._warn_from_fit_status


@dataclass(frozen=True)
class Solution:
    coef: Floats  # [S] y a
    bias: float
    objective: float  # of the primal
    gap: float  # (primal - dual) / primal


def solve(
    kernel: Floats,
    labels: Floats,
    upper: Floats,
    margins: Floats | None,
    tol: float,
    near: Floats | None = None,
) -> Solution:
    """kernel [S,S], labels [S] of -1 and 1, upper [S] > 0, margins [S] or None for 1; relative gap <= tol.

    A warm start: *near* holds the scores [S] of a function that is close to the one sought. Samples that it
    puts well beyond their margins are left out, and come back if the solution does not.
    """
    wanted = np.ones(len(labels)) if margins is None else margins
    some = np.arange(len(labels)) if near is None else np.flatnonzero(labels * near < wanted + SPARE)
    warm = len(some) < WORTH * len(labels) and len(np.unique(labels[some])) == 2
    if not warm:
        some = np.arange(len(labels))
    violation = max(COARSE, tol * 2)
    attempt = 0
    while attempt < ATTEMPTS:
        coef = np.zeros(len(labels))
        part = _part(kernel, labels, upper, margins, some) if warm else (kernel, labels, upper, margins)
        coef[some] = _dual(*part, violation, attempt)
        del part  # hundreds of megabytes
        found, missing = judged(kernel, labels, upper, wanted, coef)
        left_out = np.setdiff1d(np.flatnonzero(missing > 0), some)
        if found.gap > tol and not len(left_out):
            found, missing = judged(
                kernel, labels, upper, wanted, polished(kernel, labels, upper, wanted, coef)
            )
        if found.gap <= tol:
            return found
        if len(left_out):
            some = np.union1d(some, left_out)
        else:
            violation, attempt = max(FINEST, violation / 10), attempt + 1
    warnings.warn(
        f"libsvm left a relative duality gap of {found.gap:.1e}, above tol={tol:g}: it has trouble with"
        " the size of the kernel's values, or of C; scale the features or ask for less",
        ConvergenceWarning,
        stacklevel=2,
    )
    return found


def _part(
    kernel: Floats, labels: Floats, upper: Floats, margins: Floats | None, some: Ints
) -> tuple[Floats, Floats, Floats, Floats | None]:
    return kernel[np.ix_(some, some)], labels[some], upper[some], None if margins is None else margins[some]


def judged(
    kernel: Floats, labels: Floats, upper: Floats, margins: Floats, coef: Floats
) -> tuple[Solution, Floats]:
    """With what each sample misses of its margin [S]."""
    used = np.flatnonzero(coef)
    scores = coef[used] @ kernel[used] if len(used) < len(coef) // 8 else kernel @ coef  # rows are copied
    bias = free_bias(scores, labels, upper, margins, labels * coef)
    norm = float(coef @ scores)
    missing = margins - labels * (scores + bias)
    primal = norm / 2 + float(upper @ np.maximum(0, missing))
    dual = float(margins @ (labels * coef)) - norm / 2
    return Solution(coef, bias, primal, (primal - dual) / max(primal, np.finfo(float).tiny)), missing


def free_bias(scores: Floats, labels: Floats, upper: Floats, margins: Floats, alpha: Floats) -> float:
    """The mean over unbounded support vectors, 0 < a < c, of what puts each on its margin.

    Without one, every b of an interval is optimal, between those that samples at a bound ask for: its middle.
    """
    edge = labels * margins - scores  # the bias that puts a sample on its margin
    none, full = alpha <= 1e-9 * upper, alpha >= (1 - 1e-9) * upper
    free = ~none & ~full
    if free.any():
        return float(edge[free].mean())
    at_least = (none & (labels > 0)) | (full & (labels < 0))
    low, high = edge[at_least], edge[~at_least]
    if not len(low) or not len(high):
        return float(high.min() if len(high) else low.max())
    return float((low.max() + high.min()) / 2)


def _dual(
    kernel: Floats, labels: Floats, upper: Floats, margins: Floats | None, violation: float, attempt: int
) -> Floats:
    """Shrinking is quick, but what it set aside is wrong where libsvm does not come to its end."""
    coef = np.zeros(len(labels))
    steps = LIMIT * 10**attempt * max(len(labels), 1000)
    told = {"tol": violation, "cache_size": CACHE, "max_iter": steps, "shrinking": not attempt}
    if margins is None:
        machine = Plain(kernel="precomputed", **told)
        machine.fit(kernel, labels, sample_weight=upper)
        coef[machine.support_] = machine.dual_coef_[0]
        return coef
    tube = TUBE
    while True:
        machine = Margins(kernel="precomputed", epsilon=tube, **told)
        machine.fit(kernel, labels * (margins + tube), sample_weight=upper)
        coef[:] = 0
        coef[machine.support_] = machine.dual_coef_[0]
        if (coef * labels >= 0).all():
            return coef
        tube *= 10
