from __future__ import annotations

import itertools

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.evaluation.averages import averages
from devcem.evaluation.bootstrap import (
    average_intervals,
    intervals,
    metric_differences,
    metric_intervals,
    paired,
)
from devcem.evaluation.draws import draw_weights, patient_units, percentiles
from devcem.evaluation.metrics import RATIOS, multilabel_metrics

Case = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[str]]
GRID = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
TABLES = st.integers(1, 7).flatmap(
    lambda n: st.tuples(
        hnp.arrays(bool, (n, 3)),
        hnp.arrays(np.float64, (n, 3), elements=GRID),
        hnp.arrays(np.float64, (n, 3), elements=GRID),
        hnp.arrays(bool, (n, 3)),
        st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=n, max_size=n),
    )
)
DRAWS = 6


def test_units_are_patients_and_rows_without_one() -> None:
    assert patient_units(["b", "", "a", "b", ""]).tolist() == [0, 1, 2, 0, 3]
    weights = draw_weights(["b", "", "a", "b", ""], 50, 0)
    assert weights.shape == (50, 5)
    assert (weights[:, 0] == weights[:, 3]).all()
    assert (weights[:, :3].sum(axis=1) + weights[:, 4] == 4).all()  # as many units as there are


def test_every_draw_of_three_patients_is_as_likely_as_it_should_be() -> None:
    weights = draw_weights(["a", "b", "c"], 20000, 1)
    seen, times = np.unique(weights, axis=0, return_counts=True)
    likely: dict[tuple[int, ...], float] = {}
    for draw in itertools.product(range(3), repeat=3):
        held = tuple(draw.count(unit) for unit in range(3))
        likely[held] = likely.get(held, 0) + 1 / 27
    assert {tuple(row) for row in seen.tolist()} == set(likely)
    for row, count in zip(seen.tolist(), times.tolist(), strict=True):
        share = likely[tuple(row)]
        assert abs(count / 20000 - share) < 5 * np.sqrt(share * (1 - share) / 20000)


@given(
    hnp.arrays(np.float64, (9, 4), elements=st.sampled_from([0.0, 0.1, 0.7, 1.0, np.nan])),
    st.floats(0.01, 0.99),
)
def test_percentiles_are_those_of_numpy_without_what_is_missing(values: np.ndarray, level: float) -> None:
    low, high, counted = percentiles(values, ["a", "b"], level)
    for f in range(4):
        there = values[~np.isnan(values[:, f]), f]
        assert counted[f] == len(there)
        wanted = np.quantile(there, [(1 - level) / 2, (1 + level) / 2]) if len(there) else [np.nan] * 2
        np.testing.assert_allclose([low[f], high[f]], wanted, atol=1e-12)


def test_the_spread_of_a_mean_is_the_one_of_theory() -> None:
    """200 patients of one video: the interval of a mean is +-1.96 standard errors."""
    values = np.random.default_rng(3).normal(size=200)
    low, high, counted = intervals(lambda rows: [values[rows].mean()], [""] * 200, draws=4000)
    half = 1.96 * values.std() / np.sqrt(200)
    np.testing.assert_allclose([low[0], high[0]], values.mean() + np.array([-half, half]), atol=0.015)
    assert counted.tolist() == [4000]
    inner = intervals(lambda rows: [values[rows].mean()], [""] * 200, draws=4000, level=0.5)
    assert inner.high[0] - inner.low[0] == pytest.approx(2 * half * 0.6745 / 1.96, rel=0.1)


@settings(deadline=None, max_examples=25)
@given(TABLES)
def test_tables_are_those_of_repeated_rows(case: Case) -> None:
    """Draw by draw, by the slow way. Precision without a positive in the draw does not count."""
    truth, scores, other, known, patients = case

    def figure(given_: np.ndarray, rows: np.ndarray) -> np.ndarray:
        table = multilabel_metrics(truth[rows], given_[rows], known[rows], 0.5)
        table.loc[table["positives"] == 0, "precision"] = np.nan
        return table[list(RATIOS)].to_numpy(float)

    columns = [[f"{name}_{part}" for name in RATIOS] for part in ("low", "high", "draws")]
    table = metric_intervals(truth, scores, known, patients, draws=DRAWS)
    slow = intervals(lambda rows: figure(scores, rows), patients, draws=DRAWS)
    assert list(table.index) == [0, 1, 2, "macro"]
    for names, wanted in zip(columns, slow, strict=True):
        np.testing.assert_allclose(table[names].to_numpy(float), wanted, atol=1e-12)

    table = metric_differences(truth, (scores, other), known, patients, draws=DRAWS)
    told = paired(lambda rows: figure(scores, rows), lambda rows: figure(other, rows), patients, draws=DRAWS)
    for names, wanted in zip([list(RATIOS), *columns], told, strict=True):
        np.testing.assert_allclose(table[names].to_numpy(float), wanted, atol=1e-12)

    names = ["polyp", "blood", "normal"]
    table = average_intervals(truth, scores, known, patients, classes=names, draws=DRAWS)
    whole = averages(truth, scores, known, classes=names)
    assert list(table.index) == list(whole.index)
    slow = intervals(
        lambda rows: averages(truth[rows], scores[rows], known[rows], classes=names)[list(RATIOS)],
        patients,
        draws=DRAWS,
    )
    for names, wanted in zip(columns, slow, strict=True):
        np.testing.assert_allclose(table[names].to_numpy(float), wanted, atol=1e-12)


def made(patients: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray, list[str]]:
    rng = np.random.default_rng(seed)
    truth = rng.random((patients, 4)) < 0.4
    return truth, truth * 0.3 + rng.random((patients, 4)), [f"p{i}" for i in range(patients)]


def test_more_videos_that_say_the_same_of_a_patient_tell_nothing_new() -> None:
    truth, scores, patients = made()
    one = metric_intervals(truth, scores, None, patients, draws=200)
    copies = (np.tile(truth, (5, 1)), np.tile(scores, (5, 1)), None, patients * 5)
    many = metric_intervals(*copies, draws=200)
    np.testing.assert_allclose(many.to_numpy(float), one.to_numpy(float), atol=1e-12)
    alone = metric_intervals(*copies[:3], [""] * 200, draws=200)  # as if they were other patients
    width = [table.loc["macro", "auroc_high"] - table.loc["macro", "auroc_low"] for table in (one, alone)]
    assert width[1] < 0.6 * width[0]  # about 1 / sqrt(5)


def test_a_draw_without_a_positive_is_left_out_and_counted() -> None:
    """A positive in one patient of 20: a draw holds it with 1 - (19/20)^20 = 0.642."""
    truth = np.zeros((20, 2), bool)
    truth[0, 0] = True
    scores = np.where(truth, 0.9, 0.1)
    patients = [f"p{i}" for i in range(20)]
    row = metric_intervals(truth, scores, None, patients, draws=2000).loc[0]
    for name in RATIOS:
        assert (row[f"{name}_low"], row[f"{name}_high"]) == (1, 1)
        if name != "specificity":
            assert abs(row[f"{name}_draws"] / 2000 - 0.642) < 0.05
    row = metric_intervals(truth, scores, None, patients, draws=2000).loc[1]
    assert row[["precision_draws", "recall_draws", "ap_draws"]].tolist() == [0, 0, 0]
    assert np.isnan(row["precision_low"]) and row["specificity_draws"] == 2000


def test_pairing_takes_out_what_patients_share() -> None:
    """The second method is a little worse on every patient: surely worse, although both intervals overlap."""
    hard = np.random.default_rng(1).normal(size=50)
    patients = [f"p{i}" for i in range(50)]
    first, second = (lambda rows: [hard[rows].mean()]), (lambda rows: [hard[rows].mean() - 0.1])
    difference, low, high, counted = paired(first, second, patients, draws=300)
    np.testing.assert_allclose([difference[0], low[0], high[0]], 0.1)
    assert counted.tolist() == [300]
    assert intervals(second, patients).high[0] > intervals(first, patients).low[0]


def test_chunks_of_draws_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, scores, patients = made()
    whole = average_intervals(truth, scores, None, patients, draws=50)
    monkeypatch.setattr("devcem.evaluation.bootstrap.CELLS", 7 * truth.size)
    np.testing.assert_allclose(average_intervals(truth, scores, None, patients, draws=50), whole, rtol=1e-12)


def test_seeds_decide_and_thresholds_count() -> None:
    truth, scores, patients = made()
    one = metric_intervals(truth, scores, None, patients, draws=50)
    np.testing.assert_array_equal(metric_intervals(truth, scores, None, patients, draws=50), one)
    assert (metric_intervals(truth, scores, None, patients, draws=50, seed=1) != one).any().any()
    low = metric_intervals(truth, scores, None, patients, threshold=[0, 0, 0, 0], draws=50)
    assert (low["recall_low"] == 1).all() and (low["specificity_high"] == 0).all()
    told = metric_differences(truth, (scores, scores), None, patients, ([0] * 4, [2] * 4), draws=50)
    assert (told["recall"] == 1).all() and (told["specificity_low"] == -1).all()


def test_one_patient_has_no_spread() -> None:
    row = metric_intervals([[1], [0]], [[0.9], [0.1]], None, ["a", "a"], draws=20).loc["macro"]
    assert np.isnan(row[["recall_low", "recall_high"]].to_numpy(float)).all()
    assert row["recall_draws"] == 0


def test_what_gives_no_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="no row"):
        intervals(lambda _: [0.0], [])
    with pytest.raises(ValueError, match="0 draws"):
        intervals(lambda _: [0.0], ["a", "b"], draws=0)
    with pytest.raises(ValueError, match="between 0 and 1, not at 95"):
        intervals(lambda _: [0.0], ["a", "b"], level=95)
    with pytest.raises(ValueError, match="must be text"):
        intervals(lambda _: [0.0], ["a", None])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="1 patients for 2 rows"):
        metric_intervals([[1], [0]], [[0.9], [0.1]], None, ["a"])
