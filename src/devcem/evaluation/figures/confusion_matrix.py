"""Confusion matrices of several methods side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from devcem.evaluation.confusion import NONE, row_shares
from devcem.evaluation.entries import Floats
from devcem.evaluation.figures.page import GREY, page, styled, write

ABREAST, CELL = 3, 0.28  # panels a row; inches
SAID = (
    "Cells: percent of the videos with the true label of the row, their number in brackets. A missed "
    "label is spread evenly over the classes falsely called in its video, or lies under 'none'; row 'none' "
    "counts false calls beside which no label was missed. The diagonal is recall."
)


@styled
def confusion(
    stem: str | Path,
    matrices: Mapping[str, npt.ArrayLike],
    classes: Sequence[str],
    *,
    title: str = "",
    notices: Sequence[str] = (),
) -> list[Path]:
    """Writes STEM.svg and STEM.png. A matrix a method, [K+1,K+1] of `multilabel_confusion` or [K,K] without
    "none"; rows true, columns called."""
    counts = {name: np.asarray(matrix, np.float64) for name, matrix in matrices.items()}
    if not counts:
        raise ValueError("no matrix to draw")
    side = len(next(iter(counts.values())))
    if side not in (len(classes), len(classes) + 1) or any(m.shape != (side, side) for m in counts.values()):
        raise ValueError(f"matrices of shape {[m.shape for m in counts.values()]} for {len(classes)} classes")
    names = [*classes, NONE][:side]
    across = min(len(counts), ABREAST)
    down = math.ceil(len(counts) / across)
    rows = _counted(names[: len(classes)], counts) + names[len(classes) :]
    letters, more = (0.062 * max(map(len, longest)) for longest in (names, rows))  # inches
    width = across * (CELL * side + 0.25) + more + 0.7
    said = SAID if side > len(classes) else SAID.split(".")[0] + "."
    figure = page(max(width, 4), down * (CELL * side + letters + 0.7), title, [said], notices)
    axes = figure.subplots(down, across, squeeze=False).ravel()
    for index, (axis, (name, matrix)) in enumerate(zip(axes, counts.items(), strict=False)):
        _draw(axis, matrix, len(classes))
        axis.set_title(name, fontweight="bold")
        axis.set_xticks(range(side), names, rotation=90)
        axis.set_xlabel("called")
        axis.set_yticks(range(side), rows if index % across == 0 else [""] * side)
        if index % across == 0:
            axis.set_ylabel("true")
    for axis in axes[len(counts) :]:
        axis.set_axis_off()
    return write(figure, stem, title)


def _counted(classes: list[str], matrices: Mapping[str, Floats]) -> list[str]:
    """Names with the videos that have the label, where all matrices agree on these."""
    sums = np.array([matrix.sum(axis=1)[: len(classes)] for matrix in matrices.values()])
    if not np.allclose(sums, sums[0]):
        return classes
    return [f"{name} ({count:.0f})" for name, count in zip(classes, sums[0], strict=True)]


def _draw(axis: Axes, matrix: Floats, classes: int) -> None:
    """Shares of the true rows in blue, with their percent; row "none" as plain counts."""
    shares = np.nan_to_num(row_shares(matrix[:classes]))
    shown = np.zeros(matrix.shape)
    shown[:classes] = shares
    axis.imshow(shown, cmap="Blues", vmin=0, vmax=1)
    for i, j in np.ndindex(*matrix.shape):
        value = matrix[i, j] if i == classes else 100 * shown[i, j]
        if round(float(value)):
            dark = shown[i, j] > 0.6
            colour = "white" if dark else GREY if i == classes else "black"
            weight = "bold" if i == j else "normal"
            axis.text(
                j, i, f"{value:.0f}", ha="center", va="center", fontsize=6, color=colour, fontweight=weight
            )
    for edge in (classes - 0.5,) if len(matrix) > classes else ():
        axis.axhline(edge, color=GREY, linewidth=0.8)
        axis.axvline(edge, color=GREY, linewidth=0.8)
    axis.set_xticks(np.arange(len(matrix) - 1) + 0.5, minor=True)
    axis.set_yticks(np.arange(len(matrix) - 1) + 0.5, minor=True)
    axis.grid(which="minor", color="#eeeeee", linewidth=0.4)
    axis.tick_params(which="both", length=0)
    axis.spines[:].set(visible=True, linewidth=0.5, color=GREY)
