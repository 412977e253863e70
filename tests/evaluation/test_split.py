"""A model judged on a split, against scikit-learn on scores that come another way, and hand-made counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from models import make_model, trained_on, write_frames
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    f1_score,
    precision_score,
    roc_auc_score,
)

from devcem.errors import UserError
from devcem.evaluation.folder import NOTICE, TITLES, write_evaluation
from devcem.evaluation.split import Evaluated, evaluate
from devcem.labels import Dataset, Run, Segment, load_dataset, save_dataset
from devcem.model import Calibration, Model, Threshold

THRESHOLDS = {"polyp": Threshold(value=0.5003, tuned=True), "debris": Threshold()}


@pytest.fixture(scope="module")
def model() -> Model:
    """With weights that tell the clips' brightness apart, one class more than the other."""
    return make_model("mean-pool", thresholds=THRESHOLDS, seed=3)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Six clips of numbers 10, 12, ... 20 and one learnt from; frames 12 and 14 of the first are known."""
    root = tmp_path_factory.mktemp("split")
    names = [(), ("polyp",), ("debris",), ("polyp", "debris"), (), ("polyp",)]
    segments = [
        Segment(f"s{i}", f"c{i}", 10, 21, f"p{i // 2}", "test", labels, ("debris",) if i == 4 else ())
        for i, labels in enumerate(names)
    ]
    segments.append(Segment("learnt", "c6", 10, 21, "p2", "train", ("polyp",)))
    for i in range(7):
        write_frames(root / "media" / f"c{i}", 6, size=36, seed=i, step=2)
    runs = [Run("s1", 12, 14, ("polyp",)), Run("s1", 14, 16), Run("learnt", 10, 21, ("polyp",))]
    save_dataset(Dataset(root, "hand", ("polyp", "debris"), segments), runs, root)
    return load_dataset(root)


@pytest.fixture(scope="module")
def judged(model: Model, data: Dataset) -> Evaluated:
    return evaluate(model, data)


def test_scores_are_those_of_each_clip_by_itself(model: Model, data: Dataset, judged: Evaluated) -> None:
    assert [segment.segment for segment in judged.segments] == [f"s{i}" for i in range(6)]
    for segment, told in zip(judged.segments, judged.predictions, strict=True):
        wanted = model.predict(data.root / "media" / segment.source)
        np.testing.assert_allclose(told.video_scores, wanted.video_scores, atol=1e-5)
        np.testing.assert_allclose(told.frame_scores, wanted.frame_scores, atol=1e-5)
        assert told.numbers.tolist() == wanted.numbers.tolist() == [10, 12, 14, 16, 18, 20]


def test_figures_agree_with_scikit_learn(judged: Evaluated) -> None:
    scores = np.stack([told.video_scores for told in judged.predictions])
    polyp, debris = [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 0]  # debris of the fifth is unknown
    known = [0, 1, 2, 3, 5]
    table = judged.metrics
    assert table["positives"].tolist() == [3, 2, 5] and table["negatives"].tolist() == [3, 3, 6]
    for name, truth, given in (("polyp", polyp, scores[:, 0]), ("debris", debris, scores[known, 1])):
        assert table.loc[name, "auroc"] == pytest.approx(roc_auc_score(truth, given))
        assert table.loc[name, "ap"] == pytest.approx(average_precision_score(truth, given))
        bar = THRESHOLDS[name].value
        assert table.loc[name, "threshold"] == bar
        assert table.loc[name, "f1"] == pytest.approx(f1_score(truth, given >= bar, zero_division=0))
        half = precision_score(truth, given >= 0.5, zero_division=0)
        assert table.loc[name, "precision_at_0.5"] == pytest.approx(half)
    assert table.loc["macro", "auroc"] == pytest.approx(table["auroc"].iloc[:2].mean())


def test_probabilities_are_judged_beside_scores(model: Model, data: Dataset, judged: Evaluated) -> None:
    """Without calibration they are the scores; with it, the model's own, and nothing else moves."""
    maps = {"debris": {"kind": "platt", "slope": 2.0, "bias": -0.5}, "polyp": {"kind": "none"}}
    info = model.info.model_copy(update={"calibration": Calibration.model_validate(maps)})
    calibrated = evaluate(Model(info, model.method, model.backbone, "torch", "cpu"), data)
    truth, rows = [0, 0, 1, 1, 0], [0, 1, 2, 3, 5]  # debris of the fifth is unknown
    scores, given = (
        np.stack([getattr(calibrated.predictions[i], name)[1] for i in rows])
        for name in ("video_scores", "probabilities")
    )
    np.testing.assert_allclose(
        np.log(given / (1 - given)), 2 * np.log(scores / (1 - scores)) - 0.5, atol=1e-5
    )
    before, after = judged.metrics, calibrated.metrics
    for name in ("ece", "brier"):
        assert before[f"{name}_calibrated"].tolist() == before[name].tolist() == after[name].tolist()
        assert after.loc["polyp", f"{name}_calibrated"] == before.loc["polyp", name]
        assert after.loc["macro", f"{name}_calibrated"] == after[f"{name}_calibrated"].iloc[:2].mean()
    assert before.loc["debris", "brier"] == pytest.approx(brier_score_loss(truth, scores))
    assert after.loc["debris", "brier_calibrated"] == pytest.approx(brier_score_loss(truth, given))
    alone = np.abs(given - truth).mean()  # five entries in ten bins, no two of them equal
    assert after.loc["debris", "ece_calibrated"] == pytest.approx(alone)
    moved = ["ece_calibrated", "brier_calibrated"]
    pd.testing.assert_frame_equal(after.drop(columns=moved), before.drop(columns=moved))


def test_frames_are_judged_where_their_truth_is_known(judged: Evaluated) -> None:
    """Of all test frames number 12 of s1 shows a polyp and 14 does not; neither shows debris."""
    table = judged.localisation
    assert table is not None
    assert table["positives"].tolist() == [1, 0, 1] and table["negatives"].tolist() == [1, 2, 3]
    scores = judged.predictions[1].frame_scores[:, 0]
    assert table.loc["polyp", "bag_auroc"] == float(scores[1] > scores[2])
    assert np.isnan(table.loc["debris", "auroc"])


def test_without_truth_of_frames_there_is_no_localisation(
    model: Model, data: Dataset, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    save_dataset(replace(data, root=bare), None, bare)
    (bare / "media").symlink_to(data.root / "media")
    found = evaluate(model, load_dataset(bare), cache=data.root / ".features")
    assert found.localisation is None
    write_evaluation(found, tmp_path / "out")
    assert not (tmp_path / "out" / "localisation.csv").exists()
    assert "localisation" not in found.summary()


def test_the_second_time_nothing_is_encoded(
    model: Model, data: Dataset, judged: Evaluated, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(model.encoder), "encode", lambda *_: pytest.fail("encoded again"))
    again = evaluate(model, data)
    pd.testing.assert_frame_equal(again.metrics, judged.metrics)


def test_what_is_written(judged: Evaluated, tmp_path: Path) -> None:
    out = write_evaluation(judged, tmp_path / "out")
    tables = ("averages", "events", "intervals", "kept", "localisation", "metrics", "scores")
    others = ("evaluation.json", "figures", "recipe.json", "report.html")
    assert {path.name for path in out.iterdir()} == {*(f"{name}.csv" for name in tables), *others}
    scores = pd.read_csv(out / "scores.csv")
    assert list(scores) == ["segment", "polyp", "debris"]
    assert scores["segment"].tolist() == [f"s{i}" for i in range(6)]
    wanted = [told.video_scores[1] for told in judged.predictions]
    assert scores["debris"].tolist() == pytest.approx(wanted, rel=1e-5)
    table = pd.read_csv(out / "metrics.csv", index_col="class")
    assert table.index.tolist() == ["polyp", "debris", "macro"]
    assert table.loc["polyp", "ap"] == pytest.approx(judged.metrics.loc["polyp", "ap"], rel=1e-5)
    told = json.loads((out / "evaluation.json").read_text())
    assert told == judged.summary()
    assert (told["segments"], told["patients"], told["frames"]) == (6, 3, 36)
    assert told["macro"]["positives"] == 5 and "threshold" not in told["macro"]  # NaN is left out
    with pytest.raises(UserError, match="exists already"):
        write_evaluation(judged, out)
    write_evaluation(judged, out, overwrite=True)


def test_the_page_shows_every_table_and_picture(judged: Evaluated, tmp_path: Path) -> None:
    out = write_evaluation(judged, tmp_path / "out")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "mean-pool on hand, split test" in page
    assert all(notice in page for notice in judged.notices) and NOTICE in page
    assert all(f"<b>{title}.</b>" in page for title in TITLES.values())
    for name in ("classes", "confusion", "reliability", "kept"):
        assert f'src="figures/{name}.png"' in page
        assert {path.suffix for path in (out / "figures").glob(f"{name}.*")} == {".svg", ".png"}
    averages = pd.read_csv(out / "averages.csv", index_col="average")
    assert averages.loc["macro", "ap"] == pytest.approx(judged.metrics.loc["macro", "ap"], rel=1e-5)
    intervals = pd.read_csv(out / "intervals.csv", index_col="class")
    ap = judged.metrics["ap"]
    assert (intervals["ap_low"] <= ap + 1e-6).all() and (ap <= intervals["ap_high"] + 1e-6).all()


def test_without_truth_of_frames_there_is_nothing_about_frames(judged: Evaluated, tmp_path: Path) -> None:
    out = write_evaluation(replace(judged, localisation=None, frame_targets=None), tmp_path / "out")
    assert not any((out / f"{name}.csv").exists() for name in ("localisation", "events", "kept"))
    assert TITLES["kept"] not in (out / "report.html").read_text(encoding="utf-8")


def test_the_order_of_the_datasets_classes_does_not_matter(
    model: Model, data: Dataset, judged: Evaluated
) -> None:
    found = evaluate(model, replace(data, classes=("debris", "polyp")))
    pd.testing.assert_frame_equal(found.metrics, judged.metrics)


def test_other_classes_are_refused_by_name(model: Model, data: Dataset) -> None:
    other = replace(data, classes=("polyp", "tumour", "oedema"))
    with pytest.raises(UserError, match=r"has no debris; the model knows no tumour, oedema.*polyp, debris"):
        evaluate(model, other)


def test_an_empty_split_is_told(model: Model, data: Dataset) -> None:
    with pytest.raises(UserError, match=r"split 'val'.*--split test"):
        evaluate(model, data, "val")
    bare = replace(data, segments=[replace(segment, split="") for segment in data.segments])
    with pytest.raises(UserError, match="devcem data split"):
        evaluate(model, bare)


@pytest.mark.parametrize(
    ("changes", "split", "notices"),
    [
        ({"dataset": "hand"}, "test", ["1 of 3 patients lie in train as well"]),
        ({"dataset": "another"}, "test", []),
        ({"dataset": "hand"}, "train", ["made with the split train"]),
        ({"dataset": "another", "synthetic": True}, "test", ["trained on synthetic video"]),
    ],
)
def test_what_flatters_is_said(
    data: Dataset, changes: dict[str, object], split: str, notices: list[str]
) -> None:
    found = evaluate(make_model("mean-pool", trained_on=trained_on(**changes)), data, split)
    assert len(found.notices) == len(notices)
    assert all(wanted in said for wanted, said in zip(notices, found.notices, strict=True))
    assert found.summary()["synthetic"] is bool(changes.get("synthetic", False))


def test_a_synthetic_dataset_is_said(model: Model, data: Dataset) -> None:
    found = evaluate(model, replace(data, synthetic=True))
    assert "The dataset is synthetic video." in found.notices
    assert found.summary()["synthetic"] is True
