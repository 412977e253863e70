from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from devcem.evaluation import linear_probe

RNG = np.random.default_rng(0)
PATIENTS = np.repeat([f"p{k}" for k in range(8)], 25)  # 8 patients, 25 frames each
N = len(PATIENTS)


def known(k: int = 1) -> np.ndarray:
    return np.ones((N, k), bool)


def test_a_feature_that_is_the_label_gets_everything_and_noise_gets_half() -> None:
    truth = np.arange(N) % 2 == 0
    features = np.column_stack([truth + 0.01 * RNG.normal(size=N)])
    table = linear_probe(features, truth[:, None], known(), PATIENTS, ["polyp"])
    row = table.iloc[0]
    assert (row["class"], row["frames"], row["positives"], row["patients"]) == ("polyp", 200, 100, 8)
    assert row["auroc"] == row["ap"] == 1
    assert row["reason"] == ""
    noise = linear_probe(RNG.normal(size=(N, 3)), truth[:, None], known(), PATIENTS, ["polyp"]).iloc[0]
    assert noise["auroc"] == pytest.approx(0.5, abs=0.12)
    assert noise["ap"] == pytest.approx(0.5, abs=0.12)


def test_one_feature_is_ranked_as_it_stands() -> None:
    """A line through one feature keeps its order within a fold, and nearly so over all folds."""
    truth = RNG.random(N) < 0.4
    feature = truth + RNG.normal(size=N)
    row = linear_probe(feature[:, None], truth[:, None], known(), PATIENTS, ["a"]).iloc[0]
    assert row["auroc"] == pytest.approx(roc_auc_score(truth, feature), abs=0.02)


def test_what_a_patient_looks_like_is_not_learnt_as_the_disease() -> None:
    """Features say who it is, and so do the labels: perfect by random frames, worth little by patient."""
    ill = np.isin(PATIENTS, ["p0", "p1", "p2", "p3"])
    features = np.stack([f"p{k}" == PATIENTS for k in range(8)], axis=1) + 0.01 * RNG.normal(size=(N, 8))
    by_frame = linear_probe(features, ill[:, None], known(), np.arange(N), ["a"]).iloc[0]["auroc"]
    by_patient = [
        linear_probe(features, ill[:, None], known(), PATIENTS, ["a"], seed=seed).iloc[0]["auroc"]
        for seed in range(8)
    ]
    assert by_frame == 1
    assert np.mean(by_patient) < 0.8


def test_units_of_a_feature_do_not_matter() -> None:
    truth = RNG.random(N) < 0.5
    features = np.column_stack([truth + RNG.normal(size=N), RNG.normal(size=N)])
    scaled = linear_probe(features * [1e4, 1e-4] + [5, -7], truth[:, None], known(), PATIENTS, ["a"])
    plain = linear_probe(features, truth[:, None], known(), PATIENTS, ["a"])
    assert scaled.iloc[0]["auroc"] == pytest.approx(plain.iloc[0]["auroc"], abs=1e-3)


def test_unknown_frames_take_no_part() -> None:
    truth = np.arange(N) % 2 == 0
    features = truth + 0.01 * RNG.normal(size=N)
    wrong = np.arange(N) % 5 == 0
    features[wrong] = 1 - features[wrong]  # these would spoil it
    row = linear_probe(features[:, None], truth[:, None], ~wrong[:, None], PATIENTS, ["a"]).iloc[0]
    assert (row["frames"], row["positives"]) == (160, 80)
    assert row["auroc"] == 1


def test_what_can_not_be_scored_says_why_and_stays_out_of_the_mean() -> None:
    truth = np.arange(N) % 2 == 0
    labels = np.column_stack([truth, PATIENTS == "p3", np.zeros(N, bool), np.ones(N, bool)])
    features = np.column_stack([truth + 0.01 * RNG.normal(size=N)])
    table = linear_probe(features, labels, known(4), PATIENTS, ["a", "b", "c", "d"]).set_index("class")
    assert table.loc["b", "reason"] == "1 patient with positive frames"
    assert table.loc["c", "reason"] == "0 patients with positive frames"
    assert table.loc["d", "reason"] == "0 patients with negative frames"
    assert table.loc[["b", "c", "d"], ["auroc", "ap"]].isna().all().all()
    assert table.loc["macro", "auroc"] == 1
    assert table.loc["macro", "reason"] == "mean of 1 of 4 classes"
    assert table.loc["macro", "frames"] == N


def test_nothing_to_score_at_all() -> None:
    table = linear_probe(np.zeros((N, 2)), np.zeros((N, 1), bool), known(), PATIENTS, ["a"])
    assert np.isnan(table.iloc[-1]["auroc"])


def test_patients_that_folds_can_not_part_are_told() -> None:
    """One healthy, one ill, one both: in two folds, the ill ones can end up on the same side."""
    groups = np.repeat(["healthy", "ill", "both"], [25, 25, 53])
    truth = np.r_[np.zeros(25, bool), np.ones(52, bool), np.zeros(26, bool)]
    row = linear_probe(
        RNG.normal(size=(103, 1)), truth[:, None], np.ones((103, 1), bool), groups, ["a"]
    ).iloc[0]
    assert (row["positives"], row["patients"]) == (52, 2)
    assert row["reason"] == "a fold left one side without training frames"
    assert np.isnan(row["auroc"])


def test_the_seed_decides_the_folds() -> None:
    truth = RNG.random(N) < 0.5
    features = RNG.normal(size=(N, 2))
    first, again, other = (
        linear_probe(features, truth[:, None], known(), PATIENTS, ["a"], seed=seed).iloc[0]["auroc"]
        for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other
