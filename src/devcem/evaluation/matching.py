"""Pairs of events of two lists, and how many of them can stand at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from devcem.evaluation.entries import Floats
from devcem.evaluation.segments import Ints

Spans = tuple[Ints, Ints]  # starts and stops
Pairs = tuple[Ints, Ints]  # places in one list and in the other


def overlapping(ours: Spans, theirs: Spans) -> tuple[Ints, Ints, Floats]:
    """Pairs that share a frame, and the frames that both have over those that either has. *theirs* are apart
    and in order."""
    left, right = stretches(
        np.searchsorted(theirs[1], ours[0], "right"), np.searchsorted(theirs[0], ours[1], "left")
    )
    starts, stops = ours[0][left], ours[1][left]
    shared = np.minimum(stops, theirs[1][right]) - np.maximum(starts, theirs[0][right])
    either = (stops - starts) + (theirs[1][right] - theirs[0][right]) - shared
    return left, right, shared / either


def stretches(first: npt.NDArray[np.intp], stop: npt.NDArray[np.intp]) -> Pairs:
    """Each place n of *first* with all of first[n] .. stop[n] - 1."""
    counts = np.maximum(stop - first, 0)
    left = np.repeat(np.arange(len(first)), counts)
    begun = np.cumsum(counts) - counts
    return left, np.arange(len(left)) - begun[left] + first[left]


def in_turn(pairs: Pairs) -> Ints:
    """Which of ours get a partner, when each pair in the order given is made if both are still free."""
    hits: set[int] = set()
    taken: set[int] = set()
    for our, their in zip(*(side.tolist() for side in pairs), strict=True):
        if our not in hits and their not in taken:
            hits.add(our)
            taken.add(their)
    return np.array(sorted(hits), np.int64)


def most(pairs: Pairs) -> int:
    """The largest number of pairs in which no event occurs twice."""
    ours, theirs = pairs
    if not len(ours):
        return 0
    sides = [np.unique(side, return_inverse=True)[1] for side in (ours, theirs)]
    graph = csr_array((np.ones(len(ours), np.int8), (sides[0], sides[1])))
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())
