from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.evaluation.pointing import pointing_game


def column(values: list[float]) -> np.ndarray:
    return np.array(values, float)[:, None]


def test_by_hand() -> None:
    truth = [column([1, 0, 0]), column([0, 1, 0]), column([0, 0]), column([1, 1, 0])]
    scores = [column([0.9, 0.1, 0]), column([0.9, 0.1, 0]), column([1, 0]), column([0.5, 0.2, 0.5])]
    table = pointing_game(truth, scores, classes=["polyp"])
    # hit, miss, no polyp, and two frames tie of which one shows it
    assert table.loc["polyp"].tolist() == [3, 0.5]
    assert table.loc["macro"].tolist() == [3, 0.5]
    # the misleading frame is unknown
    known = [np.ones((3, 1)), column([0, 1, 1]), np.ones((2, 1)), column([1, 0, 1])]
    assert pointing_game(truth, scores, known).loc[0].tolist() == [3, 2.5 / 3]


def test_an_empty_prediction_points_at_chance_and_an_absent_class_at_nothing() -> None:
    truth = [np.array([[1, 0], [0, 0], [0, 0], [0, 0]])]
    table = pointing_game(truth, [np.zeros((4, 2))])
    assert table.loc[0].tolist() == [1, 0.25]
    assert table.loc[1, "bags"] == 0 and np.isnan(table.loc[1, "pointing"])
    assert table.loc["macro"].tolist() == [1, 0.25]
    with pytest.raises(ValueError, match="same segments"):
        pointing_game(truth, [])


BAG = st.integers(0, 6).flatmap(
    lambda t: st.tuples(
        hnp.arrays(bool, t),
        hnp.arrays(np.float64, t, elements=st.sampled_from([0, 0.5, 1])),
        hnp.arrays(bool, t),
    )
)


@settings(deadline=None)
@given(st.lists(BAG, min_size=1, max_size=5))
def test_trying_every_highest_frame_gives_the_same(bags: list[tuple[np.ndarray, ...]]) -> None:
    expected = []
    for truth, scores, known in bags:
        frames = [(s, t) for s, t, u in zip(scores, truth, known, strict=True) if u]
        if any(t for _, t in frames):
            best = [t for s, t in frames if s == max(s for s, _ in frames)]
            expected.append(sum(best) / len(best))
    table = pointing_game(*([part[:, None] for part in side] for side in zip(*bags, strict=True)))
    assert table.loc[0, "bags"] == len(expected)
    assert table.loc[0, "pointing"] == pytest.approx(np.mean(expected) if expected else np.nan, nan_ok=True)
