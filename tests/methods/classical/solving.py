"""Random small problems, and a general solver of quadratic programs that knows nothing of support vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, minimize

Floats = npt.NDArray[np.float64]


def random_bags(
    seed: int, bags: int = 12, width: int = 3, most: int = 5
) -> tuple[list[Floats], npt.NDArray[np.int64]]:
    """Bags of 1 to *most* instances; about a third of a positive bag's lie elsewhere."""
    rng = np.random.default_rng(seed)
    y = np.arange(bags) % 2
    made = []
    for label in y:
        bag = rng.normal(size=(rng.integers(1, most + 1), width))
        shown = rng.random(len(bag)) < 1 / 3
        shown[rng.integers(len(bag))] = True
        bag[shown] += 1.5 * label
        made.append(bag)
    return made, y


def general_minimum(q: Floats, c: Floats, upper: float | Floats, rows: Floats, high: Floats) -> float:
    """min 1/2 x Q x + c x over 0 <= x <= upper, rows[0] x = 0, rows[1:] x <= high, by scipy's SLSQP."""
    found = minimize(
        lambda x: x @ q @ x / 2 + c @ x,
        np.zeros(len(c)),
        jac=lambda x: q @ x + c,
        bounds=Bounds(0, upper),
        constraints=[
            {"type": "eq", "fun": lambda x: rows[0] @ x, "jac": lambda _: rows[0]},
            {"type": "ineq", "fun": lambda x: high - rows[1:] @ x, "jac": lambda _: -rows[1:]},
        ][: 1 + (len(rows) > 1)],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 3000},
    )
    assert found.status in (0, 8), found.message  # 8: no step lowers it any more
    return float(found.fun)
