from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from devcem.labels.importers.collection import class_of, ordered, runs_of, stretches


def test_classes_are_canonical_where_they_mean_the_same() -> None:
    assert class_of("Ulcer") == "ulceration"
    assert class_of("Blood - fresh") == "haemorrhage"
    assert class_of("Z-Line ") == "z-line"
    assert class_of("Foreign Bodies", {"foreign-bodies": "foreign-body"}) == "foreign-body"
    assert ordered(["z-line", "polyp", "erosion", "mouth"]) == ("erosion", "polyp", "mouth", "z-line")


def test_stretches_by_hand() -> None:
    numbers, codes = np.array([0, 1, 2, 5, 6, 7]), np.array([1, 1, 2, 2, 2, 1])
    assert [(s.start, s.stop) for s in stretches(numbers, codes)] == [(0, 2), (2, 3), (3, 5), (5, 6)]
    assert [(s.start, s.stop) for s in stretches(numbers, codes * 0, step=3)] == [(0, 6)]
    assert list(stretches(np.array([], np.int64), np.array([], np.int64))) == []


@given(st.dictionaries(st.integers(0, 40), st.sampled_from([(), ("polyp",), ("erosion", "polyp")])))
def test_runs_say_of_every_frame_what_the_frames_said(frames: dict[int, tuple[str, ...]]) -> None:
    runs = runs_of("s", frames)
    assert {n: run.labels for run in runs for n in range(run.start, run.stop)} == frames
    assert sum(run.stop - run.start for run in runs) == len(frames)
    assert all(a.stop < b.start or a.labels != b.labels for a, b in pairwise(runs))
