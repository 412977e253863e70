"""Attention's character: bags worked out by hand, a rewriting in loops, and bags at the edge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from devcem.evaluation.character import attention_character

NAMES = [
    "bags",
    "total_variation",
    "effective_frames",
    "effective_share",
    "alike_neighbours",
    "alike_jump",
    "other_jump",
    *(f"auroc_{low}_{low + 20}" for low in range(0, 100, 20)),
    "above_uniform_100",
    *(f"bags_{low}_{low + 20}" for low in range(0, 100, 20)),
    "bags_100",
]
FALLING = [0.5, 0.25, 0.25, 0.0]  # r = 2 1 1 0


def uniform(count: int) -> np.ndarray:
    return np.full(count, 1 / count)


def test_shape_by_hand() -> None:
    """FALLING: steps of 1, 0, 1; 1 / (1/4 + 1/16 + 1/16) = 8/3 frames of 4. A uniform pair: 0, and 2 of 2."""
    found = attention_character([FALLING, uniform(2)])
    assert list(found.index) == NAMES and found.dtype == float
    assert found["bags"] == 2
    assert found["total_variation"] == pytest.approx((2 + 0) / 2)
    assert found["effective_frames"] == pytest.approx((8 / 3 + 2) / 2)
    assert found["effective_share"] == pytest.approx((2 / 3 + 1) / 2)
    rest = found.drop(NAMES[:4])
    counts = rest.index.str.startswith("bags_")
    assert rest[~counts].isna().all() and (rest[counts] == 0).all()


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_jumps_by_hand(offset: float) -> None:
    """The middle two of FALLING look alike and step by 0; its ends step by 1; so do the unlike of the pair by
    0. What all frames share, as backbones' features do, changes nothing."""
    features = [np.array([[1, 0], [-1, 0], [-2, 0], [2, 0]]), np.array([[0, 1], [0, -1]])]
    given = [one + offset for one in features]
    found = attention_character([FALLING, uniform(2)], given)
    assert found["alike_neighbours"] == 1 and found["alike_jump"] == 0
    assert found["other_jump"] == pytest.approx((1 + 1 + 0) / 3)
    turned = attention_character([FALLING[::-1], uniform(2)], [given[0][[1, 2, 0, 3]], given[1]])
    assert turned["alike_neighbours"] == 2 and turned["alike_jump"] == 1  # r = 0 1 1 2 in pairs
    assert turned["other_jump"] == 0


def test_how_alike_is_stated() -> None:
    """(1, 0) and (0.6, 0.8) have a cosine of 0.6; their mirror images bring the mean to nought."""
    features = [[[1, 0], [0.6, 0.8]], [[-1, 0], [-0.6, -0.8]]]
    attention = [[0.25, 0.75], [0.5, 0.5]]
    for alike, count in ((0.59, 2), (0.61, 0)):
        found = attention_character(attention, features, alike=alike)
        assert found["alike_neighbours"] == count
        assert found["alike_jump" if count else "other_jump"] == pytest.approx((1 + 0) / 2)


def test_a_still_video_is_alike_throughout() -> None:
    found = attention_character([FALLING], [np.full((4, 3), 0.1)])
    assert found["alike_neighbours"] == 3 and found["alike_jump"] == pytest.approx(2 / 3)
    assert np.isnan(found["other_jump"])


def test_localisation_by_hand() -> None:
    five = [0.4, 0.3, 0.2, 0.1, 0.0]
    ten = [0.55, *[0.05] * 9]
    bags = {
        "one of ten, the highest": (ten, [1, *[0] * 9]),  # 10%: 1
        "one of five, the lowest": (five, [0, 0, 0, 0, 1]),  # 20%: 0
        "two of five": (five, [1, 0, 0, 0, 1]),  # 40%: 3 of 6 pairs
        "three of five": (five, [1, 1, 0, 0, 1]),  # 60%: 2 * 2 of 6 pairs
        "four of five": (five, [0, 1, 1, 1, 1]),  # 80%: 0
        "nine of ten, ties": (ten, [1, *[1] * 8, 0]),  # 90%: one above, eight ties
        "all": ([0.5, 0.3, 0.1, 0.1], [1] * 4),  # r = 2, 1.2, 0.4, 0.4
        "all, uniform": (uniform(7), [1] * 7),
        "none": (five, [0] * 5),
    }
    found = attention_character([bag for bag, _ in bags.values()], truth=[told for _, told in bags.values()])
    wanted = {
        "auroc_0_20": 1,
        "auroc_20_40": 0,
        "auroc_40_60": 1 / 2,
        "auroc_60_80": 2 / 3,
        "auroc_80_100": (0 + (1 + 8 / 2) / 9) / 2,
        "above_uniform_100": (1 / 2 + 0) / 2,
        "bags_0_20": 1,
        "bags_20_40": 1,
        "bags_40_60": 1,
        "bags_60_80": 1,
        "bags_80_100": 2,
        "bags_100": 2,
    }
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value), name


def test_unknown_frames_enter_no_localisation() -> None:
    """Left: two known frames, both positive, r = 2 and 0; and a bag of which nothing is known."""
    told, known = [np.array([1, 0, 7, 1]), np.ones(2)], [[1, 0, 0, 1], [0, 0]]
    found = attention_character([FALLING, uniform(2)], truth=told, known=known)
    assert found["bags_100"] == 1 and found["above_uniform_100"] == 0.5
    assert found["total_variation"] == 1  # over all frames
    assert found[[f"bags_{low}_{low + 20}" for low in range(0, 100, 20)]].sum() == 0


@settings(deadline=None)
@given(arrays.arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1)), st.integers(2, 4))
def test_frames_shown_several_times_change_nothing(weights: np.ndarray, times: int) -> None:
    attention = (weights + 0.01) / (weights + 0.01).sum()
    one, more = (attention_character([a]) for a in (attention, np.repeat(attention, times) / times))
    assert more["total_variation"] == pytest.approx(one["total_variation"], abs=1e-9)
    assert more["effective_share"] == pytest.approx(one["effective_share"])
    assert more["effective_frames"] == pytest.approx(times * one["effective_frames"])


bag = st.integers(1, 9).flatmap(
    lambda count: st.tuples(
        arrays.arrays(np.float64, count, elements=st.sampled_from([0, 0.1, 0.5, 1])),
        arrays.arrays(np.float64, (count, 2), elements=st.sampled_from([-1, 0, 0.1, 1])),
        arrays.arrays(bool, count),
        arrays.arrays(bool, count),
    )
)


@settings(deadline=None)
@given(st.lists(bag, min_size=1, max_size=6))
def test_figures_equal_a_rewriting_in_loops(bags: list[tuple[np.ndarray, ...]]) -> None:
    attention = [w / w.sum() if w.sum() else uniform(len(w)) for w, *_ in bags]
    _, features, truth, known = (list(part) for part in zip(*bags, strict=True))
    found = attention_character(attention, features, truth, known)
    middle = np.mean([frame for one in features for frame in one], axis=0)
    rough, frames, alike, other = [], [], [], []
    areas: dict[int, list[float]] = {step: [] for step in range(6)}
    for a, x, told, sure in zip(attention, features, truth, known, strict=True):
        count = len(a)
        steps = [abs(count * a[t] - count * a[t + 1]) for t in range(count - 1)]
        rough.append(sum(steps))
        frames.append(1 / sum(a**2))
        for t, step in enumerate(steps):
            one, two = x[t] - middle, x[t + 1] - middle
            length = np.sqrt(one @ one) * np.sqrt(two @ two)
            near = (one == two).all() or (length > 0 and one @ two / length >= 0.98)
            (alike if near else other).append(step)
        positive = [a[t] for t in range(count) if sure[t] and told[t]]
        negative = [a[t] for t in range(count) if sure[t] and not told[t]]
        if positive and not negative:
            areas[5].append(np.mean([share > 1.00005 / count for share in positive]))
        elif positive:
            share = len(positive) / (len(positive) + len(negative))
            wins = [(p > n) + (p == n) / 2 for p in positive for n in negative]
            step = max(low for low in range(5) if share >= [0, 0.2, 0.4, 0.6, 0.8][low])
            areas[step].append(np.mean(wins))
    wanted = [len(bags), np.mean(rough), np.mean(frames)]
    wanted.append(np.mean([one / len(a) for one, a in zip(frames, attention, strict=True)]))
    wanted += [len(alike), np.mean(alike) if alike else np.nan, np.mean(other) if other else np.nan]
    wanted += [np.mean(area) if area else np.nan for area in areas.values()]
    wanted += [len(area) for area in areas.values()]
    np.testing.assert_allclose(found.to_numpy(), wanted, atol=1e-9)


def test_a_single_frame() -> None:
    found = attention_character([[1.0]], [[[3.0, 4.0]]], [[1]])
    assert found["total_variation"] == 0
    assert found["effective_frames"] == found["effective_share"] == 1
    assert found["alike_neighbours"] == 0 and np.isnan(found["alike_jump"])
    assert found["bags_100"] == 1 and found["above_uniform_100"] == 0


@pytest.mark.parametrize("count", [1, 2, 3, 7, 30, 49])
def test_uniform_attention_of_any_length_and_precision(count: int) -> None:
    for attention in (uniform(count), uniform(count).astype(np.float32), np.float32(1) / np.float32(count)):
        bags = [np.broadcast_to(attention, count)]
        found = attention_character(bags, truth=[np.ones(count)])
        assert found["total_variation"] == pytest.approx(0, abs=1e-9)
        assert found["effective_share"] == pytest.approx(1)
        assert found["above_uniform_100"] == 0


def test_a_spike_is_narrowest_and_roughest() -> None:
    found = attention_character([np.eye(30)[12]])
    assert found["effective_frames"] == pytest.approx(1)
    assert found["total_variation"] == pytest.approx(60)


def test_methods_become_a_table_by_one_concat() -> None:
    one = attention_character([FALLING], [np.eye(4)], [[1, 0, 0, 0]])
    two = attention_character([uniform(4)])
    table = pd.concat({"ps-devcem": one, "mean-pool": two}, axis=1).T
    assert list(table.columns) == NAMES and list(table.index) == ["ps-devcem", "mean-pool"]
    assert table.loc["mean-pool", "total_variation"] == 0


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="no bag"):
        attention_character([])
    for bad in ([], [[0.5, 0.5]]):
        with pytest.raises(ValueError, match=r"must be \[T\]"):
            attention_character([bad])
    for bad in ([0.5, 0.6], [1.5, -0.5], [np.nan, 1.0], [0.0, 0.0]):
        with pytest.raises(ValueError, match="must sum to 1"):
            attention_character([bad])
    for features in ([np.eye(3)], [np.ones(4)], [np.eye(4)] * 2):
        with pytest.raises(ValueError, match=r"features must be \[T,D\]"):
            attention_character([FALLING], features)
    with pytest.raises(ValueError, match="the same bags"):
        attention_character([FALLING], truth=[])
    with pytest.raises(ValueError, match="the same bags"):
        attention_character([FALLING], truth=[[1, 0, 0, 0]], known=[])
    with pytest.raises(ValueError, match="one shape"):
        attention_character([FALLING], truth=[[1, 0, 0]])
    with pytest.raises(ValueError, match="0 and 1"):
        attention_character([FALLING], truth=[[2, 0, 0, 0]])
