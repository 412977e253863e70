"""What five seeds say together, and how sure a figure on few bags is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
SEEDS = range(5)  # of every result in docs/results.md: fixed before the first run


def spread(values: Sequence[float]) -> str:
    """Mean and standard deviation over seeds (n - 1 in the denominator)."""
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}"


def each(values: Sequence[float]) -> str:
    return " ".join(f"{value:.3f}" for value in values)


def interval(figure: Callable[[npt.NDArray[np.int64]], float], bags: int, draws: int = 2000) -> str:
    """95% bootstrap interval of a *figure* of drawn bags: what another set of as many bags would show."""
    rng = np.random.default_rng(0)
    values = [figure(rng.integers(bags, size=bags)) for _ in range(draws)]
    low, high = np.percentile(values, [2.5, 97.5])
    return f"{low:.3f}-{high:.3f}"
