from __future__ import annotations

from pathlib import Path

import numpy as np

from devcem.labels import Dataset, Run, Segment, frame_truth

DATASET = Dataset(
    Path(), "d", ("polyp", "debris"), [Segment("a", "a.avi", 10, 16, "p"), Segment("b", "b", 0, 2, "p")]
)
RUNS = [Run("a", 11, 13, ("polyp",)), Run("a", 13, 15, (), ("debris",))]


def test_a_frame_that_no_run_covers_is_unknown() -> None:
    truth = frame_truth(DATASET, RUNS)
    labels, known = truth["a"]
    np.testing.assert_array_equal(labels, [[0, 0], [1, 0], [1, 0], [0, 0], [0, 0], [0, 0]])
    np.testing.assert_array_equal(known, [[0, 0], [1, 1], [1, 1], [1, 0], [1, 0], [0, 0]])
    assert truth["b"][1].shape == (2, 2)
    assert not truth["b"][1].any()


def test_only_numbers_that_exist_have_a_row() -> None:
    labels, known = frame_truth(DATASET, RUNS, {"a": np.array([10, 12, 15])})["a"]
    np.testing.assert_array_equal(labels, [[0, 0], [1, 0], [0, 0]])
    np.testing.assert_array_equal(known, [[0, 0], [1, 1], [0, 0]])
