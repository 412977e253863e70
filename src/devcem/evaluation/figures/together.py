"""Which classes occur in the same videos."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from devcem.evaluation.figures.page import GREY, page, styled, write

CELL = 0.3  # inches


@styled
def cooccurrence(
    stem: str | Path,
    together: npt.ArrayLike,
    classes: Sequence[str],
    *,
    title: str = "",
    notices: Sequence[str] = (),
) -> list[Path]:
    """Writes STEM.svg and STEM.png. *together* [K,K]: videos that carry both classes, one class on the
    diagonal."""
    counts = np.asarray(together)
    side = len(classes)
    if counts.shape != (side, side) or not side:
        raise ValueError(f"a matrix of shape {counts.shape} for {side} classes")
    letters = 0.062 * max(map(len, classes))
    key = "Videos that carry both classes; on the diagonal, in grey, those that carry the one."
    inches = CELL * side + letters + 0.3
    figure = page(max(inches + 0.2, 4), inches, title, [key], notices)
    axis = figure.subplots()
    pairs = np.where(np.eye(side, dtype=bool), 0, counts)  # colour shows pairs, not class sizes
    top = max(float(pairs.max()), 1.0)
    axis.imshow(pairs, cmap="Blues", vmin=0, vmax=top)
    for i, j in np.argwhere(counts != 0).tolist():
        colour = GREY if i == j else "white" if pairs[i, j] > 0.6 * top else "black"
        axis.text(j, i, f"{counts[i, j]:g}", ha="center", va="center", fontsize=6.5, color=colour)
    axis.set_xticks(range(side), classes, rotation=90)
    axis.set_yticks(range(side), classes)
    axis.set_xticks(np.arange(side - 1) + 0.5, minor=True)
    axis.set_yticks(np.arange(side - 1) + 0.5, minor=True)
    axis.grid(which="minor", color="#eeeeee", linewidth=0.4)
    axis.tick_params(which="both", length=0)
    axis.spines[:].set(visible=True, linewidth=0.5, color=GREY)
    return write(figure, stem, title)
