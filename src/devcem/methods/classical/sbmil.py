"""sbMIL (Bunescu and Mooney 2007): sMIL ranks the instances of the positive bags, the top share eta is
called positive, SIL follows.
"""

from __future__ import annotations

import numpy as np

from devcem.errors import UserError
from devcem.methods.classical.bags import BagIndex, Bools, Floats
from devcem.methods.classical.estimator import BagEstimator, Learnt
from devcem.methods.classical.machine import of_labels
from devcem.methods.classical.smil import against_means, bag_cost, bag_margins


class SbMIL(BagEstimator):
    """Balanced sparse MIL. eta: the expected share of positive instances in positive bags; at least one a
    bag on average.

    sMIL's sides are balanced as in its paper, SIL's weigh what class_weight says. A bag scores as its
    highest instance.
    """

    def __init__(
        self,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        C: float = 1.0,
        class_weight: str | dict[int, float] | None = None,
        tol: float = 1e-5,
        eta: float = 0.5,
    ) -> None:
        super().__init__(kernel, gamma, C, class_weight, tol)
        self.eta = eta

    def _learn(self, kernel: Floats, index: BagIndex, negative: float, positive: float) -> Learnt:
        if not 0 < self.eta <= 1:
            raise UserError(f"eta is {self.eta}", "SbMIL", "give a share above 0, at most 1")
        ranking, _ = against_means(
            kernel, index, self.C, bag_cost(index, self.C), bag_margins(index), self.tol
        )
        upper = np.where(index.in_positive, positive, negative)
        machine, found = of_labels(kernel, top_share(ranking.scores, index, self.eta), upper, self.tol)
        return Learnt(machine, [found.objective], [found.objective])


def top_share(scores: Floats, index: BagIndex, eta: float) -> Bools:
    """The round(eta * count) highest instances of positive bags, no fewer than there are bags, and all that
    tie with the last.
    """
    own = scores[index.in_positive]
    count = max(len(index.positives), round(eta * len(own)))
    top: Bools = index.in_positive & (scores >= np.sort(own)[-count])
    return top
