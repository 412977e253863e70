"""stMIL (Bunescu and Mooney 2007): sMIL, and a transductive term that keeps the instances of positive bags
off the border.

The objective and its convex steps are written out in transductive.py, with f(B) the bag's mean and m_B =
2/|B| - 1 (smil.py). It starts at sMIL.
"""

from __future__ import annotations

from devcem.methods.classical.bags import BagIndex, Floats
from devcem.methods.classical.descent import Descending, Problem
from devcem.methods.classical.smil import bag_margins
from devcem.methods.classical.transductive import TransductiveProblem


class StMIL(Descending):
    """Sparse transductive MIL. A bag scores as the mean of its instances, by the averaged set kernel."""

    pooling = "mean"
    balances = True

    def _problem(self, kernel: Floats, index: BagIndex, negative: float, positive: float) -> Problem:
        margins = bag_margins(index)
        return TransductiveProblem(kernel, index, negative, positive, self.C, margins, False, self.tol)
