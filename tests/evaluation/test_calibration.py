"""Calibration against values worked out by hand, scikit-learn, scipy and a grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.optimize import minimize
from sklearn.calibration import _SigmoidCalibration, calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

from devcem.evaluation import calibration as room
from devcem.evaluation.calibration import (
    KINDS,
    brier,
    expected_calibration_error,
    fit_calibration,
    reliability,
)
from devcem.model.calibration import Isotonic, Platt, Temperature, Unchanged


def sigmoid(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def distorted(
    count: int, slope: float = 1.0, bias: float = 0.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """truth, scores [N,1], and the chance [N,1] that truth was drawn with: sigmoid(slope * logit + bias)."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (count, 1))
    chance = sigmoid(slope * logits + bias)
    return rng.random((count, 1)) < chance, sigmoid(logits), chance


def only(
    truth: np.ndarray, scores: np.ndarray, how: str = "auto"
) -> Unchanged | Temperature | Platt | Isotonic:
    (found,) = fit_calibration(truth, scores, how=how).root.values()
    return found


def loss(one: Unchanged | Temperature | Platt | Isotonic, truth: np.ndarray, scores: np.ndarray) -> float:
    return log_loss(truth[:, 0], np.clip(one.apply(scores[:, 0]), 1e-7, 1 - 1e-7))


# figures


def test_figures_by_hand() -> None:
    """Two bins of two: {.1, .2} with one positive, .35 off; {.3, .4} with one, .15 off. Brier: (.01 + .64 +
    .09 + .36) / 4. The second class, of one known entry, is .6 off. The third is unknown."""
    truth = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0]])
    scores = np.array([[0.1, 0.4, 0], [0.2, 0, 0], [0.3, 0, 0], [0.4, 0, 0]])
    known = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0]])
    found = expected_calibration_error(truth, scores, known, bins=2)
    np.testing.assert_allclose(found, [0.25, 0.6, np.nan], atol=1e-12)
    np.testing.assert_allclose(brier(truth, scores, known), [0.275, 0.36, np.nan], atol=1e-12)
    wanted = pd.DataFrame(
        {
            "class": ["a", "a", "b"],
            "bin": [0, 1, 0],
            "count": [2, 2, 1],
            "lowest": [0.1, 0.3, 0.4],
            "highest": [0.2, 0.4, 0.4],
            "score": [0.15, 0.35, 0.4],
            "share": [0.5, 0.5, 1.0],
        }
    )
    pd.testing.assert_frame_equal(reliability(truth, scores, known, 2, ["a", "b", "c"]), wanted)


def test_ties_share_a_bin_and_the_order_of_rows_does_not_matter() -> None:
    truth, scores = np.array([[1], [0], [0], [1]]), np.array([[0.2], [0.2], [0.2], [0.9]])
    table = reliability(truth, scores, bins=2)
    assert table["count"].tolist() == [3, 1]
    assert expected_calibration_error(truth, scores, bins=2) == pytest.approx((3 * (1 / 3 - 0.2) + 0.1) / 4)
    turned = expected_calibration_error(truth[::-1], scores[::-1], bins=2)
    np.testing.assert_allclose(turned, expected_calibration_error(truth, scores, bins=2))


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), each=st.integers(1, 6), bins=st.integers(1, 10))
def test_bins_are_scikit_learns_where_no_scores_are_equal(seed: int, each: int, bins: int) -> None:
    rng = np.random.default_rng(seed)
    scores, truth = rng.random((each * bins, 1)), rng.random((each * bins, 1)) < 0.3
    shares, means = calibration_curve(truth[:, 0], scores[:, 0], n_bins=bins, strategy="quantile")
    table = reliability(truth, scores, bins=bins)
    np.testing.assert_allclose(table["share"], shares)
    np.testing.assert_allclose(table["score"], means)
    wanted = np.abs(shares - means).mean()  # bins of equally many
    assert expected_calibration_error(truth, scores, bins=bins) == pytest.approx(wanted)


table_of = st.integers(1, 12).flatmap(
    lambda count: st.tuples(
        arrays.arrays(bool, (count, 2)),
        arrays.arrays(np.float64, (count, 2), elements=st.sampled_from([0, 0.1, 0.25, 0.5, 0.9, 1])),
        arrays.arrays(bool, (count, 2)),
    )
)


@settings(deadline=None)
@given(table_of, st.integers(1, 5))
def test_figures_equal_a_rewriting_in_loops(
    table: tuple[np.ndarray, np.ndarray, np.ndarray], bins: int
) -> None:
    truth, scores, known = table
    junk = np.where(known, scores, np.nan)  # what is unknown may hold anything
    found, squares = expected_calibration_error(truth, junk, known, bins), brier(truth, junk, known)
    for k in range(2):
        entries = [(scores[i, k], truth[i, k]) for i in range(len(truth)) if known[i, k]]
        if not entries:
            assert np.isnan(found[k]) and np.isnan(squares[k])
            continue
        groups: dict[int, list[tuple[float, bool]]] = {}
        for score, side in entries:
            lower = sum(other < score for other, _ in entries)
            groups.setdefault(lower * bins // len(entries), []).append((score, side))
        gaps = [abs(sum(side - score for score, side in group)) for group in groups.values()]
        assert found[k] == pytest.approx(sum(gaps) / len(entries), abs=1e-12)
        side, ranked = [one for _, one in entries], [score for score, _ in entries]
        assert squares[k] == pytest.approx(brier_score_loss(side, ranked, pos_label=True), abs=1e-12)


def test_a_class_whose_scores_are_no_probabilities_has_no_figure() -> None:
    truth, scores = np.array([[1, 1], [0, 0]]), np.array([[2.0, 0.7], [0.1, 0.2]])
    for figure in (brier, expected_calibration_error):
        found = figure(truth, scores)
        assert np.isnan(found[0]) and np.isfinite(found[1])
    truth, scores = np.tile(truth, (10, 1)), np.tile(scores, (10, 1))
    found = fit_calibration(truth, scores, how="platt", classes=["logit", "score"])
    assert found.kinds == {"logit": "none", "score": "platt"}


def test_wrong_arguments() -> None:
    truth, scores = [[1], [0]], [[0.7], [0.2]]
    with pytest.raises(ValueError, match="0 bins"):
        reliability(truth, scores, bins=0)
    with pytest.raises(ValueError, match="no calibration is called 'beta'; use one of auto, none"):
        fit_calibration(truth, scores, how="beta")
    with pytest.raises(ValueError, match="2 class names for 1"):
        fit_calibration(truth, scores, classes=["a", "b"])


# fits


@pytest.mark.parametrize("seed", range(3))
def test_platt_is_scikit_learns(seed: int) -> None:
    truth, scores, _ = distorted(80, 0.6, -1, seed)
    found = only(truth, scores, "platt")
    logits = np.log(scores / (1 - scores))[:, 0]
    wanted = _SigmoidCalibration().fit(logits, truth[:, 0])
    assert isinstance(found, Platt)
    assert (found.slope, found.bias) == pytest.approx((-wanted.a_, -wanted.b_), rel=1e-3, abs=1e-3)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), count=st.integers(30, 100), bias=st.floats(-1, 1))
def test_platt_is_the_optimum_of_his_targets(seed: int, count: int, bias: float) -> None:
    """By scipy's simplex, which knows no derivative; 5 of either side at least are there by force."""
    truth, scores, _ = distorted(count, 0.7, bias, seed)
    truth[:5], truth[5:10] = True, False
    found, logits = only(truth, scores, "platt"), np.log(scores / (1 - scores))[:, 0]
    positives, negatives = truth.sum(), (~truth).sum()
    target = np.where(truth[:, 0], (positives + 1) / (positives + 2), 1 / (negatives + 2))

    def cost(line: np.ndarray) -> float:
        chance = sigmoid(max(line[0], 0) * logits + line[1])
        return -np.sum(target * np.log(chance) + (1 - target) * np.log(1 - chance))

    best = minimize(cost, [1, 0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10})
    assert isinstance(found, Platt)
    assert cost(np.array([found.slope, found.bias])) <= best.fun + 1e-6


def test_platts_targets_by_hand() -> None:
    """Scores of 0.2 for 6 negatives and of 0.8 for 8 positives: the line goes through logits of 1/8 and 9/10
    at -log 4 and log 4."""
    truth = np.array([[0]] * 6 + [[1]] * 8)
    found = only(truth, np.where(truth, 0.8, 0.2), "platt")
    np.testing.assert_allclose(found.apply(np.array([0.2, 0.8])), [1 / 8, 9 / 10], atol=1e-7)
    assert isinstance(found, Platt)
    low, high = -np.log(7), np.log(9)
    assert found.slope == pytest.approx((high - low) / (2 * np.log(4)))
    assert found.bias == pytest.approx((high + low) / 2)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), slope=st.floats(0.2, 4))
def test_temperature_is_the_best_of_a_fine_grid(seed: int, slope: float) -> None:
    truth, scores, _ = distorted(60, slope, 0, seed)
    found, logits = only(truth, scores, "temperature"), np.log(scores / (1 - scores))
    grid = np.exp(np.linspace(-np.log(20), np.log(20), 1500))[:, None, None]
    costs = np.logaddexp(0, np.where(truth, -1, 1) * logits / grid).sum(axis=(1, 2))
    assert isinstance(found, Temperature)
    cost = np.logaddexp(0, np.where(truth, -1, 1) * logits / found.temperature).sum()
    assert cost <= costs.min() + 1e-6  # the search ends just inside its bounds
    assert costs.min() - cost < 1e-2  # the grid is that fine


def test_temperature_by_hand() -> None:
    """Of 20 scores of 0.9, 15 are positive, and of 20 of 0.1, 5: sigmoid(log(9) / T) = 3/4, T = 2."""
    truth = np.array([[1]] * 15 + [[0]] * 5 + [[1]] * 5 + [[0]] * 15)
    found = only(truth, np.array([[0.9]] * 20 + [[0.1]] * 20), "temperature")
    assert isinstance(found, Temperature) and found.temperature == pytest.approx(2, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_isotonic_is_scikit_learns_within_platts_targets(seed: int) -> None:
    truth, scores, _ = distorted(200, 0.5, 0, seed)
    found = only(truth, scores.round(2), "isotonic")
    wanted = IsotonicRegression(out_of_bounds="clip").fit(scores[:, 0].round(2), truth[:, 0])
    places = np.linspace(0, 1, 301)
    low, high = 1 / ((~truth).sum() + 2), (truth.sum() + 1) / (truth.sum() + 2)
    points = np.clip(wanted.y_thresholds_, low, high)
    np.testing.assert_allclose(
        found.apply(places), np.interp(places, wanted.X_thresholds_, points), atol=1e-9
    )


def test_what_was_distorted_is_mended() -> None:
    for slope, bias, kinds in (
        (0.4, 0, {"temperature", "platt"}),
        (0.6, -1.5, {"platt"}),
        (1, 0, set(KINDS)),
    ):
        truth, scores, chance = distorted(800, slope, bias)
        found = only(truth, scores)
        assert found.kind in kinds
        off = np.abs(found.apply(scores) - chance).mean()
        assert off < 0.05 and off <= np.abs(scores - chance).mean() + 0.02


def test_isotonic_needs_many_and_takes_what_no_line_can_follow() -> None:
    """The chance jumps from 0.05 to 0.5 to 0.95: no sigmoid of the logit does."""
    rng = np.random.default_rng(0)
    scores = rng.random((3000, 1))
    chance = np.where(scores < 0.5, 0.05, np.where(scores < 0.97, 0.5, 0.95))
    truth = rng.random((3000, 1)) < chance
    assert only(truth, scores).kind == "isotonic"
    assert only(truth[:999], scores[:999]).kind != "isotonic"
    rare = truth.copy()
    rare[np.flatnonzero(truth)[99:]] = False
    assert only(rare, scores).kind != "isotonic"


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6), how=st.sampled_from(["temperature", "platt", "isotonic"]))
def test_no_fit_is_worse_than_the_score_on_what_it_was_fitted_to(seed: int, how: str) -> None:
    """But for Platt's targets, which are worth a few thousandths."""
    truth, scores, _ = distorted(300, 1.5, 0.5, seed)
    assert loss(only(truth, scores, how), truth, scores) <= loss(Unchanged(), truth, scores) + 5e-3


def test_auto_takes_the_lowest_held_out_loss() -> None:
    """By scikit-learn's log loss over folds cut by hand: the fifths of each side in the order of the rows."""
    for seed in range(4):
        truth, scores, _ = distorted(60, 0.5, -0.5, seed)
        held: dict[str, list[np.ndarray]] = {kind: [] for kind in KINDS[:-1]}
        sides: list[np.ndarray] = []
        fifths = [np.array_split(np.flatnonzero(truth == side), 5) for side in (0, 1)]
        for fold in range(5):
            out = np.concatenate([side[fold] for side in cut_evenly(fifths)])
            rest = np.setdiff1d(np.arange(60), out)
            sides.append(truth[out, 0])
            for kind, parts in held.items():
                parts.append(only(truth[rest], scores[rest], kind).apply(scores[out, 0]))
        losses = {
            kind: log_loss(np.concatenate(sides), np.concatenate(parts)) for kind, parts in held.items()
        }
        assert only(truth, scores).kind == min(losses, key=lambda kind: losses[kind])


def cut_evenly(fifths: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
    """The same rows, cut at i * 5 // n rather than with the longer parts first."""
    found = []
    for parts in fifths:
        rows = np.concatenate(parts)
        fold = np.array([i * 5 // len(rows) for i in range(len(rows))])
        found.append([rows[fold == one] for one in range(5)])
    return found


def test_few_of_a_side_leave_a_class_as_it_is() -> None:
    truth = np.zeros((40, 3), bool)
    truth[:5, 0], truth[:4, 1], truth[:36, 2] = True, True, True
    scores = np.random.default_rng(0).random((40, 3))
    found = fit_calibration(truth, scores, how="platt", classes=["five", "four", "but four"])
    assert found.kinds == {"five": "platt", "four": "none", "but four": "none"}
    known = np.ones_like(truth)
    known[0, 0] = False
    assert fit_calibration(truth, scores, known, "platt").kinds["0"] == "none"


def test_what_is_unknown_has_no_say() -> None:
    truth, scores, _ = distorted(90, 0.5, 0.5)
    known = np.ones((120, 1), bool)
    known[90:] = False
    junk = np.concatenate([scores, np.full((30, 1), np.nan)])
    for how in ("auto", *KINDS):
        found = fit_calibration(np.concatenate([truth, np.ones((30, 1))]), junk, known, how)
        assert found == fit_calibration(truth, scores, None, how)


DEGENERATE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "perfect": lambda truth: np.where(truth, 1.0, 0.0),
    "inverted": lambda truth: np.where(truth, 0.0, 1.0),
    "separable": lambda truth: np.where(truth, 0.7, 0.6),
    "constant": lambda truth: np.full(truth.shape, 0.3),
    "nearly constant": lambda truth: 0.3 + 1e-13 * np.arange(len(truth))[:, None],
    "nought": lambda truth: np.zeros(truth.shape),
    "one": lambda truth: np.ones(truth.shape),
}


@pytest.mark.parametrize("how", ["auto", *KINDS])
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_scores_give_finite_maps(name: str, how: str) -> None:
    for truth in (np.arange(24)[:, None] % 3 == 0, np.arange(24)[:, None] < 8):
        scores = DEGENERATE[name](truth)
        found = fit_calibration(truth, scores, how=how)
        probabilities = found.apply(np.array([[0.0], [0.3], [0.65], [1.0]]))
        assert np.isfinite(probabilities).all() and (np.diff(probabilities[:, 0]) >= 0).all()
        assert (probabilities >= 0).all() and (probabilities <= 1).all()
        assert type(found).model_validate_json(found.model_dump_json()) == found
        for figure in (brier, expected_calibration_error):
            assert np.isfinite(figure(truth, found.apply(scores))).all()
        if how == "platt" and name in ("inverted", "constant", "nought", "one"):  # 9 / 10 of 8, 1 / 18 of 16
            level = (8 * 9 / 10 + 16 / 18) / 24
            np.testing.assert_allclose(found.apply(scores), level, atol=1e-9)


@pytest.mark.parametrize("side", [0, 1])
def test_one_label_alone_gives_figures_and_no_map(side: int) -> None:
    truth, scores = np.full((12, 1), side), np.linspace(0, 1, 12)[:, None]
    assert only(truth, scores).kind == "none"
    assert expected_calibration_error(truth, scores, bins=3) == pytest.approx(0.5)
    assert np.isfinite(brier(truth, scores)).all()


def test_the_same_arrays_give_the_same_bytes_and_no_chance_is_drawn() -> None:
    truth, scores, _ = distorted(100, 0.5, 0.5)
    np.random.seed(0)  # noqa: NPY002
    one = fit_calibration(truth, scores).model_dump_json()
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    assert fit_calibration(truth, scores).model_dump_json() == one
    np.random.seed(0)  # noqa: NPY002
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


def test_held_out_folds_hold_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []
    fit = room.FITS["platt"]
    monkeypatch.setitem(room.FITS, "platt", lambda truth, scores: (seen.append(truth), fit(truth, scores))[1])
    truth = np.arange(40)[:, None] < 5
    fit_calibration(truth, np.linspace(0, 1, 40)[:, None])
    assert [(int(one.sum()), len(one)) for one in seen[:5]] == [(4, 32)] * 5
