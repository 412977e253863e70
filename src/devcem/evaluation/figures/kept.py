"""How much a reader still has to look at: events found by the share of frames that is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from devcem.evaluation.entries import Floats
from devcem.evaluation.figures.page import GREY, looks, page, styled, write

LEAST = 0.001  # of the frames, the left edge
LINES = (0.90, 0.95, 0.99)
Curve = tuple[npt.ArrayLike, npt.ArrayLike]


@styled
def kept_plot(
    stem: str | Path, curves: Mapping[str, Curve], *, title: str = "", notices: Sequence[str] = ()
) -> list[Path]:
    """Writes STEM.svg and STEM.png. A curve a method: shares kept [P], rising, and shares found [P], in 0..1.

    Found is a step: what is found at a share kept holds until the next one. The legend says what is kept
    where 95% are found.
    """
    checked = {name: _checked(name, curve) for name, curve in curves.items()}
    if not checked:
        raise ValueError("no curve to draw")
    labels = {name: f"{name}  {_share(kept_at(*curve, 0.95))}" for name, curve in checked.items()}
    key = "Frames are kept in the order of their scores. Lines: 90, 95 and 99% of the events."
    across = 6.2 + 0.5 + 0.06 * max(map(len, labels.values()))
    figure = page(across, max(4.2, 0.165 * len(labels) + 0.5), title, [key], notices)
    axis = figure.subplots()
    for look, (name, (kept, found)) in zip(looks(len(checked)), checked.items(), strict=True):
        axis.step(
            np.r_[LEAST / 10, np.maximum(kept, LEAST / 10), 1],
            np.r_[0, found, found[-1]],
            where="post",
            color=look.colour,
            linestyle=look.dash,
            linewidth=1.3,
            label=labels[name],
        )
    for line in LINES:
        axis.axhline(line, color=GREY, linewidth=0.6, linestyle=":")
    axis.set_xscale("log")
    axis.set_xlim(LEAST, 1)
    axis.set_ylim(0, 1.01)
    axis.set_xticks([0.001, 0.01, 0.1, 1], ["0.1%", "1%", "10%", "100%"])
    axis.set_yticks([0, 0.2, 0.4, 0.6, 0.8, *LINES], ["0%", "20%", "40%", "60%", "80%", "90%", "95%", "99%"])
    axis.set(xlabel="frames kept (log scale)", ylabel="events found")
    figure.legend(
        *axis.get_legend_handles_labels(),
        loc="outside right upper",
        title="frames kept at 95% found",
        alignment="left",
        handlelength=2.6,
    )
    return write(figure, stem, title)


def kept_at(kept: npt.ArrayLike, found: npt.ArrayLike, wished: float) -> float:
    """The least share kept with which the *wished* share is found; NaN where it never is."""
    reached = np.flatnonzero(np.asarray(found, np.float64) >= wished)
    return float(np.asarray(kept, np.float64)[reached[0]]) if len(reached) else float("nan")


def _checked(name: str, curve: Curve) -> tuple[Floats, Floats]:
    kept, found = (np.asarray(part, np.float64) for part in curve)
    if kept.ndim != 1 or kept.shape != found.shape or not len(kept):
        raise ValueError(f"{name}: shares of shape {kept.shape} and {found.shape}, where two [P] were due")
    if not all(((part >= 0) & (part <= 1)).all() for part in (kept, found)) or (np.diff(kept) < 0).any():
        raise ValueError(f"{name}: shares must lie in 0..1, those kept in rising order")
    return kept, found


def _share(value: float) -> str:
    return "never" if np.isnan(value) else f"{100 * value:.2g}%" if value < 0.995 else "100%"
