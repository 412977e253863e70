"""From a dataset folder to a run's folder: what lies in it, and that it is what was trained."""

from __future__ import annotations

import csv
import json
import logging
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import safetensors.torch
import torch
import yaml
from PIL import Image
from toy_bags import same
from toy_gut import CLASSES, small

from devcem.encoders import TorchEncoder, load_backbone
from devcem.errors import UserError
from devcem.evaluation.calibration import brier, fit_calibration
from devcem.frames import open_source, uniform
from devcem.frames.clip import read_clip
from devcem.labels import load_dataset
from devcem.model import load_model
from devcem.training import Trained, reporting, train
from devcem.training import folder as folder_
from devcem.training.curves import draw_curves
from devcem.training.splitting import sides

FILES = {"config.yaml", "run.json", "history.csv", "curves.png", "validation.csv"}


@pytest.fixture(scope="module")
def run(gut: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Three epochs on cached features."""
    return train(gut, tmp_path_factory.mktemp("run") / "run", small(epochs=4, checkpoint_seconds=0))


def tensors(folder: Path) -> dict[str, torch.Tensor]:
    return safetensors.torch.load_file(folder / "model.safetensors")


def test_what_lies_in_the_folder(run: Trained) -> None:
    names = {path.name for path in run.out.iterdir() if not path.name.startswith(".")}
    assert names == FILES | {"model", "last", "checkpoints"}
    assert yaml.safe_load((run.out / "config.yaml").read_text())["options"]["hidden"] == 8
    assert len(list((run.out / "checkpoints").glob("*.ckpt"))) == 2
    assert [*run.out.rglob("*.partial")] == []
    with (run.out / "history.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["1", "2", "3", "4"]
    assert {"lr", "train_video", "train_selfsup", "train_total", "val_total", "val_map", "val_f1"} <= rows[
        0
    ].keys()
    best = min(rows, key=lambda row: float(row["val_total"]))
    assert run.best_epoch == int(best["epoch"])
    assert run.metrics["loss"] == pytest.approx(float(best["val_total"]), rel=1e-6)


def test_the_picture_of_the_curves(run: Trained) -> None:
    picture = np.asarray(Image.open(run.out / "curves.png").convert("RGB"))
    assert picture.shape[0] > 400 and picture.shape[1] > 600
    for colour in ((0x2F, 0x66, 0x90), (0xE0, 0x8E, 0x45), (0x5A, 0x8F, 0x5C)):  # train, validation, F1
        assert (np.abs(picture.astype(int) - colour).max(axis=2) < 12).sum() > 100


def test_curves_of_one_epoch_can_be_seen(tmp_path: Path) -> None:
    row = {"epoch": 1, "lr": 1e-3, "train_total": 2.0, "val_total": 1.0, "val_map": 0.5, "val_f1": 0.0}
    draw_curves([row], tmp_path / "curves.png", 0)
    picture = np.asarray(Image.open(tmp_path / "curves.png").convert("RGB")).astype(int)
    picture = picture[:, : picture.shape[1] * 3 // 4]  # without the legend
    for colour in ((0x2F, 0x66, 0x90), (0xE0, 0x8E, 0x45), (0x5A, 0x8F, 0x5C), (0x55, 0x55, 0x55)):
        found = np.abs(picture - colour).max(axis=2) < 12
        assert found.sum() > 20


def test_the_model_says_what_it_is(run: Trained) -> None:
    info = load_model(run.model).info
    assert (info.method, info.classes, info.window, info.view) == ("ps-devcem", CLASSES, 4, "frame")
    assert info.options["hidden"] == 8
    assert info.trained_on.synthetic and run.synthetic
    assert info.trained_on.dataset == "toy gut"
    assert info.trained_on.segments + info.trained_on.validation_segments == 9  # test stays out
    assert info.trained_on.patients == 2
    assert not info.trained_on.optimistic
    assert info.backbone["weights"] == load_backbone("test_resnet", "random").fingerprint["weights"]
    assert not info.backbone_trained
    assert info.metrics["loss"] == run.metrics["loss"]
    assert info.settings["epochs"] == 4
    assert "Trained on synthetic video" in (run.model / "README.md").read_text()


def test_a_class_that_validation_cannot_judge_keeps_one_half(run: Trained) -> None:
    info = load_model(run.model).info
    assert info.thresholds["never"].value == 0.5
    assert not info.thresholds["never"].tuned
    assert info.thresholds["red"].tuned
    table = pd.read_csv(run.out / "validation.csv", index_col="class")
    assert [*table.index] == [*CLASSES, "macro"]
    assert table.loc["never", "threshold"] == 0.5
    assert table.loc["red", "threshold"] == pytest.approx(info.thresholds["red"].value, abs=1e-4)
    assert table.loc["red", "f1"] >= table.loc["red", "f1_at_0.5"]  # that threshold has the best F1
    assert info.metrics["macro_f1_at_0.5"] == pytest.approx(run.metrics["f1"])
    assert table.loc["macro", "f1_at_0.5"] == pytest.approx(run.metrics["f1"], rel=1e-5)
    last = load_model(run.out / "last").info
    assert last.metrics == {}
    assert last.calibration is None
    assert not any(threshold.tuned for threshold in last.thresholds.values())


def test_calibration_is_fitted_on_the_scores_that_thresholds_are_tuned_on(
    run: Trained, gut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = load_model(run.model).info.calibration
    assert kinds is not None and kinds.kinds == dict.fromkeys(CLASSES, "none")  # too few to calibrate
    monkeypatch.setattr("devcem.evaluation.calibration.LEAST", 1)
    given: list[Any] = []

    def fit(truth: Any, scores: Any, known: Any, **names: Any) -> Any:
        given.append((truth, scores, known))
        return fit_calibration(truth, scores, known, "platt", **names)

    monkeypatch.setattr("devcem.training.saving.fit_calibration", fit)
    told = small(epochs=4, checkpoint_seconds=0)
    again = train(gut, tmp_path / "run", told)
    ((truth, scores, known),) = given
    model = load_model(again.model)
    assert model.info.calibration == fit_calibration(truth, scores, known, "platt", CLASSES)
    assert model.info.calibration.kinds == {"red": "platt", "green": "platt", "never": "none"}
    assert model.info.thresholds == load_model(run.model).info.thresholds
    table, before = (pd.read_csv(out / "validation.csv", index_col="class") for out in (again.out, run.out))
    assert table["brier"].to_numpy()[:-1] == pytest.approx(brier(truth, scores, known), rel=1e-5)
    wanted = brier(truth, model.calibrated(scores), known)
    assert table["brier_calibrated"].to_numpy()[:-1] == pytest.approx(wanted, rel=1e-5)
    assert (table.loc[["red", "green"], "brier_calibrated"] != table.loc[["red", "green"], "brier"]).all()
    assert before["ece_calibrated"].tolist() == before["ece"].tolist()


def test_the_figures_of_validation_come_out_again_from_the_model(run: Trained, gut: Path) -> None:
    """The middle frames of each of its segments, through the loaded model."""
    data, told = load_dataset(gut), small()
    model = load_model(run.model, engine="torch", device="cpu")
    judges = sides(data, told.data, told.seed).validation
    scores = []
    for segment in judges:
        with open_source(gut / "media" / segment.source) as source:
            clip = read_clip(source, model.encoder.size, segment.start, segment.stop, view="frame")
        chosen = uniform(len(segment), 4)
        scores.append(model.predict_features(model.encoder.encode(clip.frames)[chosen]).video_scores)
    labels, _ = data.targets(judges)
    cost = -np.where(labels, np.log(scores), np.log1p(-np.array(scores)))[:, :2].mean(1)  # "never" has no say
    history = pd.read_csv(run.out / "history.csv")
    assert cost.mean() == pytest.approx(history["val_video"][run.best_epoch - 1], rel=1e-4)


def test_the_last_weights_are_another_models(run: Trained) -> None:
    best, last = tensors(run.model), tensors(run.out / "last")
    assert best.keys() == last.keys()
    if run.best_epoch == run.epochs:
        assert same(best, last)
    else:
        assert not same(best, last)


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(
    run: Trained, gut: Path, tmp_path: Path
) -> None:
    again = train(gut, tmp_path / "again", small(epochs=4))
    other = train(gut, tmp_path / "other", small(epochs=4, seed=1))
    bytes_ = [(found.model / "model.safetensors").read_bytes() for found in (run, again, other)]
    assert bytes_[0] == bytes_[1]
    assert bytes_[0] != bytes_[2]


def test_features_are_computed_once(
    run: Trained, gut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run.epochs == 4

    def fail(*_: object) -> None:
        raise AssertionError("encoded again")

    monkeypatch.setattr(TorchEncoder, "encode", fail)
    train(gut, tmp_path / "run", small(method="mean-pool", epochs=1))


def test_views_are_drawn_into_the_training_bags(gut: Path, tmp_path: Path) -> None:
    plain = train(gut, tmp_path / "plain", small(method="mean-pool"))
    views = train(gut, tmp_path / "views", small(method="mean-pool", data={"views": 2}))
    assert not same(tensors(plain.out / "last"), tensors(views.out / "last"))


def test_end_to_end(gut: Path, tmp_path: Path) -> None:
    told = small(encoder={"train": True}, data={"window": 2}, epochs=2, batch=4)
    done = train(gut, tmp_path / "run", told)
    info = load_model(done.model).info
    assert info.backbone_trained
    found = tensors(done.out / "last")
    start = load_backbone("test_resnet", "random").network.state_dict()
    moved = {name for name, value in start.items() if not torch.equal(found[f"backbone.{name}"], value)}
    assert len(moved) > 20
    assert not any("running" in name for name in moved)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"method": "ps-devcm"}, "no method is called 'ps-devcm'.*did you mean 'ps-devcem'"),
        ({"options": {"hiden": 3}}, "there is no option 'hiden'.*did you mean 'hidden'"),
        ({"encoder": {"name": "resnet51", "weights": "random"}}, "no encoder is called 'resnet51'"),
        ({"encoder": {"name": "colour"}}, "'colour' is a histogram.*set encoder.name=efficientnet-lite0"),
        ({"data": {"view": "pillcam"}}, "no lens view is called 'pillcam'.*use one of auto, frame, pillcam-"),
        ({"method": "w-talc", "batch": 1}, "w-talc compares the videos of a step.*batch=1.*set batch=10"),
        ({"accelerator": "cuda"}, "can't be used here.*set accelerator=cpu"),
    ],
)
def test_what_cannot_be_trained_is_told_before_anything_is_written(
    changes: dict[str, Any], complaint: str, gut: Path, tmp_path: Path
) -> None:
    if changes.get("accelerator") == "cuda" and torch.cuda.is_available():
        pytest.skip("this machine has what the test wants to miss")
    with pytest.raises(UserError, match=complaint):
        train(gut, tmp_path / "run", small(**changes))
    assert not (tmp_path / "run").exists()


def test_tensorboard(gut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = small(method="mean-pool", epochs=1, tensorboard=True)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "torch.utils.tensorboard", None)
        with pytest.raises(
            UserError, match=r"TensorBoard is not installed.*pip install devcem\[tensorboard\]"
        ):
            train(gut, tmp_path / "without", told)
    assert not (tmp_path / "without").exists()
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train(gut, tmp_path / "with", told)
    events = EventAccumulator(str(tmp_path / "with" / "tensorboard"))
    events.Reload()
    row = pd.read_csv(tmp_path / "with" / "history.csv").iloc[0]
    (point,) = events.Scalars("train/total")
    assert point.step == 1
    assert point.value == pytest.approx(row["train_total"], rel=1e-5)


def test_a_run_stopped_while_it_trains_goes_on(
    gut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a resumption with another dataset is refused; that of the same one ends as if nothing had been."""
    told = small(epochs=4, checkpoint_seconds=0)
    whole = train(gut, tmp_path / "whole", told)
    calls = 0
    heard = reporting.Reporter.__call__

    def listen(self: Any, progress: Any, loss: float | None) -> None:
        nonlocal calls
        calls += 1
        heard(self, progress, loss)
        if calls == 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(reporting.Reporter, "__call__", listen)
        with pytest.raises(KeyboardInterrupt):
            train(gut, tmp_path / "cut", told)
    assert not (tmp_path / "cut" / "model").exists()
    assert (tmp_path / "cut" / "history.csv").is_file()
    data = load_dataset(gut)
    changed = replace(data, segments=[replace(data.segments[0], labels=("green",)), *data.segments[1:]])
    with pytest.raises(UserError, match="its segments or labels have changed"):
        train(changed, tmp_path / "cut", told, resume=True)
    done = train(gut, tmp_path / "cut", told, resume=True)
    for name in ("model", "last"):
        assert same(tensors(done.out / name), tensors(whole.out / name))
    one, two = (pd.read_csv(out / "history.csv").drop(columns="seconds") for out in (whole.out, done.out))
    pd.testing.assert_frame_equal(one, two)
    assert (done.out / "validation.csv").read_bytes() == (whole.out / "validation.csv").read_bytes()
    shutil.rmtree(done.out / "model")  # as a kill between the last step and the model leaves it
    assert same(tensors(train(gut, done.out, told, resume=True).model), tensors(whole.model))
    assert json.loads((done.out / folder_.IDENTITY).read_text())["method"] == "ps-devcem"


@pytest.mark.parametrize("train_encoder", [False, True])
def test_other_pixels_behind_the_same_labels_are_refused(
    train_encoder: bool, gut: Path, tmp_path: Path
) -> None:
    told = small(method="mean-pool", epochs=1, encoder={"train": train_encoder})
    mine = tmp_path / "gut"
    shutil.copytree(gut, mine, ignore=shutil.ignore_patterns(".features"))
    train(mine, tmp_path / "run", told)
    train(mine, tmp_path / "run", told, resume=True)
    picture = min((mine / "media" / "p0").glob("*.png"))
    Image.fromarray(np.zeros((40, 40, 3), np.uint8)).save(picture)
    before = (tmp_path / "run" / "model" / "model.json").read_bytes()
    with pytest.raises(UserError, match="'toy gut' as it was then; its media have changed"):
        train(mine, tmp_path / "run", told, resume=True)
    assert (tmp_path / "run" / "model" / "model.json").read_bytes() == before


def test_weights_that_cannot_be_fetched(gut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: Any, pretrained: bool) -> None:
        assert pretrained and logging.getLogger("huggingface_hub").level == logging.CRITICAL
        raise OSError("no network")

    monkeypatch.setattr("devcem.encoders.architecture.Architecture.empty", offline)
    before = logging.getLogger("huggingface_hub").level
    with pytest.raises(UserError, match=r"can't be fetched \(no network\).*set encoder\.weights to a file"):
        train(gut, tmp_path / "run", small(encoder={"name": "tv_resnet50.tv_in1k", "weights": "hub"}))
    assert logging.getLogger("huggingface_hub").level == before
    assert not (tmp_path / "run").exists()
