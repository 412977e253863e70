from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.evaluation.baselines import BASELINES, baseline_scores, baseline_video_scores

PRIOR = [0.25, 0.5]


def test_rules_by_hand() -> None:
    def one(name: str) -> list[list[float]]:
        (scores,) = baseline_scores(name, [4], PRIOR)
        return scores.T.tolist()

    assert one("empty") == [[0] * 4] * 2
    assert one("everything") == [[1] * 4] * 2
    assert one("training prior") == [[0.25] * 4, [0.5] * 4]
    assert one("centre frame") == [[0.25 * s for s in (0.25, 0.75, 0.75, 0.25)], [0.125, 0.375, 0.375, 0.125]]
    assert one("uniform sampling") == [[1, 0.5, 0.75, 0.25]] * 2
    np.testing.assert_allclose(
        baseline_scores("centre frame", [5], [1])[0][:, 0], [0.2, 0.6, 1, 0.6, 0.2], atol=1e-15
    )


@pytest.mark.parametrize("name", BASELINES)
def test_every_rule_gives_every_segment_a_table_within_0_and_1(name: str) -> None:
    tables = baseline_scores(name, [3, 0, 1000], PRIOR, seed=1)
    assert [table.shape for table in tables] == [(3, 2), (0, 2), (1000, 2)]
    assert all(((table >= 0) & (table <= 1)).all() for table in tables)
    again = baseline_scores(name, [3, 0, 1000], PRIOR, seed=1)
    assert all((a == b).all() for a, b in zip(tables, again, strict=True))
    videos = baseline_video_scores(name, 3, PRIOR, seed=1)
    assert videos.shape == (3, 2) and ((videos >= 0) & (videos <= 1)).all()
    constant = {"empty": [0, 0], "everything": [1, 1]}.get(name, PRIOR)
    assert (videos == constant).all() or name == "random"


def test_chance_hangs_on_the_seed_alone() -> None:
    one, same, other = (baseline_scores("random", [50], PRIOR, seed)[0] for seed in (1, 1, 2))
    assert (one == same).all() and (one != other).all()
    drawn = baseline_scores("random", [20000], PRIOR)[0]
    np.testing.assert_allclose(drawn.mean(axis=0), 0.5, atol=0.02)
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.05
    assert (
        baseline_video_scores("random", 3, PRIOR, 1) != baseline_video_scores("random", 3, PRIOR, 2)
    ).all()


@settings(deadline=None)
@given(st.integers(1, 300), st.floats(0.01, 1))
def test_uniform_sampling_spreads_any_budget_evenly(length: int, budget: float) -> None:
    """No two frames tie; what is kept lies at most two of the coarser steps apart."""
    scores = baseline_scores("uniform sampling", [length], [0.5])[0][:, 0]
    assert len(set(scores.tolist())) == length and scores[0] == 1
    kept = np.flatnonzero(scores > 1 - budget)
    step = 2 ** int(np.ceil(np.log2(1 / budget)))  # every step-th frame is within the budget
    assert np.diff([*kept, kept[-1] + step]).max() <= step
    assert abs(len(kept) - budget * length) <= np.log2(length) + 2
    assert set(range(0, length, step)) <= set(kept.tolist())


def test_what_is_no_baseline() -> None:
    with pytest.raises(ValueError, match="there are empty, everything"):
        baseline_scores("centre", [3], PRIOR)
    with pytest.raises(ValueError, match="no baseline is called"):
        baseline_video_scores("centre", 3, PRIOR)
    for prior in (0.5, [1.5], [np.nan]):
        with pytest.raises(ValueError, match="share from 0 to 1"):
            baseline_scores("empty", [3], prior)
    with pytest.raises(ValueError, match="-1"):
        baseline_scores("empty", [-1], PRIOR)
