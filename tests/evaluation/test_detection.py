from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.evaluation.detection import event_detection, temporal_map
from devcem.evaluation.events import decode_events, true_events

Bag = tuple[np.ndarray, np.ndarray, np.ndarray]
Span = tuple[int, int, int]  # segment, start, stop


def column(values: list[float]) -> list[np.ndarray]:
    return [np.array(values, float)[:, None]]


def test_a_ranking_by_hand() -> None:
    # events 0-2 and 6-8. Levels 1 (one frame), .5 (two, three), .25 (all six above 0).
    truth = column([1, 1, 0, 0, 0, 0, 1, 1, 0, 0])
    scores = column([0.5, 0.5, 0, 1, 0, 0, 0.25, 0.25, 0.25, 0])
    # 3-4 stands out by 1 (wrong), 0-2 by .5 - 0 (whole), 6-9 by .25 (2 of 3 shared)
    table = temporal_map(truth, scores, classes=["polyp"])
    assert list(table.columns) == ["events", *(f"ap@0.{n}" for n in range(1, 8)), "mean"]
    assert table.loc["polyp", "events"] == 2
    both, first = (1 / 2 + 2 / 3) / 2, 1 / 2 / 2
    np.testing.assert_allclose(table.loc["polyp"].to_numpy()[1:-1], [both] * 6 + [first])
    np.testing.assert_allclose(table.loc["macro", "mean"], (6 * both + first) / 7)


def test_a_peak_is_preferred_to_the_hill_below_it_only_if_it_stands_out_more() -> None:
    truth = column([0, 0, 1, 1, 1, 1, 0, 0])
    # the hill stands out by .75 + 1/16, the frame on it by 1/4
    hill = column([0, 0, 0.75, 0.75, 1, 0.75, 0, 0])
    assert temporal_map(truth, hill).loc[0, "mean"] == 1
    # the hill stands out by 7/16 - 1/8 ..., the frame by 7/8
    peak = column([0, 0, 0.125, 0.125, 1, 0.125, 0, 0])
    np.testing.assert_allclose(
        temporal_map(truth, peak, overlaps=(0.2, 0.25, 0.3)).loc[0, ["ap@0.2", "ap@0.25", "ap@0.3"]].tolist(),
        [1, 1, 0],
    )


def test_a_perfect_prediction_is_perfect_and_an_empty_one_scores_0() -> None:
    rng = np.random.default_rng(0)
    truth = [(rng.random((200, 3)) < 0.3) & np.array([True, True, False]) for _ in range(3)]
    truth.append(np.ones((4, 3), bool) & np.array([True, True, False]))  # a whole segment
    perfect = temporal_map(truth, truth)
    assert (perfect.loc[[0, 1, "macro"]].drop(columns="events") == 1).all(axis=None)
    assert perfect.loc[2].drop("events").isna().all()
    empty = temporal_map(truth, [np.zeros(t.shape) for t in truth])
    assert (empty.loc[[0, 1, "macro"]].drop(columns="events") == 0).all(axis=None)
    nothing = temporal_map([np.zeros((3, 1))], [np.ones((3, 1))])
    assert nothing.drop(columns="events").isna().all(axis=None) and nothing["events"].tolist() == [0, 0]


def test_an_event_is_found_once() -> None:
    """Both halves overlap the event by 2 of 5: the second is wrong."""
    truth = column([1, 1, 1, 1, 1, 0])
    scores = column([1, 1, 0, 0.5, 0.5, 0])
    assert temporal_map(truth, scores, overlaps=(0.4,)).loc[0, "ap@0.4"] == 1
    assert (
        temporal_map([*truth, *column([1])], [*scores, *column([0.25])]).loc[0, "ap@0.3"] == (1 + 2 / 3) / 2
    )


def test_arguments_must_fit() -> None:
    one = [np.ones((3, 1))]
    for overlap in (0, 1.5, np.nan):
        with pytest.raises(ValueError, match="overlap"):
            temporal_map(one, one, overlaps=(overlap,))
    with pytest.raises(ValueError, match="different numbers of classes"):
        temporal_map([*one, np.ones((3, 2))], [*one, np.ones((3, 2))])
    with pytest.raises(ValueError, match="same segments"):
        temporal_map(one, one, one * 2)
    with pytest.raises(ValueError, match="one row a segment"):
        event_detection(one, one, None, 0.5, times=[[0.0, 1.0]])
    for times in ([0, 2, 1], [0, 1, np.nan]):
        with pytest.raises(ValueError, match="never fall"):
            event_detection(one, one, None, 0.5, times=[times])
    with pytest.raises(ValueError, match="tolerance"):
        event_detection(one, one, None, 0.5, tolerance_seconds=(-1,), times=[[0, 1, 2]])
    with pytest.raises(ValueError, match="low is"):
        event_detection(one, one, None, 0.5, low=0.7)


def brute_candidates(bags: list[Bag]) -> list[tuple[Fraction, Span]]:
    """Every level, every run, the confidence in fractions, and greedy suppression over the whole list."""
    seen = sorted((Fraction(s) for _, scores, known in bags for s in scores[known].tolist()), reverse=True)
    above = [s for s in seen if s > 0]
    levels = {above[min(round(2 ** (j / 2)), len(above)) - 1] for j in range(40)} if above else set()
    found: dict[Span, Fraction] = {}
    for n, (_, scores, known) in enumerate(bags):
        for level in levels:
            for event in decode_events(np.where(known, scores, -np.inf), float(level)):
                a, b = event.start, event.stop
                flank = -(-(b - a) // 4)
                sides = [*range(max(a - flank, 0), a), *range(b, min(b + flank, len(scores)))]
                around = [Fraction(float(scores[t])) for t in sides if known[t]] or seen
                inside = [Fraction(float(s)) for s in scores[a:b]]
                found[n, a, b] = sum(inside) / len(inside) - sum(around) / len(around)
    kept: list[tuple[Fraction, Span]] = []
    for (n, a, b), confidence in sorted(found.items(), key=lambda f: (f[1], f[0][2] - f[0][1]), reverse=True):
        if not any(m == n and a < d and c < b for _, (m, c, d) in kept):
            kept.append((confidence, (n, a, b)))
    return kept


def shared(one: Span, other: Span) -> Fraction:
    if one[0] != other[0]:
        return Fraction(0)
    both = len(set(range(*one[1:])) & set(range(*other[1:])))
    return Fraction(both, len(set(range(*one[1:])) | set(range(*other[1:]))))


def brute_ap(bags: list[Bag], overlap: float) -> float:
    events = [(n, e.start, e.stop) for n, (t, _, u) in enumerate(bags) for e in true_events(t, u)]
    ranked = brute_candidates(bags)
    free, hits = set(events), []
    by_confidence: dict[Fraction, list[Span]] = {}
    for confidence, span in ranked:
        by_confidence.setdefault(confidence, []).append(span)
    for confidence in sorted(by_confidence, reverse=True):
        waiting = by_confidence[confidence]
        while pairs := [
            (shared(span, event), tuple(-x for x in event), span, event)
            for span in waiting
            for event in free
            if float(shared(span, event)) >= overlap
        ]:
            _, _, span, event = max(pairs)
            waiting = [other for other in waiting if other != span]
            free.discard(event)
            hits.append(confidence)
    called = [confidence for confidence, _ in ranked]
    found = [sum(h >= hit for h in hits) / sum(c >= hit for c in called) for hit in hits]
    return sum(found) / len(events) if events else float("nan")


BAG = st.integers(0, 14).flatmap(
    lambda t: st.tuples(
        hnp.arrays(bool, t),
        hnp.arrays(np.float64, t, elements=st.sampled_from([-0.5, 0, 0.125, 0.5, 0.75, 1])),
        hnp.arrays(bool, t, elements=st.sampled_from([True, True, True, False])),
    )
)
BAGS = st.lists(BAG, min_size=1, max_size=4)


@settings(deadline=None)
@given(BAGS, st.randoms(use_true_random=False))
def test_temporal_map_is_what_brute_force_gives_in_any_order(bags: list[Bag], random: object) -> None:
    truth, scores, known = ([part[:, None] for part in side] for side in zip(*bags, strict=True))
    table = temporal_map(truth, scores, known, overlaps=(0.1, 0.25, 0.5, 1))
    for overlap in (0.1, 0.25, 0.5, 1):
        expected = brute_ap(bags, overlap)
        assert table.loc[0, f"ap@{overlap:g}"] == pytest.approx(expected, nan_ok=True, abs=1e-12)
    others = [(t ^ ~u, np.where(u, s, np.nan), u) for t, s, u in bags]
    random.shuffle(others)  # type: ignore[attr-defined]
    again = temporal_map(
        *([part[:, None] for part in side] for side in zip(*others, strict=True)),
        overlaps=(0.1, 0.25, 0.5, 1),
    )
    np.testing.assert_allclose(again.to_numpy(float), table.to_numpy(float), atol=1e-12)


def test_detection_by_hand() -> None:
    # one frame a second; true 2-4 and 6-8; decoded at .5: 1-4 (peak 3) and 9-10
    truth = column([0, 0, 1, 1, 0, 0, 1, 1, 0, 0])
    scores = column([0, 0.5, 0.6, 0.9, 0.2, 0, 0, 0, 0, 0.7])
    table = event_detection(
        truth, scores, None, 0.5, (0.5, 0.7), (0, 1, 3), [np.arange(10.0) + 7], classes=["polyp"]
    )
    matched = table.loc["polyp", "matched"].to_dict()
    assert matched == {
        "overlap 0.5": 1,  # 2 of 3 frames
        "overlap 0.7": 0,
        "start 0 s": 0,
        "stop 0 s": 1,
        "peak 0 s": 1,
        "start 1 s": 1,
        "stop 1 s": 1,
        "peak 1 s": 1,
        "start 3 s": 2,
        "stop 3 s": 2,
        "peak 3 s": 2,
    }
    row = table.loc[("polyp", "overlap 0.5")]
    assert row.tolist() == [2, 2, 1, 0.5, 0.5, 0.5]
    assert table.loc[("macro", "overlap 0.5")].tolist() == row.tolist()


def test_the_most_pairs_are_made() -> None:
    """4-5 lies within a second of both true starts, 2-3 of the first alone: nearest first would strand it."""
    truth = column([0, 0, 0, 1, 0, 1, 0])
    scores = column([0, 0, 1, 0, 1, 0, 0])
    table = event_detection(truth, scores, None, 0.5, (), (1,), [np.arange(7.0)])
    assert table.loc[(0, "start 1 s"), "matched"] == 2


def test_no_call_no_event_and_rounded_time_stamps() -> None:
    none, some = np.zeros((4, 1)), np.array([[0], [1], [0], [0]])
    table = event_detection([some], [none], None, 0.5, (0.1,))
    assert table.loc[(0, "overlap 0.1")].tolist() == [1, 0, 0, 0, 0, 0]
    table = event_detection([none], [some], None, 0.5, (0.1,))
    assert table.loc[(0, "overlap 0.1")].tolist()[:3] == [0, 1, 0]
    assert table.iloc[:, 3:].isna().all(axis=None)
    # 0.8 - 0.7 is a little more than 0.1
    table = event_detection([some], [np.roll(some, 1, axis=0)], None, 0.5, (), (0.1,), [[0.6, 0.7, 0.8, 0.9]])
    assert (table.loc[0, "matched"] == 1).all()


def test_a_segment_ends_what_tolerance_may_reach() -> None:
    """The call at the start of the second segment is nowhere near the event at the end of the first."""
    truth, scores = [np.array([[0], [1]]), np.zeros((2, 1))], [np.zeros((2, 1)), np.array([[1], [0]])]
    table = event_detection(truth, scores, None, 0.5, (), (100,), [[0, 1], [1, 2]])
    assert (table["matched"] == 0).all()


def brute_matched(ours: list, theirs: list, fits: object) -> int:
    """Tries every way to pair the shorter list."""
    for size in range(min(len(ours), len(theirs)), 0, -1):
        for some in combinations(ours, size):
            for others in permutations(theirs, size):
                if all(fits(a, b) for a, b in zip(some, others, strict=True)):  # type: ignore[operator]
                    return size
    return 0


@settings(deadline=None)
@given(BAGS.map(lambda bags: bags[:2]), st.integers(0, 3), st.sampled_from([0.5, 0.75]))
def test_detection_is_what_brute_force_gives(bags: list[Bag], tolerance: int, bar: float) -> None:
    truth, scores, known = ([part[:, None] for part in side] for side in zip(*bags, strict=True))
    times = [np.arange(len(t)) * 1.0 for t, _, _ in bags]
    table = event_detection(truth, scores, known, bar, (0.2,), (tolerance,), times, low=0.125)
    events = [(n, e) for n, (t, _, u) in enumerate(bags) for e in true_events(t, u)]
    called = [
        (n, e) for n, (_, s, u) in enumerate(bags) for e in decode_events(np.where(u, s, -np.inf), bar, 0.125)
    ]
    rules = {
        "overlap 0.2": lambda a, b: shared((0, a.start, a.stop), (0, b.start, b.stop)) >= Fraction(1, 5),
        f"start {tolerance} s": lambda a, b: abs(a.start - b.start) <= tolerance,
        f"stop {tolerance} s": lambda a, b: abs(a.stop - b.stop) <= tolerance,
        f"peak {tolerance} s": lambda a, b: b.start - tolerance <= a.peak <= b.stop - 1 + tolerance,
    }
    for rule, fits in rules.items():
        row = table.loc[(0, rule)]
        if len(events) > 5 or len(called) > 5:
            break  # too many ways to try
        expected = brute_matched(called, events, lambda a, b, fits=fits: a[0] == b[0] and fits(a[1], b[1]))
        assert (row["events"], row["called"], row["matched"]) == (len(events), len(called), expected)
        if events:
            assert row["precision"] == (expected / len(called) if called else 0)
            assert row["recall"] == expected / len(events)
            assert row["f1"] == 2 * expected / (len(events) + len(called))
        else:
            assert np.isnan(row["f1"])
