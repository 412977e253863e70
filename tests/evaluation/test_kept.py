from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.evaluation.events import true_events
from devcem.evaluation.kept import frames_kept, kept_curve
from devcem.evaluation.segments import checked_segments, timelines


def column(values: list[float]) -> np.ndarray:
    return np.array(values, float)[:, None]


# ten frames; events 0-1 (top .9), 2-4 (top .6); in the second segment 0-1 (top .3)
TRUTH = [column([1, 0, 1, 1, 0, 0]), column([1, 0, 0, 0])]
SCORES = [column([0.9, 0.8, 0.2, 0.6, 0.3, 0.1]), column([0.3, 0.7, 0, 0])]


def test_by_hand() -> None:
    table = frames_kept(
        TRUTH, SCORES, found=(0.3, 0.5, 1), classes=["polyp"], lengths=((1, 1), (2, 5), (6, None))
    )
    assert table.index.names == ["class", "length"]
    assert list(table.columns) == ["events", "kept@30%", "kept@50%", "kept@100%"]
    # falling: .9 * | .8 .7 .6 * | .3 .3 * (together): 1, 4 and 6 of 10 frames
    assert table.loc[("polyp", "all")].tolist() == [3, 10, 40, 60]
    assert table.loc[("polyp", "1-1")].tolist() == [2, 10, 10, 60]
    assert table.loc[("polyp", "2-5")].tolist() == [1, 40, 40, 40]
    assert table.loc[("polyp", "6+"), "events"] == 0
    assert table.loc[("polyp", "6+")].isna().tolist() == [False, True, True, True]
    assert table.xs("all", level="length").index.tolist() == ["polyp", "macro"]
    kept, found = kept_curve(TRUTH, SCORES)
    np.testing.assert_allclose(kept, [0, 0.1, 0.4, 0.6, 1])
    np.testing.assert_allclose(found, [0, 1 / 3, 2 / 3, 1, 1])


def test_a_share_of_events_is_rounded_up_but_not_by_an_error_of_rounding() -> None:
    """7% of 100 is 7, though 0.07 * 100 is a little more; 7.5% is 8."""
    truth = column([1, 0] * 100)
    scores = column(np.linspace(1, 0.5, 200).tolist())
    row = frames_kept([truth], [scores], found=(0.07, 0.075, 0.001)).loc[(0, "all")]
    np.testing.assert_allclose(row.tolist(), [100, 6.5, 7.5, 0.5])


def test_an_empty_prediction_keeps_all_and_a_perfect_one_the_true_frames() -> None:
    empty = frames_kept(TRUTH, [np.zeros(t.shape) for t in TRUTH])
    assert (empty.loc[(0, "all")].drop("events") == 100).all()
    assert (frames_kept(TRUTH, TRUTH).loc[(0, "all")].drop("events") == 40).all()


def test_any_pathology_and_macro() -> None:
    truth = [np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [0, 0, 0]])]
    scores = [np.array([[0.1, 0, 0.9], [0, 0.5, 0], [0.3, 0.2, 0], [0, 0.6, 0]])]
    table = frames_kept(truth, scores, found=(1,), lengths=(), pathologies=[0, 1])
    assert table["events"].tolist() == [1, 1, 1, 3, 1]
    # the third class is no pathology; frames score .1 .5 .3 .6, the event 0-2 tops at .5
    assert table["kept@100%"].tolist() == [50, 50, 25, (50 + 50 + 25) / 3, 50]
    assert table.index[-1] == ("any pathology", "all")
    # frame 1 is no longer known to be without the first class, but still shows the second; frame 3 is unknown
    known = [np.array([[1, 1, 1], [0, 1, 1], [1, 1, 1], [0, 1, 1]])]
    row = frames_kept(truth, scores, known, found=(1,), lengths=(), pathologies=[0, 1]).loc[
        ("any pathology", "all")
    ]
    assert row["events"] == 1 and row["kept@100%"] == pytest.approx(100 / 3)
    with pytest.raises(ValueError, match="no class"):
        frames_kept(truth, scores, pathologies=[])


def test_what_cannot_be_asked() -> None:
    for share in (0, 1.1, np.nan):
        with pytest.raises(ValueError, match="share of events"):
            frames_kept(TRUTH, SCORES, found=(share,))
    for lengths in ((0, 3), (4, 3)):
        with pytest.raises(ValueError, match="lengths"):
            frames_kept(TRUTH, SCORES, lengths=(lengths,))
    assert [len(part) for part in kept_curve([np.zeros((2, 1))], [np.zeros((2, 1))])] == [0, 0]


def test_segments_do_not_run_into_each_other() -> None:
    (line,) = timelines(
        checked_segments(
            [np.ones((2, 1)), np.ones((0, 1)), np.ones((1, 1))], [[[1], [1]], np.ones((0, 1)), [[1]]]
        )
    )
    assert line.known.tolist() == [True, True, False, False, True, False]
    assert line.firsts.tolist() == [0, 3, 4, 6] and line.frames == 3


def brute(bags: list[tuple[np.ndarray, ...]], share: float, first: int, last: float) -> tuple[int, float]:
    """Keeps more and more frames until enough events are found."""
    events = [
        (n, e) for n, (t, _, u) in enumerate(bags) for e in true_events(t, u) if first <= len(e) <= last
    ]
    frames = [float(s) for _, scores, known in bags for s in scores[known]]
    if not events:
        return 0, float("nan")
    for bar in sorted(set(frames), reverse=True):
        hit = [n for n, e in events if (bags[n][1][e.start : e.stop] >= bar).any()]
        if len(hit) >= share * len(events) - 1e-9:
            return len(events), 100 * sum(s >= bar for s in frames) / len(frames)
    raise AssertionError("all frames find all events")


BAG = st.integers(0, 12).flatmap(
    lambda t: st.tuples(
        hnp.arrays(bool, t),
        hnp.arrays(np.float64, t, elements=st.sampled_from([-1, 0, 0.25, 0.5, 0.75, 1])),
        hnp.arrays(bool, t, elements=st.sampled_from([True, True, False])),
    )
)


@settings(deadline=None)
@given(st.lists(BAG, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_keeping_one_frame_after_the_other_gives_the_same(
    bags: list[tuple[np.ndarray, ...]], random: object
) -> None:
    def tables(some: list[tuple[np.ndarray, ...]]) -> list[list[np.ndarray]]:
        return [[part[:, None] for part in side] for side in zip(*some, strict=True)]

    table = frames_kept(*tables(bags), found=(0.4, 0.5, 1), lengths=((1, 2), (3, None)))
    for label, first, last in (("all", 1, np.inf), ("1-2", 1, 2), ("3+", 3, np.inf)):
        for share in (0.4, 0.5, 1):
            count, percent = brute(bags, share, first, last)
            row = table.loc[(0, label)]
            assert row["events"] == count
            assert row[f"kept@{100 * share:g}%"] == pytest.approx(percent, nan_ok=True)
    kept, found = kept_curve(*tables(bags))
    assert (np.diff(kept) >= 0).all() and (np.diff(found) >= 0).all()
    for share in (0.4, 0.5, 1) if len(kept) else ():
        at = kept[np.flatnonzero(found >= share - 1e-12)[0]]
        assert table.loc[(0, "all"), f"kept@{100 * share:g}%"] == pytest.approx(100 * at)
    others = [(t ^ ~u, np.where(u, np.exp(s), np.nan), u) for t, s, u in bags]
    random.shuffle(others)  # type: ignore[attr-defined]
    again = frames_kept(*tables(others), found=(0.4, 0.5, 1), lengths=((1, 2), (3, None)))
    np.testing.assert_allclose(again.to_numpy(float), table.to_numpy(float))
