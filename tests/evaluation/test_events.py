from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.evaluation.events import Event, decode_events, decoded, true_events


def spans(events: list[Event]) -> list[tuple[int, int]]:
    return [(event.start, event.stop) for event in events]


def test_true_events_by_hand() -> None:
    assert true_events([0, 1, 1, 0, 0, 1]) == [Event(1, 3, 1, 1.0), Event(5, 6, 5, 1.0)]
    assert true_events([1, 1, 1]) == [Event(0, 3, 1, 1.0)]
    assert len(Event(5, 8, 6, 0.5)) == 3
    assert true_events([0, 0]) == true_events([]) == []


def test_an_unknown_frame_ends_an_event_whatever_it_holds() -> None:
    known = [1, 1, 0, 1, 1, 0]
    assert spans(true_events([0, 1, 1, 1, 0, 1], known)) == [(1, 2), (3, 4)]
    assert true_events([0, 1, np.nan, 1, 0, 7], known) == true_events([0, 1, 0, 1, 0, 1], known)


def test_decoding_by_hand() -> None:
    scores = [0.2, 0.5, 0.9, 0.9, 0.4, 0.1, 0.5, 0.1, 0.8]
    assert decode_events(scores, 0.8) == [Event(2, 4, 2, 0.9), Event(8, 9, 8, 0.8)]
    # it spreads to both sides; the .5 at place 6 never reaches .8
    assert spans(decode_events(scores, 0.8, 0.4)) == [(1, 5), (8, 9)]
    # three frames lie between
    assert spans(decode_events(scores, 0.8, 0.4, join=3)) == [(1, 5), (8, 9)]
    assert decode_events(scores, 0.8, 0.4, join=4) == [Event(1, 9, 2, 0.9)]
    assert spans(decode_events(scores, 0.8, 0.4, shortest=2)) == [(1, 5)]
    # joined first, dropped after
    assert spans(decode_events([1, 0, 1], 1, join=2, shortest=3)) == [(0, 3)]


def test_nothing_and_everything() -> None:
    assert decode_events([], 0.5) == decode_events([0.1, 0.2], 0.5) == []
    assert decode_events([-np.inf, -np.inf], -1e300) == []
    assert decode_events([0.5, 0.5], 0.5) == [Event(0, 2, 0, 0.5)]


def test_nothing_is_joined_across_an_unknown_frame() -> None:
    scores, known = np.array([1.0, 0, 1, 0, 1]), np.array([1, 1, 1, 0, 1], bool)
    starts, stops = decoded(scores, 0.5, join=5, known=known)
    assert starts.tolist() == [0, 4] and stops.tolist() == [3, 5]


def test_what_cannot_be_decoded() -> None:
    for scores in ([0.1, np.nan], [[0.1]]):
        with pytest.raises(ValueError, match="row of numbers"):
            decode_events(scores, 0.5)
    with pytest.raises(ValueError, match=r"low is 0\.6"):
        decode_events([0.1], 0.5, 0.6)
    with pytest.raises(ValueError, match="low is"):
        decode_events([0.1], np.nan)
    with pytest.raises(ValueError, match="join"):
        decode_events([0.1], 0.5, join=-1)
    with pytest.raises(ValueError, match="shortest"):
        decode_events([0.1], 0.5, shortest=0)
    with pytest.raises(ValueError, match="one length"):
        true_events([0, 1], [1])
    with pytest.raises(ValueError, match="other than 0 and 1"):
        true_events([0, 2])


SCORES = hnp.arrays(np.float64, st.integers(0, 25), elements=st.sampled_from([0, 0.25, 0.5, 0.75, 1]))
BARS = st.tuples(*[st.sampled_from([0, 0.25, 0.5, 0.75, 1])] * 2).map(sorted)


def by_frames(scores: list[float], high: float, low: float, join: int, shortest: int) -> list[Event]:
    """One frame after the other, in sets."""
    member = set()
    for seed, score in enumerate(scores):
        if score >= high:
            for step in (-1, 1):
                place = seed
                while 0 <= place < len(scores) and scores[place] >= low:
                    member.add(place)
                    place += step
    groups: list[list[int]] = []
    for place in sorted(member):
        if groups and (place == groups[-1][-1] + 1 or place - groups[-1][-1] - 1 < join):
            groups[-1].append(place)
        else:
            groups.append([place])
    events = []
    for group in groups:
        inside = range(group[0], group[-1] + 1)
        peak = max(inside, key=lambda place: (scores[place], -place))
        events.append(Event(group[0], group[-1] + 1, peak, scores[peak]))
    return [event for event in events if len(event) >= shortest]


@settings(deadline=None)
@given(SCORES, BARS, st.integers(0, 4), st.integers(1, 4))
def test_decoding_is_what_frame_by_frame_gives(
    scores: np.ndarray, bars: list[float], join: int, shortest: int
) -> None:
    low, high = bars
    events = decode_events(scores, high, low, join, shortest)
    assert events == by_frames(scores.tolist(), high, low, join, shortest)
    edges = [edge for event in events for edge in (event.start, event.stop)]
    assert edges == sorted(set(edges))  # apart, in order
    for event in events:
        assert event.start <= event.peak < event.stop
        assert event.score == scores[event.peak] == scores[event.start : event.stop].max() >= high
    assert decode_events(np.exp(scores), np.exp(high), np.exp(low), join, shortest) == [
        Event(e.start, e.stop, e.peak, float(np.exp(e.score))) for e in events
    ]
    assert spans(decode_events(scores[::-1], high, low, join, shortest)) == [
        (len(scores) - stop, len(scores) - start) for start, stop in reversed(spans(events))
    ]
    padded = np.concatenate([[-np.inf] * 5, scores])
    assert spans(decode_events(padded, high, low, join, shortest)) == [
        (start + 5, stop + 5) for start, stop in spans(events)
    ]


@settings(deadline=None)
@given(hnp.arrays(bool, 15), hnp.arrays(bool, 15))
def test_true_events_cover_the_known_true_frames_and_no_other(truth: np.ndarray, known: np.ndarray) -> None:
    events = true_events(truth, known)
    covered = np.zeros(15, int)
    for event in events:
        covered[event.start : event.stop] += 1
        assert event.start <= event.peak < event.stop
    assert (covered == (truth & known)).all()
    assert spans(events) == spans(decode_events(np.where(known, truth, -np.inf), 1))
    assert events == true_events(truth ^ ~known, known)
