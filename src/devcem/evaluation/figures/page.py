"""What all figures share: colours, markers, the notice at the foot, and the two files that are written."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.figure import Figure

from devcem.evaluation.strip import NOTICE
from devcem.files import writing

# Okabe and Ito's colours, told apart by all kinds of colour sight; their yellow is too pale for a line.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
YELLOW, GREY, PALE = "#F0E442", "#6b6b6b", "#d9d9d9"
MARKERS = "os^DvPX<>*p"
DASHES = ("-", "--", "-.", ":")
STYLE: dict[Any, Any] = {  # whatever a user's own matplotlibrc says
    "font.family": "DejaVu Sans",
    "figure.dpi": 100,
    "font.size": 8,
    "hatch.linewidth": 0.5,
    "axes.labelsize": 8,
    "axes.titlesize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "text.parse_math": False,  # a dollar sign in a class name is a dollar sign
    "text.usetex": False,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "devcem",
}
LETTERS = 18  # of the small print, an inch
PNG_DPI, PICTURE_DPI = 200, 300  # PICTURE_DPI: of pictures within the SVG

styled = style.context(["default", STYLE])  # decorates a function that draws


@dataclass(frozen=True)
class Look:
    colour: str
    marker: str
    dash: str


def looks(count: int) -> list[Look]:
    """One look for each of *count* methods, in their order; the markers, or the dashes, differ as well."""
    cycles = (itertools.cycle(part) for part in (PALETTE, MARKERS, DASHES))
    return [Look(*look) for look in itertools.islice(zip(*cycles, strict=False), count)]


def page(
    width: float, height: float, title: str, key: Sequence[str] = (), notices: Sequence[str] = ()
) -> Figure:
    """A figure in inches with *title* on top, and in small print at its foot the *key* and the *notices*.

    The height is that of what is drawn: title and small print add to it.
    """
    head = textwrap.wrap(title, int(width * 11))
    foot = small_print(key, notices, width)
    tall = height + 0.2 * len(head) + 0.13 * len(foot) + 0.1
    figure = Figure(figsize=(round(width, 2), round(tall, 2)), layout="constrained")
    if head:
        figure.suptitle("\n".join(head), x=0.01, ha="left", fontsize=10)
    figure.supxlabel("\n".join(foot), x=0.01, ha="left", fontsize=6.5, color=GREY, linespacing=1.3)
    return figure


def small_print(key: Sequence[str], notices: Sequence[str], width: float) -> list[str]:
    """Lines for a foot of *width* inches: the key, then the notices, ours among them."""
    ours = () if any(NOTICE in text for text in notices) else (NOTICE,)
    parts = (" ".join(filter(None, part)) for part in (key, (*notices, *ours)))
    return [line for part in parts for line in textwrap.wrap(part, int(width * LETTERS))]


def write(figure: Figure, stem: str | Path, title: str = "") -> list[Path]:
    """STEM.svg and STEM.png, the same bytes for the same figure."""
    stem = Path(stem)
    about = {"Date": None, "Creator": None, "Description": NOTICE, **({"Title": title} if title else {})}
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (
        ("svg", {"dpi": PICTURE_DPI, "metadata": about}),
        ("png", {"dpi": PNG_DPI, "metadata": {"Software": None, "Description": NOTICE}}),
    )
    written = []
    with style.context(["default", STYLE]):  # whoever calls this may not be styled
        for kind, options in kinds:
            path = stem.with_name(f"{stem.name}.{kind}")
            with writing(path, "wb") as file:
                figure.savefig(file, format=kind, **options)
            written.append(path)
    return written
