"""Candidate events of one class at every height of its scores, so that no threshold has to be chosen.

1. *Levels*: the scores of the 1st, 2nd, 3rd, 4th, 6th, 8th, 11th, 16th, ... (2 ** (j/2), rounded) highest
   frame of all segments together, and of the lowest frame above 0. A score of 0 or less calls nothing.
2. *Candidates*: at each level the runs of known frames that reach it. Those of a level lie within those of
   the level below: two candidates are apart, or one holds the other.
3. *Confidence*: how far a candidate stands out: its mean score less the mean of what flanks it, a quarter of
   its length (rounded up) on either side, of known frames of its segment; where there are none, less the mean
   of all known frames. Scores are first rounded to a multiple of a power of 2, of at most frames / 2 ** 50 of
   the largest, so that sums are exact and equal stretches tie. Its highest frame would be no confidence: it
   cannot tell a peak from the hill below it.
4. *Selection*: the most confident first (the longer of equals), each drops all that overlap it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from devcem.evaluation.entries import Bools, Floats
from devcem.evaluation.segments import Ints, Timeline


@dataclass(frozen=True)
class Candidates:
    """In no particular order, no two overlapping."""

    starts: Ints  # [C]
    stops: Ints  # [C]
    confidence: Floats  # [C]


def candidates(line: Timeline) -> Candidates:
    """The candidates that are left, by the rules at the head of this file."""
    places = np.flatnonzero(line.known & (line.scores > 0))
    nest: list[Candidates] = []  # the lowest level first
    if not len(places):
        return Candidates(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    confidence = _Confidence(line)
    for level in _levels(line.scores[places]):
        places = places[line.scores[places] >= level]
        gaps = np.flatnonzero(np.diff(places) > 1)
        starts, stops = places[np.r_[0, gaps + 1]], places[np.r_[gaps, -1]] + 1
        nest.append(Candidates(starts, stops, confidence(starts, stops)))
    chosen = _selected(nest)
    parts = [(c.starts[m], c.stops[m], c.confidence[m]) for c, m in zip(nest, chosen, strict=True)]
    return Candidates(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _levels(scores: Floats) -> Floats:
    """Distinct levels, rising."""
    steps = np.arange(2 * len(scores).bit_length() + 1)
    ranks = np.minimum(np.rint(2 ** (steps / 2)).astype(np.int64), len(scores))
    return np.unique(np.sort(scores)[-ranks])


class _Confidence:
    def __init__(self, line: Timeline) -> None:
        scale = int(np.frexp(np.abs(line.scores).max())[1])  # no score exceeds 2 ** scale
        self.scale = scale - (52 - len(line.scores).bit_length())
        whole = np.rint(np.ldexp(line.scores, -self.scale))
        self.sums = np.concatenate(([0.0], np.cumsum(whole)))  # whole numbers below 2 ** 53: exact
        self.counts = np.concatenate(([0], np.cumsum(line.known, dtype=np.int64)))
        self.firsts = line.firsts

    def __call__(self, starts: Ints, stops: Ints) -> Floats:
        segment = np.searchsorted(self.firsts, starts, "right") - 1
        flank = -(-(stops - starts) // 4)
        left = np.maximum(starts - flank, self.firsts[segment])
        right = np.minimum(stops + flank, self.firsts[segment + 1])
        inside = self.sums[stops] - self.sums[starts]
        around = self.sums[right] - self.sums[left] - inside
        frames = self.counts[right] - self.counts[left] - (stops - starts)
        mean = self.sums[-1] / self.counts[-1]
        outside = np.where(frames > 0, around / np.maximum(frames, 1), mean)
        contrast: Floats = np.ldexp(inside / (stops - starts) - outside, self.scale)
        return contrast


def _selected(nest: list[Candidates]) -> list[Bools]:
    """Which of each level stay. In a nest the rule comes to: one that is at least as confident as all within
    it stays, unless it lies within one that does; so it takes a walk up the levels and one down, whatever
    their size.
    """
    parents = [np.searchsorted(low.starts, high.starts, "right") - 1 for low, high in pairwise(nest)]
    within = [np.full(len(level.starts), -np.inf) for level in nest]  # the best confidence inside each
    for n in range(len(nest) - 1, 0, -1):
        first = np.flatnonzero(np.diff(parents[n - 1], prepend=-1))  # children of one parent stand together
        best = np.maximum(within[n], nest[n].confidence)
        within[n - 1][parents[n - 1][first]] = np.maximum.reduceat(best, first)
    held = np.zeros(len(nest[0].starts), bool)
    stay: list[Bools] = []
    for n, level in enumerate(nest):
        if n:
            held = (held | stay[-1])[parents[n - 1]]
        stay.append(~held & (level.confidence >= within[n]))
    return stay
