"""Figures of a quality to put into a paper.

Enters: arrays, tables and a path stem. Leaves: STEM.svg with text as text and STEM.png, the same bytes for
the same input; of a video an MP4 or AVI. Colours are told apart by all kinds of colour sight, and the notice
stands in every picture. A method looks the same in all figures that are given the methods in one order.
"""

from devcem.evaluation.figures.bars import class_bars
from devcem.evaluation.figures.confusion_matrix import confusion
from devcem.evaluation.figures.kept import kept_at, kept_plot
from devcem.evaluation.figures.reliability import reliability_plot
from devcem.evaluation.figures.scattering import scatter
from devcem.evaluation.figures.strips import attention_strips
from devcem.evaluation.figures.together import cooccurrence
from devcem.evaluation.figures.video import side_by_side

__all__ = [
    "attention_strips",
    "class_bars",
    "confusion",
    "cooccurrence",
    "kept_at",
    "kept_plot",
    "reliability_plot",
    "scatter",
    "side_by_side",
]
