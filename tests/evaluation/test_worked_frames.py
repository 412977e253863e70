"""The example of docs/reference/metrics-frames.md, figure by figure."""

from __future__ import annotations

import numpy as np
import pytest

from devcem.evaluation.candidates import candidates
from devcem.evaluation.detection import event_detection, temporal_map
from devcem.evaluation.events import decode_events, true_events
from devcem.evaluation.kept import frames_kept, kept_curve
from devcem.evaluation.localisation import localisation_metrics
from devcem.evaluation.segments import checked_segments, timelines

CLASSES = ["polyp", "blood"]
A_TRUTH, A_SCORES = [0, 1, 1, 1, 0, 0, 1, 0], [0.1, 0.6, 0.9, 0.4, 0.2, 0, 0.2, 0]
B_TRUTH, B_SCORES, B_KNOWN = [0, 0, 1, 1], [0.5, 0.1, np.nan, 0.3], [1, 1, 0, 1]


def with_blood(polyp: list[float], blood: float) -> np.ndarray:
    return np.stack([np.array(polyp, float), np.full(len(polyp), blood)], axis=1)


TRUTH = [with_blood(A_TRUTH, 0), with_blood(B_TRUTH, 0)]
SCORES = [with_blood(A_SCORES, 0.2), with_blood(B_SCORES, 0.2)]
KNOWN = [np.ones((8, 2)), with_blood(B_KNOWN, 1)]
TIMES = [np.arange(8) / 2, np.arange(4) * 2.0]


def close(found: object, expected: object) -> None:
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=0, atol=1e-9)


def test_frames() -> None:
    table = localisation_metrics(TRUTH, SCORES, KNOWN, TIMES, classes=CLASSES)
    ap = (1 + 1 + 3 / 4 + 4 / 5 + 5 / 7) / 5
    close(table.loc["polyp"], [5, 6, 26.5 / 30, ap, 2, (31 / 32 + 1 / 2) / 2, 1 / 2])
    close(table.loc["blood"], [0, 12, np.nan, np.nan, 0, np.nan, np.nan])
    close(table.loc["macro"].iloc[2:4], [26.5 / 30, ap])


def test_events_and_decoding() -> None:
    assert [(e.start, e.stop) for e in true_events(A_TRUTH)] == [(1, 4), (6, 7)]
    assert [(e.start, e.stop) for e in true_events(B_TRUTH, B_KNOWN)] == [(3, 4)]
    (event,) = decode_events(A_SCORES, 0.9, 0.2, shortest=2)
    assert (event.start, event.stop, event.peak, event.score) == (1, 5, 2, 0.9)
    assert [(e.start, e.stop) for e in decode_events(A_SCORES, 0.2)] == [(1, 5), (6, 7)]
    assert [(e.start, e.stop) for e in decode_events(A_SCORES, 0.2, join=2)] == [(1, 7)]


def test_candidates_and_their_ranking() -> None:
    line = next(timelines(checked_segments(TRUTH, SCORES, KNOWN)))
    found = candidates(line)
    ranked = sorted(zip(found.confidence, found.starts, found.stops, strict=True), reverse=True)
    close(ranked, [[0.5, 1, 3], [0.4, 9, 10], [0.2, 6, 7], [0, 12, 13]])  # B begins at place 9
    table = temporal_map(TRUTH, SCORES, KNOWN, classes=CLASSES)
    close(table.loc["polyp"], [3, *[29 / 36] * 6, 5 / 18, 46 / 63])
    close(table.loc["blood"], [0, *[np.nan] * 8])
    close(table.loc["macro"], [3, *[29 / 36] * 6, 5 / 18, 46 / 63])


def test_detection() -> None:
    table = event_detection(TRUTH, SCORES, KNOWN, 0.4, (0.5,), (1, 6), TIMES, classes=CLASSES)
    for rule in ("overlap 0.5", "start 1 s", "stop 1 s", "peak 1 s"):
        close(table.loc[("polyp", rule)], [3, 2, 1, 1 / 2, 1 / 3, 2 / 5])
    for rule in ("start 6 s", "stop 6 s", "peak 6 s"):
        close(table.loc[("polyp", rule)], [3, 2, 2, 1, 2 / 3, 4 / 5])
    close(table.loc[("blood", "overlap 0.5")], [0, 0, 0, np.nan, np.nan, np.nan])


@pytest.mark.parametrize(
    ("length", "row"),
    [("all", [3, 500 / 11, 700 / 11]), ("1-1", [2, 500 / 11, 700 / 11]), ("2-3", [1, 100 / 11, 100 / 11])],
)
def test_frames_kept(length: str, row: list[float]) -> None:
    table = frames_kept(TRUTH, SCORES, KNOWN, (0.5, 0.9), CLASSES, ((1, 1), (2, 3)))
    close(table.loc[("polyp", length)], row)
    close(table.loc[("blood", length)], [0, np.nan, np.nan])


def test_the_curve_of_frames_kept() -> None:
    kept, found = kept_curve(TRUTH, SCORES, KNOWN)
    close(kept, [0, 1 / 11, 5 / 11, 7 / 11, 1])
    close(found, [0, 1 / 3, 2 / 3, 1, 1])
