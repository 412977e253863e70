"""Table 1, number by number as the paper prints it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.labels import CLASSES
from devcem.synthetic.table1 import PRESETS, Margins, label_sets, lengths, plausible

TRAIN = {
    "erosion": 54, "debris": 72, "diverticulosis": 17, "erythema": 16, "granularity": 27, "haemorrhage": 17,
    "inflammation": 22, "normal": 45, "oedema": 5, "angioectasia": 1, "polyp": 32, "pseudopolyp": 28,
    "tumour": 8, "ulceration": 32, "bubbles": 21,
}  # fmt: skip
TEST = {
    "erosion": 64, "debris": 84, "diverticulosis": 16, "erythema": 21, "granularity": 28, "haemorrhage": 20,
    "inflammation": 24, "normal": 41, "oedema": 7, "angioectasia": 1, "polyp": 30, "pseudopolyp": 29,
    "tumour": 3, "ulceration": 45, "bubbles": 10,
}  # fmt: skip
SIZES = {"train": {1: 107, 2: 88, 3: 16, 4: 14, 5: 2}, "test": {1: 98, 2: 89, 3: 21, 4: 17, 5: 2, 6: 1}}


@pytest.mark.parametrize(("split", "videos", "count"), [("train", TRAIN, 227), ("test", TEST, 228)])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_papers_counts(split: str, videos: dict[str, int], count: int, seed: int) -> None:
    sets = label_sets(PRESETS["paper"].splits[split], seed)
    assert len(sets) == count
    assert Counter(name for labels in sets for name in labels) == videos
    assert Counter(map(len, sets)) == SIZES[split]


def test_normal_stands_alone_or_beside_contents() -> None:
    for split in ("train", "test"):
        for labels in label_sets(PRESETS["paper"].splits[split], 3):
            assert "normal" not in labels or set(labels) <= {"normal", "debris", "bubbles"}
            assert list(labels) == sorted(labels, key=CLASSES.index)
            assert len(set(labels)) == len(labels)


def test_likely_companions_are_commoner_than_chance() -> None:
    sets = [set(labels) for labels in label_sets(PRESETS["paper"].splits["test"], 0)]
    together = sum({"erosion", "ulceration"} <= labels for labels in sets)
    assert together > 64 * 45 / 228  # what independence would give


def test_seeds_decide() -> None:
    margins = PRESETS["demo"].splits["train"]
    assert label_sets(margins, 5) == label_sets(margins, 5)
    assert label_sets(margins, 5) != label_sets(margins, 6)


def test_margins_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="3 labels by size, 2 by class"):
        Margins({"polyp": 2}, (1, 1))
    with pytest.raises(ValueError, match="no videos"):  # three polyps on two videos
        label_sets(Margins({"polyp": 3, "erosion": 1}, (0, 2)), 0)


@pytest.mark.parametrize(
    ("labels", "may"),
    [
        ("normal", True),
        ("normal debris bubbles", True),
        ("polyp debris", True),
        ("normal polyp", False),
        ("debris erosion normal", False),
        ("debris", False),  # nothing ill in it: it is normal too
    ],
)
def test_a_video_is_normal_where_nothing_is_ill(labels: str, may: bool) -> None:
    assert plausible(tuple(labels.split())) is may


def test_the_papers_frames() -> None:
    counts = lengths(28_304, 455, 50, 100, seed=0)
    assert sum(counts) == 28_304
    assert len(counts) == 455
    assert min(counts) >= 50
    assert max(counts) <= 100


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 30), st.floats(0, 1), st.integers(0, 9))
def test_lengths_add_up(segments: int, shortest: int, spread: int, full: float, seed: int) -> None:
    longest = shortest + spread
    frames = segments * shortest + round(full * segments * spread)
    counts = lengths(frames, segments, shortest, longest, seed)
    assert sum(counts) == frames
    assert all(shortest <= count <= longest for count in counts)


def test_lengths_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="cannot be 2 segments"):
        lengths(10, 2, 6, 8, 0)
