"""Splits: against brute force where that is possible, and against what they promise everywhere."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.errors import UserError
from devcem.labels import Dataset, Segment, load_dataset, save_dataset, split_dataset, write_splits
from devcem.labels.splitting import By
from devcem.labels.stratifying import deal, needed_sides, totals

CLASSES = tuple("abcdef")


def dataset(labels: list[str], patients: list[str] | None = None, root: Path = Path()) -> Dataset:
    """A segment for each text of one-letter labels."""
    patients = patients or [f"p{i}" for i in range(len(labels))]
    segments = [
        Segment(f"s{i}", f"{p}.avi", 100 * i, 100 * i + 50, p, "", tuple(sorted(text)))
        for i, (text, p) in enumerate(zip(labels, patients, strict=True))
    ]
    return Dataset(root, "d", CLASSES, segments)


@st.composite
def collections(draw: st.DrawFn) -> Dataset:
    size = draw(st.integers(3, 24))
    labels = draw(st.lists(st.sets(st.sampled_from(CLASSES)).map("".join), min_size=size, max_size=size))
    patients = draw(st.lists(st.sampled_from([f"p{i}" for i in range(9)]), min_size=size, max_size=size))
    return dataset(labels, patients)


shares = st.sampled_from([(0.5, 0.0), (0.3, 0.0), (0.5, 0.2), (0.2, 0.2)])


@settings(max_examples=60, deadline=None)
@given(collections(), st.sampled_from(["patient", "video"]), shares, st.integers(0, 5))
def test_what_every_split_promises(whole: Dataset, by: By, share: tuple[float, float], seed: int) -> None:
    sides = ("train", "test", "val") if share[1] else ("train", "test")
    groups = {s.patient if by == "patient" else s.segment for s in whole.segments}
    if len(groups) < len(sides):
        with pytest.raises(UserError, match="cannot lie on"):
            split_dataset(whole, by, *share, seed)
        return
    result = split_dataset(whole, by, *share, seed)
    assert split_dataset(whole, by, *share, seed) == result
    assert [s.segment for s in result.segments] == [s.segment for s in whole.segments]
    assert {s.split for s in result.segments} == set(sides)  # no side is empty
    if by == "patient":
        assert len({(s.patient, s.split) for s in result.segments}) == len(groups)
    for name in CLASSES:
        held = {s.split for s in result.segments if name in s.labels}
        assert (held == set(sides)) != (name in result.reasons)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sets(st.integers(0, 5)), min_size=2, max_size=8), st.integers(0, 3))
def test_as_few_classes_lack_on_a_side_as_brute_force_finds(rows: list[set[int]], seed: int) -> None:
    counts = np.array([[i in row for i in range(6)] + [1] for row in rows], float)
    needed = needed_sides(counts, 2)
    np.testing.assert_array_equal(needed[0], (counts > 0).sum(0) >= 2)

    def lacking(sides: npt.NDArray[np.int64]) -> int:
        return int((needed & (totals(counts, sides, 2) == 0)).sum())

    deals = (np.array(deal_) for deal_ in itertools.product((0, 1), repeat=len(rows)))
    assert lacking(deal(counts, [0.5, 0.5], seed)) == min(map(lacking, deals))


def test_a_deal_that_a_greedy_start_misses() -> None:
    """Pairs of a ring of even length must alternate: only 2 of 2^10 deals bring every class to both sides."""
    ring = np.array([[1.0 if i in (j, (j + 1) % 10) else 0.0 for j in range(10)] + [1.0] for i in range(10)])
    for seed in range(5):
        sides = deal(ring, [0.5, 0.5], seed)
        assert (totals(ring, sides, 2)[:, :10] == 1).all()


def test_a_triangle_cannot_lie_on_both_sides() -> None:
    result = split_dataset(dataset(["ab", "bc", "ca", "d"]))
    (name,) = {"a", "b", "c"} & set(result.reasons)
    assert result.reasons[name] == "no deal of whole patients brings it and all other classes to every side"
    assert result.reasons["d"] == "only 1 patient for 2 sides"
    assert result.reasons["e"] == "no video carries it"


def test_no_side_stays_empty_for_the_sake_of_a_class() -> None:
    result = split_dataset(dataset(["ab", "bc", "ca"]), "patient", 0.4, 0.2)
    assert sorted(s.split for s in result.segments) == ["test", "train", "val"]


def test_counts_are_near_their_shares() -> None:
    """455 videos with the paper's frequencies: each class at most one video off by video, few by patient."""
    frequencies = np.array([118, 156, 33, 37, 55, 2]) / 455
    drawn = np.random.default_rng(1).random((455, 6)) < frequencies
    labels = ["".join(c for c, d in zip(CLASSES, row, strict=True) if d) for row in drawn]
    whole = dataset(labels, [f"p{i * 7919 % 40}" for i in range(455)])
    for by, slack, size in (("video", 1.0, 1.0), ("patient", 4.0, 3.0)):
        for test in (0.5, 0.3):
            result = split_dataset(whole, by, test)  # type: ignore[arg-type]
            picked, _ = whole.targets([s for s in result.segments if s.split == "test"])
            assert abs(len(picked) - test * 455) <= size
            np.testing.assert_allclose(picked.sum(0), test * drawn.sum(0), atol=slack)


def test_seeds_make_different_splits() -> None:
    whole = dataset(["a", "b", "c", "d"] * 10)
    splits = {tuple(s.split for s in split_dataset(whole, "video", seed=seed).segments) for seed in range(5)}
    assert len(splits) == 5


@pytest.mark.parametrize(
    ("test", "val"),
    [
        (0.0, 0.0),
        (1.0, 0.0),
        (0.7, 0.3),
        (0.5, -0.1),
        (1.2, 0.0),
        (math.nan, 0.0),
        (0.5, math.nan),
        (math.inf, 0.0),
    ],
)
def test_shares_that_leave_nothing(test: float, val: float) -> None:
    with pytest.raises(UserError, match="leave nothing for a side"):
        split_dataset(dataset(["a"] * 5), "patient", test, val)


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ("patient", "1 patient cannot lie on 2 sides. Remedy: add data, or split --by video"),
        ("video", "1 video cannot lie on 2 sides. Remedy: add data"),
    ],
)
def test_too_little_to_split(by: By, told: str) -> None:
    with pytest.raises(UserError) as caught:
        split_dataset(dataset(["a"]), by)
    assert str(caught.value).endswith(told)


def test_a_segment_without_a_patient() -> None:
    whole = dataset(["a", "b"], ["p", ""])
    with pytest.raises(UserError, match=r"segment 's1' has no patient.*--by video"):
        split_dataset(whole, "patient")
    assert {s.split for s in split_dataset(whole, "video").segments} == {"train", "test"}


def test_only_the_splits_change_in_the_file(tmp_path: Path) -> None:
    whole = dataset(["a", "b"], root=tmp_path / "d")
    save_dataset(whole, None, whole.root)
    path = whole.root / "segments.csv"
    path.write_text(
        "note,split,segment,source,start,stop,patient,labels,unknown\n"
        '"x, ""y""",old?, s1,b.avi,0,50,p1,B ;a,\n'.replace("old?", "val")
        + "\n,,s0,a.avi,0,050,p2,,\n"
    )
    loaded = load_dataset(whole.root)
    write_splits(loaded, split_dataset(loaded, "video").segments)
    after = {s.segment: s.split for s in load_dataset(whole.root).segments}
    assert set(after.values()) == {"train", "test"}
    assert path.read_text() == (
        "note,split,segment,source,start,stop,patient,labels,unknown\n"
        f'"x, ""y""",{after["s1"]},s1,b.avi,0,50,p1,B ;a,\n,{after["s0"]},s0,a.avi,0,050,p2,,\n'
    )
