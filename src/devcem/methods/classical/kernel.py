"""How alike instances are: one matrix by BLAS, made in place, that serves every class."""

from __future__ import annotations

import warnings
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from devcem.errors import UserError

Floats = npt.NDArray[np.floating]
Kernel = Literal["linear", "rbf"]
BLOCK = 1 << 22  # entries that are worked on at a time: 32 MB of float64
ALIKE = 1e-3  # a mean similarity below this leaves nothing to generalise by


def scale_gamma(instances: Floats) -> float:
    """1 / (D * variance of all entries), scikit-learn's `scale`; 1 where all entries are equal."""
    variance = float(instances.var(dtype=np.float64))
    return 1.0 / (instances.shape[1] * variance) if variance > 0 else 1.0


def kernel_matrix(
    x: Floats,
    y: Floats | None,
    kind: str,
    gamma: float = 1.0,
    *,
    dtype: npt.DTypeLike = np.float64,
) -> Floats:
    """x [T,D], y [M,D] -> [T,M]; y None stands for x itself, which halves the work and checks gamma.

    float64 by default: libsvm takes nothing else, and distances from norms and products cancel in float32.
    """
    if kind not in get_args(Kernel):
        raise UserError(f"no kernel {kind!r}", remedy=f"choose one of {', '.join(get_args(Kernel))}")
    left = np.ascontiguousarray(x, dtype)
    right = left if y is None else np.ascontiguousarray(y, dtype)
    found = np.empty((len(left), len(right)), dtype)
    np.matmul(left, right.T, out=found)
    if kind == "rbf":
        _gaussian(found, squares(left), squares(right), gamma)
    if y is None:
        np.fill_diagonal(found, 1.0 if kind == "rbf" else squares(left))
        if kind == "rbf":
            warn_of_identity(found, gamma)
    return found


def squares(x: Floats) -> Floats:
    found: Floats = np.einsum("td,td->t", x, x)
    return found


def warn_of_identity(kernel: Floats, gamma: float) -> None:
    """Where no instance resembles another, an SVM learns its training bags by heart and nothing else."""
    count = len(kernel)
    if count < 2:
        return
    alike = (float(kernel.sum()) - count) / (count * (count - 1))
    if alike < ALIKE:
        warnings.warn(
            f"the kernel is nearly the identity: at gamma={gamma:g} two instances are {alike:.1e} alike on"
            " average, so that nothing can be learnt from one about another; use gamma='scale'",
            UserWarning,
            stacklevel=2,
        )


def _gaussian(products: Floats, rows: Floats, columns: Floats, gamma: float) -> None:
    """Inner products into exp(-gamma |x - y|^2), in place and a block of rows at a time."""
    step = max(1, BLOCK // max(1, len(columns)))
    for start in range(0, len(products), step):
        block = products[start : start + step]
        block *= -2
        block += rows[start : start + step, None]
        block += columns
        np.maximum(block, 0, out=block)
        block *= -gamma
        np.exp(block, out=block)
