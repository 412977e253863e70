"""Events: runs of frames that show one class, as the truth has them and as scores give them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from devcem.evaluation.entries import Bools, Floats
from devcem.evaluation.segments import Ints, runs


@dataclass(frozen=True, slots=True)
class Event:
    """Frames start <= ordinal < stop; `peak` is the first of those with the highest score."""

    start: int
    stop: int
    peak: int
    score: float

    def __len__(self) -> int:
        return self.stop - self.start


def true_events(truth: npt.ArrayLike, known: npt.ArrayLike | None = None) -> list[Event]:
    """Runs of true frames [T], each of score 1; the peak is the middle frame, the earlier of two.

    An unknown frame ends an event, whatever stands behind it: nobody has said that the gap shows the class,
    so true frames on both of its sides are two events. An event holds known frames alone.
    """
    told = np.asarray(truth)
    use = np.ones(told.shape, bool) if known is None else np.asarray(known).astype(bool)
    if told.ndim != 1 or told.shape != use.shape:
        raise ValueError(f"truth and known must be rows of one length, not {told.shape} and {use.shape}")
    if not np.isin(told[use], (0, 1)).all():
        raise ValueError("truth holds something other than 0 and 1 where it is known")
    starts, stops = runs(use & (told == 1))
    return [Event(a, b, (a + b - 1) // 2, 1.0) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]


def decode_events(
    scores: npt.ArrayLike, high: float, low: float | None = None, join: int = 0, shortest: int = 1
) -> list[Event]:
    """Events of one class from its frame scores [T], in order.

    An event begins where a score reaches *high* and spreads to both sides while scores are at least *low*
    (*high* if not given). Then events with fewer than *join* frames between them become one, then events
    shorter than *shortest* frames are dropped. A frame of score -inf belongs to no event of finite
    thresholds.
    """
    given = np.asarray(scores, np.float64)
    if given.ndim != 1 or np.isnan(given).any():
        raise ValueError(f"scores must be a row of numbers, not NaN, here of shape {given.shape}")
    starts, stops = decoded(given, high, low, join, shortest)
    peaks = [int(a + given[a:b].argmax()) for a, b in zip(starts, stops, strict=True)]
    return [
        Event(a, b, p, float(given[p]))
        for a, b, p in zip(starts.tolist(), stops.tolist(), peaks, strict=True)
    ]


def decoded(
    scores: Floats,
    high: float,
    low: float | None = None,
    join: int = 0,
    shortest: int = 1,
    known: Bools | None = None,
) -> tuple[Ints, Ints]:
    """Starts and stops of `decode_events`. Unknown frames belong to no event and are not joined across."""
    floor = high if low is None else low
    if not floor <= high:
        raise ValueError(f"low is {floor}, which is not at most high, {high}")
    if join < 0 or shortest < 1:
        raise ValueError(f"join must be at least 0 and shortest at least 1, not {join} and {shortest}")
    warm = scores >= floor if known is None else known & (scores >= floor)
    starts, stops = runs(warm)
    if len(starts):
        hot = np.concatenate(([0], np.cumsum(warm & (scores >= high), dtype=np.int64)))
        reached = hot[stops] > hot[starts]
        starts, stops = starts[reached], stops[reached]
    near = starts[1:] - stops[:-1] < join
    if known is not None and near.any():
        blind = np.concatenate(([0], np.cumsum(~known, dtype=np.int64)))
        near &= blind[starts[1:]] == blind[stops[:-1]]
    starts, stops = starts[np.r_[True, ~near][: len(starts)]], stops[np.r_[~near, True][: len(stops)]]
    long = stops - starts >= shortest
    return starts[long], stops[long]
