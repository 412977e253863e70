"""How many frames must be looked at until the events are seen: the frames that score highest, over all
segments.

An event is found once one of its frames is kept, so its highest frame decides. Frames of equal score are kept
together. A share of E events means the fewest that make it up: 90% of 11 is 10.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from devcem.evaluation.entries import Bools, Floats, class_names
from devcem.evaluation.segments import (
    Entries,
    Ints,
    Tables,
    Timeline,
    checked_segments,
    runs,
    timeline,
    timelines,
)

Lengths = Sequence[tuple[int, int | None]]  # first and last, both inclusive
LENGTHS: Lengths = ((1, 3), (4, 8), (9, 30), (31, None))
ANY = "any pathology"


def frames_kept(
    truth: Tables,
    scores: Tables,
    known: Tables | None = None,
    found: Sequence[float] = (0.9, 0.95, 0.99),
    classes: Sequence[str] | None = None,
    lengths: Lengths = LENGTHS,
    *,
    pathologies: Sequence[int] | None = None,
) -> pd.DataFrame:
    """A row a class and event length, indexed by both: `events`, and the percent of known frames that is kept
    once the share *found* of them is found (`kept@90%` ...); NaN without events.

    Length "all" comes first; a row like "4-8" asks for the events of 4 to 8 frames alone, while frames are
    still kept from all. "macro" is the mean over the classes that have such events. With *pathologies*,
    numbers of classes, a row "any pathology" follows, of the frames as `any_of` makes them.
    """
    if not all(0 < share <= 1 for share in found):
        raise ValueError(f"a share of events must lie above 0 and be at most 1, not {list(found)}")
    if not all(first >= 1 and (last is None or first <= last) for first, last in lengths):
        raise ValueError(f"lengths are pairs of first and last, from 1 up, not {list(lengths)}")
    tables = checked_segments(truth, scores, known)
    names: list[str | int] = [*class_names(classes, tables[0][0].shape[1])]
    labels = ["all", *(f"{first}+" if last is None else f"{first}-{last}" for first, last in lengths)]
    columns = ["events", *(f"kept@{100 * share:g}%" for share in found)]

    def rows(name: str | int, line: Timeline) -> pd.DataFrame:
        index = pd.MultiIndex.from_product([[name], labels], names=["class", "length"])
        return pd.DataFrame(_rows(line, found, lengths), columns=columns, index=index)

    parts = [rows(name, line) for name, line in zip(names, timelines(tables), strict=True)]
    groups = pd.concat(parts).groupby("length", sort=False)
    macro = groups.mean().assign(events=groups["events"].sum())
    parts.append(macro.set_index(pd.MultiIndex.from_product([["macro"], labels], names=["class", "length"])))
    if pathologies is not None:
        parts.append(rows(ANY, any_of(tables, pathologies)))
    return pd.concat(parts).astype({"events": int})


def kept_curve(
    truth: Tables, scores: Tables, known: Tables | None = None, column: int = 0
) -> tuple[Floats, Floats]:
    """Shares of known frames kept, and of the events of one class that are then found: a point for nothing,
    for each score that finds an event, and for all frames. Between points the second stands still. Without an
    event both are empty."""
    line = timeline(
        [(t[:, column], s[:, column], u[:, column]) for t, s, u in checked_segments(truth, scores, known)]
    )
    tops = np.sort(_tops(line)[0])
    if not len(tops):
        return np.zeros(0), np.zeros(0)
    scored = np.sort(line.scores[line.known])
    heights = np.unique(tops)[::-1]
    kept = 1 - np.searchsorted(scored, heights) / len(scored)
    hit = 1 - np.searchsorted(tops, heights) / len(tops)
    return np.r_[0.0, kept, 1.0], np.r_[0.0, hit, 1.0]


def any_of(tables: Sequence[Entries], columns: Sequence[int]) -> Timeline:
    """Several classes as one: a frame shows it if it is known to show any of them, is known if it shows it or
    if all of them are known, and scores the highest of those that are known."""
    if not len(columns):
        raise ValueError("no class to make one of")
    chosen, parts = list(columns), []
    for told, given, use in tables:
        some, sure = told[:, chosen], use[:, chosen]  # truth is False where unknown
        highest = np.where(sure, given[:, chosen], -np.inf).max(axis=1)
        shown: Bools = np.asarray(some.any(axis=1))
        clear: Bools = shown | np.asarray(sure.all(axis=1))
        parts.append((shown, np.where(clear, highest, 0.0), clear))
    return timeline(parts)


def _rows(line: Timeline, found: Sequence[float], lengths: Lengths) -> list[list[float]]:
    """A row for all lengths and one for each: events, and the percent kept at each share found."""
    tops, lasts = _tops(line)
    scored = np.sort(line.scores[line.known])
    rows: list[list[float]] = []
    for first, last in ((1, None), *lengths):
        falling = np.sort(tops[(lasts >= first) & (lasts <= (np.inf if last is None else last))])[::-1]
        if not len(falling):
            rows.append([0, *[float("nan")] * len(found)])
            continue
        # a share times a count may come out a hair above the whole number that it is
        needed = [max(int(np.ceil(share * len(falling) - 1e-9)), 1) for share in found]
        below = np.searchsorted(scored, falling[np.array(needed, int) - 1])
        rows.append([len(falling), *(100 * (len(scored) - below) / len(scored)).tolist()])
    return rows


def _tops(line: Timeline) -> tuple[Floats, Ints]:
    """The highest score and the length of each true event."""
    starts, stops = runs(line.known & line.truth)
    if not len(starts):
        return np.zeros(0), np.zeros(0, np.int64)
    # an event, what stands between it and the next, an event ...: every second stretch is one
    edges = np.stack([starts, stops], axis=1).ravel()
    return np.maximum.reduceat(line.scores, edges)[::2], stops - starts
