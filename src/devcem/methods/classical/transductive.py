"""What MissSVM and stMIL share: an instance of a positive bag pays for being near the border, on either side.

    min  1/2 |w|^2 + C sum_neg max(0, 1 + f(x_i))
                   + C Ln/Xp sum_B max(0, m_B - f(B)) + C Ln/Lp sum_pos max(0, 1 - |f(x_i)|)

Ln negative instances, Xp positive bags with Lp instances: each sum weighs the same. The last term is
min(xi+, xi-), the smaller of the slacks that the labels + and - would cost. f(B) is the bag's mean for
stMIL, its maximum for MissSVM.

Two terms are not convex, and both are minima of convex ones: max(0, m - max_i f_i) = min_i max(0, m - f_i),
and min(xi+, xi-). A *choice*, an instance to stand for each bag and a label for each instance of a positive
bag, picks one from each minimum; the best choice for the present f touches the objective there, any choice
lies above it. With the choice made, what is left is an SVM with a bound a sample, of three kinds of sample:

    sample                           label             bound        margin
    negative instance                -1                C            1
    instance of a positive bag       as chosen         C Ln/Lp      1
    positive bag: witness, or mean   +1                C Ln/Xp      m_B

which libsvm solves exactly (svm.py). A witness is in it twice, once for its bag and once for itself.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from devcem.methods.classical.bags import BagIndex, Bools, Floats
from devcem.methods.classical.descent import Choice, Problem
from devcem.methods.classical.gram import Gram
from devcem.methods.classical.machine import Machine, hinge, signs
from devcem.methods.classical.smil import against_means, bag_cost
from devcem.methods.classical.svm import solve


class TransductiveProblem(Problem):
    def __init__(
        self,
        kernel: Floats,
        index: BagIndex,
        negative: float,
        positive: float,
        unlabelled: float,
        margins: Floats,
        witnesses: bool,
        tol: float,
    ) -> None:
        """margins [positive bags]; *witnesses* or means; the three costs before the sums are balanced."""
        self.kernel, self.index, self.margins, self.witnesses, self.tol = (
            kernel,
            index,
            margins,
            witnesses,
            tol,
        )
        self.negative = negative
        self.bag = bag_cost(index, positive)
        self.own = unlabelled * len(index.negatives) / int(index.in_positive.sum())
        self.gram: Gram | None = None
        self.near: Floats | None = None
        instances = np.where(index.in_positive, self.own, negative)
        self.upper = np.concatenate([instances, np.full(len(margins), self.bag)])
        wanted = np.concatenate([np.ones(len(kernel)), margins])
        self.wanted = wanted if (wanted != 1).any() else None

    def start(self, rng: np.random.Generator | None) -> Machine:
        """Bags by their means, and no say for single instances; at random, mixtures and labels are drawn."""
        if rng is None:
            found = against_means(self.kernel, self.index, self.negative, self.bag, self.margins, self.tol)
            self.near = found[0].scores
            return found[0]
        points = self.index.mixtures(rng if self.witnesses else None)
        labels = rng.integers(2, size=len(self.kernel)).astype(bool) & self.index.in_positive
        return self._solved(points, labels)

    def choose(self, scores: Floats) -> Choice:
        """A label an instance [M], then where there are witnesses the witness of each positive bag."""
        labels = (self.index.in_positive & (scores > 0)).astype(np.int64)
        return np.concatenate([labels, self.index.highest(scores)]) if self.witnesses else labels

    def solve(self, choice: Choice) -> Machine:
        count = len(self.kernel)
        points = self.index.chosen(choice[count:]) if self.witnesses else self.index.mixtures()
        return self._solved(points, choice[:count] > 0)

    def objective(self, machine: Machine) -> float:
        index, scores = self.index, machine.scores
        bags = index.pooled(scores, "max" if self.witnesses else "mean")[index.positive]
        return (
            machine.norm
            + self.negative * float(hinge(-scores[~index.in_positive]).sum())
            + self.bag * float(np.maximum(0, self.margins - bags).sum())
            + self.own * float(hinge(np.abs(scores[index.in_positive])).sum())
        )

    def _solved(self, points: sparse.csr_array, labels: Bools) -> Machine:
        if self.gram is None:
            self.gram = Gram(self.kernel, np.arange(len(self.kernel)), points)
        elif self.witnesses:
            self.gram.put(points)
        asked = np.concatenate([signs(labels), np.ones(len(self.margins))])
        near = None if self.near is None else np.concatenate([self.near, points @ self.near])
        found = solve(self.gram.matrix, asked, self.upper, self.wanted, self.tol, near)
        machine = Machine.on_samples(self.gram, found)
        self.near = machine.scores
        return machine
