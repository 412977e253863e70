"""Frame truth beside frame scores, a table a segment: checked once, then a class at a time over all
segments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from devcem.evaluation.entries import Bools, Floats, checked_entries

Ints = npt.NDArray[np.int64]
Tables = Sequence[npt.ArrayLike]  # one [T,K] a segment; T may differ
Entries = tuple[Bools, Floats, Bools]  # truth, scores and known of a segment, all [T,K]


@dataclass(frozen=True)
class Timeline:
    """One class over all segments in a row. An unknown frame stands behind each, so that nothing crosses
    over."""

    truth: Bools  # [N]
    scores: Floats  # [N], 0 where unknown
    known: Bools  # [N]
    firsts: Ints  # [S+1], where the segments start, and N

    @property
    def frames(self) -> int:
        """How many are known."""
        return int(self.known.sum())


def checked_segments(truth: Tables, scores: Tables, known: Tables | None = None) -> list[Entries]:
    """What `checked_entries` makes of each segment; all must have the same classes."""
    if len(truth) != len(scores) or (known is not None and len(known) != len(truth)):
        raise ValueError("truth, scores and known must list the same segments")
    if not len(truth):
        raise ValueError("no segment to judge")
    masks: Sequence[npt.ArrayLike | None] = [None] * len(truth) if known is None else known
    tables = [_checked(*one) for one in zip(truth, scores, masks, strict=True)]
    widths = {told.shape[1] for told, _, _ in tables}
    if len(widths) > 1:
        raise ValueError(f"the segments have different numbers of classes: {sorted(widths)}")
    return tables


def _checked(truth: npt.ArrayLike, scores: npt.ArrayLike, known: npt.ArrayLike | None) -> Entries:
    """`checked_entries`, but tables that need no change are taken as they are: whole exams are large."""
    told, given = np.asarray(truth), np.asarray(scores)
    fits = told.ndim == 2 and told.shape == given.shape and known is None
    if fits and told.dtype == np.bool_ and given.dtype == np.float64 and np.isfinite(given).all():
        return told, given, np.broadcast_to(np.True_, told.shape)
    return checked_entries(told, given, known)


def known_columns(tables: Sequence[Entries], k: int) -> list[tuple[Bools, Floats]]:
    """Truth and scores [T] of the known frames of each segment for class *k*."""
    return [
        (np.ascontiguousarray(told[:, k]), np.ascontiguousarray(given[:, k]))
        if use[:, k].all()
        else (told[use[:, k], k], given[use[:, k], k])
        for told, given, use in tables
    ]


def timelines(tables: Sequence[Entries]) -> Iterator[Timeline]:
    """A timeline a class, in order."""
    for k in range(tables[0][0].shape[1]):
        yield timeline([(told[:, k], given[:, k], use[:, k]) for told, given, use in tables])


def timeline(columns: Sequence[Entries]) -> Timeline:
    """One class from its columns [T], a segment each."""
    lengths = [len(told) + 1 for told, _, _ in columns]
    firsts = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    whole = Timeline(
        np.zeros(firsts[-1], bool), np.zeros(firsts[-1], np.float64), np.zeros(firsts[-1], bool), firsts
    )
    for first, (told, given, use) in zip(firsts[:-1].tolist(), columns, strict=True):
        part = slice(first, first + len(told))
        whole.truth[part], whole.scores[part], whole.known[part] = told, given, use
    return whole


def runs(mask: Bools) -> tuple[Ints, Ints]:
    """Starts and stops of the runs of True in *mask* [N], half-open, ascending."""
    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0)).astype(np.int64)
    return edges[::2], edges[1::2]
