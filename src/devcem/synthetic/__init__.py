"""A synthetic gut: capsule video whose truth is known, rendered offline.

In: a seed and an order. Out: a dataset folder of tagged segments (`write_collection`) or of one whole exam
(`write_exam`), with the truth of every frame. Below that: a `Scene` in words becomes frames by `render`, and
`coverage` and `visible` say what they show.
"""

from devcem.synthetic.collection import Order, write_collection
from devcem.synthetic.exam import ExamOrder, survey, write_exam
from devcem.synthetic.render import VISIBLE, coverage, render, visible
from devcem.synthetic.scene import Finding, Path, Patient, Scene
from devcem.synthetic.table1 import PRESETS

__all__ = [
    "PRESETS",
    "VISIBLE",
    "ExamOrder",
    "Finding",
    "Order",
    "Path",
    "Patient",
    "Scene",
    "coverage",
    "render",
    "survey",
    "visible",
    "write_collection",
    "write_exam",
]
