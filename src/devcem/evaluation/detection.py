"""Are the events found? As ranked candidates (temporal mAP) and as decoded at a threshold.

A true event is a run of true frames (`true_events`). The overlap of two events is the frames that they share
over the frames that either has. A class without a true event has no figures (NaN) and does not enter the
macro mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from devcem.evaluation.candidates import candidates
from devcem.evaluation.entries import Floats, class_names
from devcem.evaluation.events import decoded
from devcem.evaluation.matching import Pairs, Spans, in_turn, most, overlapping, stretches
from devcem.evaluation.segments import Tables, Timeline, checked_segments, runs, timelines

OVERLAPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
SLACK = 1e-6  # seconds: time stamps are sums of rounded numbers


def temporal_map(
    truth: Tables,
    scores: Tables,
    known: Tables | None = None,
    overlaps: Sequence[float] = OVERLAPS,
    classes: Sequence[str] | None = None,
) -> pd.DataFrame:
    """A row a class and "macro": `events`, the average precision `ap@0.1` ... of finding them, and their
    `mean`.

    The candidates of `candidates.py`, over all segments, come by falling confidence; each takes the free true
    event that it overlaps most, if by at least the wanted overlap, and is wrong otherwise. Of equally
    confident candidates those with the larger overlap choose first, and all are called at once. AP is not
    interpolated: the mean over all true events of the precision at which each is found, 0 for one that is
    not.
    """
    _check(overlaps)
    tables = checked_segments(truth, scores, known)
    rows = [_ranked(line, overlaps) for line in timelines(tables)]
    columns = ["events", *(f"ap@{overlap:g}" for overlap in overlaps)]
    names = class_names(classes, len(rows))
    table = pd.DataFrame(rows, columns=columns, index=pd.Index(names, dtype=object, name="class"))
    table["mean"] = table[columns[1:]].mean(axis=1)
    table.loc["macro"] = [table["events"].sum(), *table[[*columns[1:], "mean"]].mean()]
    return table.astype({"events": int})


def event_detection(
    truth: Tables,
    scores: Tables,
    known: Tables | None,
    thresholds: npt.ArrayLike,
    overlaps: Sequence[float] = (0.1, 0.3, 0.5),
    tolerance_seconds: Sequence[float] = (1.0, 5.0),
    times: Sequence[npt.ArrayLike] | None = None,
    *,
    low: npt.ArrayLike | None = None,
    join: int = 0,
    shortest: int = 1,
    classes: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Events decoded at *thresholds* (and *low*; one number or [K]) by `decode_events`, a row a class and
    rule.

    The rules: overlap at least 0.1 ...; and with *times*, the seconds [T] of each segment's frames: the first
    frames (`start`) or the last frames (`stop`) lie within the tolerance, or the highest frame (`peak`) lies
    within the true event widened by it. `matched` is the largest number of pairs of a decoded and a true
    event that keep the rule, each event in one pair at most. Precision is `matched` over `called`, 0 where
    nothing is called; recall is over `events`; F1 is their harmonic mean.
    """
    _check(overlaps)
    tables = checked_segments(truth, scores, known)
    count = tables[0][0].shape[1]
    high = np.broadcast_to(np.asarray(thresholds, np.float64), (count,))
    floor = high if low is None else np.broadcast_to(np.asarray(low, np.float64), (count,))
    seconds = None if times is None else _seconds(times, [len(told) for told, _, _ in tables])
    rows = []
    for name, line, bar, base in zip(
        class_names(classes, count), timelines(tables), high, floor, strict=True
    ):
        events = runs(line.known & line.truth)
        called = decoded(line.scores, bar, base, join, shortest, line.known)
        ours, theirs, share = overlapping(called, events)
        rules = [(f"overlap {o:g}", (ours[share >= o], theirs[share >= o])) for o in overlaps]
        if seconds is not None:
            rules += _timed(line, called, events, tolerance_seconds, seconds)
        for rule, pairs in rules:
            counts = (len(events[0]), len(called[0]), most(pairs))
            rows.append((name, rule, *counts, *_figures(*counts)))
    columns = ["class", "rule", "events", "called", "matched", "precision", "recall", "f1"]
    return _with_macro(pd.DataFrame(rows, columns=columns))


def _check(overlaps: Sequence[float]) -> None:
    if not all(0 < overlap <= 1 for overlap in overlaps):
        raise ValueError(f"an overlap must lie above 0 and be at most 1, not {list(overlaps)}")


def _ranked(line: Timeline, overlaps: Sequence[float]) -> list[float]:
    """The number of true events and the AP at each overlap."""
    events = runs(line.known & line.truth)
    total = len(events[0])
    if not total:
        return [0, *[float("nan")] * len(overlaps)]
    found = candidates(line)
    ours, theirs, share = overlapping((found.starts, found.stops), events)
    order = np.lexsort((theirs, -share, -found.confidence[ours]))
    ours, theirs, share = ours[order], theirs[order], share[order]
    rising = np.sort(found.confidence)
    values: list[float] = [total]
    for overlap in overlaps:
        able = share >= overlap
        hits = np.sort(found.confidence[in_turn((ours[able], theirs[able]))])
        called = len(rising) - np.searchsorted(rising, hits)  # how many are as confident as each hit
        true = len(hits) - np.searchsorted(hits, hits)
        values.append(float(np.sum(true / called) / total))
    return values


def _seconds(times: Sequence[npt.ArrayLike], lengths: list[int]) -> list[Floats]:
    rows = [np.asarray(row, np.float64) for row in times]
    if [row.shape for row in rows] != [(length,) for length in lengths]:
        raise ValueError("times must have one row a segment, one entry a frame")
    if not all(np.isfinite(row).all() and (np.diff(row) >= 0).all() for row in rows):
        raise ValueError("times must be finite seconds that never fall")
    return rows


def _timed(
    line: Timeline, called: Spans, events: Spans, tolerances: Sequence[float], seconds: list[Floats]
) -> list[tuple[str, Pairs]]:
    """The pairs of each rule in seconds."""
    if any(not tolerance >= 0 for tolerance in tolerances):
        raise ValueError(f"a tolerance must be at least 0 seconds, not {list(tolerances)}")
    clock, apart = np.zeros(len(line.scores)), 0.0
    widest = 2 * max(tolerances, default=0) + 1  # so that no tolerance reaches from one segment into another
    for first, row in zip(line.firsts[:-1].tolist(), seconds, strict=True):
        if len(row):
            clock[first : first + len(row)] = row - row[0] + apart
            apart += row[-1] - row[0] + widest
    peaks = [a + int(line.scores[a:b].argmax()) for a, b in zip(*called, strict=True)]
    ends = {
        "start": (clock[called[0]], clock[events[0]]),
        "stop": (clock[called[1] - 1], clock[events[1] - 1]),
    }
    peak, told = clock[np.array(peaks, np.int64)], []
    for tolerance in tolerances:
        reach = tolerance + SLACK
        for name, (mine, true) in ends.items():
            near = stretches(
                np.searchsorted(true, mine - reach), np.searchsorted(true, mine + reach, "right")
            )
            told.append((f"{name} {tolerance:g} s", near))
        starts, stops = clock[events[0]] - reach, clock[events[1] - 1] + reach
        near = stretches(np.searchsorted(stops, peak), np.searchsorted(starts, peak, "right"))
        told.append((f"peak {tolerance:g} s", near))
    return told


def _figures(events: int, called: int, matched: int) -> tuple[float, float, float]:
    if not events:
        return (float("nan"),) * 3
    return matched / called if called else 0.0, matched / events, 2 * matched / (called + events)


def _with_macro(table: pd.DataFrame) -> pd.DataFrame:
    """Indexed by class and rule; macro counts are sums, macro figures means over classes with events."""
    counts, ratios = ["events", "called", "matched"], ["precision", "recall", "f1"]
    groups = table.groupby("rule", sort=False)
    macro = pd.concat([groups[counts].sum(), groups[ratios].mean()], axis=1).reset_index()
    macro.insert(0, "class", "macro")
    table["class"] = table["class"].astype(object)
    return pd.concat([table, macro], ignore_index=True).set_index(["class", "rule"])
