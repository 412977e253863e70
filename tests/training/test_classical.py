"""Classical methods from a dataset folder to a run's folder: its files, classes kept, stops and kills."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning
from toy_gut import CLASSES, small, words

import devcem
from devcem.cli import main
from devcem.errors import UserError
from devcem.evaluation.split import evaluate
from devcem.labels import Segment, load_dataset, save_dataset
from devcem.methods import names
from devcem.methods.classical import Lesson, OneVsRest, Solved
from devcem.model import load_model
from devcem.training import Trained, TrainSettings, checkpoint, train
from devcem.training.classes import solved_in_parallel, warnings_noted
from devcem.training.splitting import sides
from devcem.training.stopping import Wish

HERE = Path(__file__).parent
METHODS = names("classical")
KEPT = [f"class-{k:04d}.ckpt" for k in range(len(CLASSES))]
SAME = ("model/model.safetensors", "model/model.json", "model/README.md", "validation.csv")


def told(method: str = "sil", **changes: Any) -> TrainSettings:
    return small(method=method, **changes)


@pytest.fixture(scope="module")
def run(gut: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(gut, tmp_path_factory.mktemp("run") / "run", told())


def same(one: Path, two: Path) -> None:
    for name in SAME:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


def solved_classes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Which classes are solved from now on."""
    found: list[int] = []
    solve = Lesson.solve

    def counted(self: Lesson, k: int) -> Solved:
        found.append(k)
        return solve(self, k)

    monkeypatch.setattr(Lesson, "solve", counted)
    return found


def test_what_lies_in_the_folder(run: Trained) -> None:
    """No epochs: neither history nor curves, nor last weights beside the best."""
    found = {path.name for path in run.out.iterdir() if not path.name.startswith(".")}
    assert found == {"config.yaml", "run.json", "validation.csv", "checkpoints", "model"}
    assert sorted(path.name for path in (run.out / "checkpoints").iterdir()) == KEPT
    assert (run.epochs, run.best_epoch) == (0, 0)
    assert set(run.metrics) == {"map", "f1"}
    assert [*run.out.rglob("*.partial")] == []


def test_the_model_says_what_it_is(run: Trained) -> None:
    info = load_model(run.model).info
    assert (info.method, info.classes, info.window) == ("sil", CLASSES, 4)
    assert info.options["C"] == 10 and info.options["kernel"] == "linear"
    assert info.trained_on.synthetic and not info.backbone_trained
    assert info.notes[-1] == "never: no training video shows it: its score is constant"
    assert info.metrics["map"] == pytest.approx(run.metrics["map"])
    assert info.metrics["macro_f1_at_0.5"] == pytest.approx(run.metrics["f1"])
    assert "loss" not in info.metrics
    card = (run.model / "README.md").read_text()
    assert "- never: no training video shows it: its score is constant" in card
    assert "C 10.0" in card and "# sil, 3 classes" in card


def test_thresholds_are_tuned_on_validation(run: Trained, gut: Path) -> None:
    """The middle frames of each segment, through the loaded model; the threshold has the best F1."""
    data, model = load_dataset(gut), load_model(run.model, engine="torch", device="cpu")
    settings = told()
    judges = sides(data, settings.data, settings.seed).validation
    truth, _ = data.targets(judges)
    table = pd.read_csv(run.out / "validation.csv", index_col="class")
    for k, name in enumerate(CLASSES):
        threshold = model.info.thresholds[name]
        assert threshold.tuned == (0 < truth[:, k].sum() < len(judges))
        assert table.loc[name, "threshold"] == pytest.approx(threshold.value, abs=1e-4)
    assert model.info.thresholds["never"].value == 0.5
    assert table.loc["red", "f1"] >= table.loc["red", "f1_at_0.5"]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_goes_the_way_of_the_deep_ones(
    method: str, gut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """train, evaluate, analyze, load_model: by command and by name."""
    out = tmp_path / "run"
    assert main(["train", str(gut), "--out", str(out), *words(method=method)]) == 0
    said = capsys.readouterr()
    assert f"{out / 'model'}: on validation map " in said.out and "epoch" not in said.out
    assert "curves.png" not in said.out and f"{out / 'validation.csv'}" in said.out
    assert "never: no training video shows it: its score is constant" in said.err
    assert main(["evaluate", str(out), str(gut), "--engine", "torch", "--out", str(tmp_path / "judged")]) == 0
    table = pd.read_csv(tmp_path / "judged" / "metrics.csv", index_col="class")
    assert [*table.index] == [*CLASSES, "macro"]
    clip = gut / "media" / "p3"
    words_ = ["analyze", str(clip), "--model", str(out), "--view", "frame", "--out", str(tmp_path / "read")]
    assert main(words_) == 0
    capsys.readouterr()
    scores = pd.read_csv(tmp_path / "read" / "scores.csv")
    assert scores[[*CLASSES, "attention"]].stack().between(0, 1).all()
    assert scores["attention"].sum() == pytest.approx(1, abs=1e-4)
    model = devcem.load_model(out, engine="torch", device="cpu")
    prediction = model.predict(clip)
    assert len(prediction) == len(scores)
    assert prediction.frame_scores[:, 2] == pytest.approx(1 / (1 + np.e))  # "never": a decision of -1


def test_the_scores_that_were_tuned_are_those_of_the_model(run: Trained, gut: Path) -> None:
    """Segments no longer than the window: validation as training judged it comes out of `evaluate` again."""
    model = load_model(run.model, engine="torch", device="cpu")
    data, settings = load_dataset(gut), told()
    parts = sides(data, settings.data, settings.seed)
    short = [segment for segment in parts.validation if len(segment) <= 4]
    assert short
    found = evaluate(model, load_dataset(gut), "train", view="frame")
    ids = [segment.segment for segment in found.segments]
    for segment in short:
        one = found.predictions[ids.index(segment.segment)]
        assert one.video_scores == pytest.approx(one.frame_scores.max(0), abs=1e-6)  # SIL: its highest frame


def test_a_longer_segment_is_the_mean_of_interleaved_samples(run: Trained) -> None:
    """Seven frames, a window of four: frames 0 2 4 6 and 1 3 5; each sample scores as its highest frame."""
    model = load_model(run.model)
    assert isinstance(model.method, OneVsRest)
    features = np.random.default_rng(0).standard_normal((7, model.info.feature_dim)).astype(np.float32)
    found = model.predict_features(features)
    halves = [found.frame_scores[start::2].max(0) for start in (0, 1)]
    assert found.video_scores == pytest.approx(np.mean(halves, 0), abs=1e-6)


def test_the_number_of_threads_changes_nothing(run: Trained, gut: Path, tmp_path: Path) -> None:
    for workers in (1, 3):
        done = train(gut, tmp_path / str(workers), told(workers=workers))
        one, two = (path / "model" / "model.safetensors" for path in (done.out, run.out))
        assert one.read_bytes() == two.read_bytes()


def test_an_unknown_label_is_no_label(gut: Path, tmp_path: Path) -> None:
    """A class that only unknown segments carry has no positive."""
    shutil.copytree(gut, tmp_path / "gut")
    data = load_dataset(tmp_path / "gut")
    segments = [
        Segment(
            s.segment,
            s.source,
            s.start,
            s.stop,
            s.patient,
            s.split,
            tuple(x for x in s.labels if x != "red"),
            ("red",),
        )
        if "red" in s.labels
        else s
        for s in data.segments
    ]
    data.segments[:] = segments
    save_dataset(data, None, tmp_path / "gut")
    done = train(tmp_path / "gut", tmp_path / "run", told())
    assert "red: no training video shows it: its score is constant" in load_model(done.model).info.notes


@pytest.mark.parametrize("after", [1, 2])
def test_a_run_cut_short_goes_on_with_the_classes_that_are_left(
    after: int, gut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train(gut, tmp_path / "whole", told("mi-svm"))
    write, written = checkpoint.write, []

    def dying(path: Path, state: dict[str, Any]) -> None:
        if len(written) == after:
            raise KeyboardInterrupt
        written.append(path)
        write(path, state)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "write", dying)
        with pytest.raises(KeyboardInterrupt):
            train(gut, tmp_path / "cut", told("mi-svm", workers=1))
    assert len([*(tmp_path / "cut" / "checkpoints").iterdir()]) == after
    assert not (tmp_path / "cut" / "model").exists()
    solved = solved_classes(monkeypatch)
    train(gut, tmp_path / "cut", told("mi-svm"), resume=True)  # other workers: that may change
    assert len(solved) == len(CLASSES) - after
    same(tmp_path / "cut", whole.out)


def test_a_finished_run_learns_nothing_again(
    run: Trained, gut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(run.out, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "model")  # as a kill between the last class and the model leaves it
    solved = solved_classes(monkeypatch)
    train(gut, tmp_path / "run", told(), resume=True)
    assert solved == []
    same(tmp_path / "run", run.out)


def test_a_class_whose_file_is_damaged_is_learnt_again(
    run: Trained,
    gut: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(run.out, tmp_path / "run")
    path = tmp_path / "run" / "checkpoints" / KEPT[1]
    path.write_bytes(path.read_bytes()[:-1])
    solved = solved_classes(monkeypatch)
    train(gut, tmp_path / "run", told(), resume=True)
    assert solved == [1]
    assert f"{path}: not what was written; this class is learnt again" in capsys.readouterr().err
    same(tmp_path / "run", run.out)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"method": "miss-svm"}, "the run trains the method sil, not miss-svm"),
        ({"options": {"C": 1}}, r"other settings: options.C was None, now 1"),
        ({"data": {"window": 3}}, r"other settings: data.window was 4, now 3"),
    ],
)
def test_another_run_is_refused_by_name(
    changes: dict[str, Any], complaint: str, run: Trained, gut: Path, tmp_path: Path
) -> None:
    shutil.copytree(run.out, tmp_path / "run")
    with pytest.raises(UserError, match=complaint):
        train(gut, tmp_path / "run", small(**{"method": "sil", **changes}), resume=True)
    with pytest.raises(UserError, match="holds a run already"):
        train(gut, tmp_path / "run", told())
    same(tmp_path / "run", run.out)


def test_overwrite_starts_anew(
    run: Trained, gut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(run.out, tmp_path / "run")
    solved = solved_classes(monkeypatch)
    train(gut, tmp_path / "run", told(options={"C": 1}), overwrite=True)
    assert sorted(solved) == [0, 1, 2]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"encoder": {"train": True}}, "sil learns from features.*set encoder.train=false"),
        ({"data": {"views": 2}}, "without augmented views.*set data.views=0"),
        ({"tensorboard": True}, "no epochs that TensorBoard could show.*leave tensorboard=true out"),
        ({"devices": 2}, "sil is trained by one process.*devices=1"),
        ({"options": {"gamma": "scael"}}, "'scael' is no choice.*did you mean 'scale'"),
        ({"options": {"Cc": 3}}, "there is no option 'Cc'.*did you mean 'C'"),
    ],
)
def test_what_would_have_no_effect_is_refused_before_anything_is_written(
    changes: dict[str, Any], complaint: str, gut: Path, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=complaint):
        train(gut, tmp_path / "run", told(**changes))
    assert not (tmp_path / "run").exists()


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(
    gut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write = checkpoint.write

    def heard(path: Path, state: dict[str, Any]) -> None:
        write(path, state)
        signal.raise_signal(signal.SIGINT)

    out = tmp_path / "run"
    arguments = ["train", str(gut), "--out", str(out), *words(method="sil")]
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "write", heard)
        assert main(arguments) == 130
    assert f"the same command with --resume goes on with {out}." in capsys.readouterr().err
    assert len([*(out / "checkpoints").iterdir()]) == 1
    for thread in threading.enumerate():  # a command would have taken them with it
        if thread.name.startswith("devcem-class"):
            thread.join(60)
    assert main([*arguments, "--resume"]) == 0
    assert len([*(out / "checkpoints").iterdir()]) == 3


def test_ctrl_c_does_not_wait_for_a_class_under_way() -> None:
    """The thread is left to itself, and what it finds is dropped."""
    begun, let_go = threading.Event(), threading.Event()

    class Slow:
        def solve(self, k: int) -> Solved:
            if k:
                begun.set()
                let_go.wait(30)
            return Solved({"constant": np.array(float(k))})

    wish = Wish()
    with warnings_noted() as notes:
        found = solved_in_parallel(Slow(), [0, 1, 2], 1, notes, wish)  # type: ignore[arg-type]
        assert next(found)[0] == 0
        assert begun.wait(10)
        wish.stop = True
        with pytest.raises(KeyboardInterrupt):
            next(found)
    let_go.set()


def test_an_error_in_a_thread_comes_out(gut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Lesson, k: int) -> Solved:
        raise UserError(f"class {k} cannot be solved", remedy="none")

    monkeypatch.setattr(Lesson, "solve", broken)
    with pytest.raises(UserError, match="cannot be solved"):
        train(gut, tmp_path / "run", told())


def test_memory_that_runs_out_names_what_to_lower(
    gut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def greedy(_: Lesson, _k: int) -> Solved:
        raise MemoryError

    monkeypatch.setattr(Lesson, "solve", greedy)
    with pytest.raises(UserError, match=r"memory ran out.*set workers=1 \(now 2\)"):
        train(gut, tmp_path / "two", told(workers=2))
    with pytest.raises(UserError, match=r"set data.window=2 \(now 4\)"):
        train(gut, tmp_path / "one", told(workers=1))


def test_warnings_become_notes_of_their_class(
    gut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Said, kept over a resumption, and written into the model; of many from one place the last."""
    solve = Lesson.solve

    def complaining(self: Lesson, k: int) -> Solved:
        if k == 1:
            for gap in (0.3, 0.2):
                warnings.warn(f"left a gap of {gap}", ConvergenceWarning, stacklevel=1)
        return solve(self, k)

    with monkeypatch.context() as patch:
        patch.setattr(Lesson, "solve", complaining)
        done = train(gut, tmp_path / "run", told(options={"kernel": "rbf", "gamma": 50.0}))
    said = capsys.readouterr().err
    wanted = load_model(done.model).info.notes
    assert "nearly the identity: at gamma=50" in wanted[0] and said.count("nearly the identity") == 1
    assert wanted[1] == "green: left a gap of 0.2" and "green: left a gap of 0.2" in said
    assert len(wanted) == 3
    train(gut, tmp_path / "run", told(options={"kernel": "rbf", "gamma": 50.0}), resume=True)
    assert load_model(done.model).info.notes == wanted


def test_other_warnings_go_their_way() -> None:
    with pytest.warns(DeprecationWarning, match="old"), warnings_noted() as notes:
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert notes.of(None) == ()


CHILD = """
import sys, time
import torch
from devcem.cli import main
from devcem.methods.classical import Lesson
torch.set_num_threads(1)
solve = Lesson.solve
def slow(self, k):
    time.sleep(k)
    return solve(self, k)
Lesson.solve = slow
sys.exit(main(["train", *sys.argv[1:]]))
"""


@pytest.mark.skipif(not hasattr(os, "kill"), reason="sends signals to a process")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_is_killed_or_stopped(
    number: signal.Signals, run: Trained, gut: Path, tmp_path: Path
) -> None:
    """After its first class, while the others are under way; TERM ends it at once, with code 130."""
    out = tmp_path / "run"
    arguments = [sys.executable, "-c", CHILD, str(gut), "--out", str(out), *words(method="sil")]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        while child.poll() is None and not [*out.glob("checkpoints/class-*.ckpt")]:
            threading.Event().wait(0.02)
        child.send_signal(number)
        said = child.stderr.read()
    assert child.returncode == (130 if number == signal.SIGTERM else -number), said
    assert len([*out.glob("checkpoints/class-*.ckpt")]) < len(CLASSES)
    done = train(
        gut,
        out,
        TrainSettings.model_validate(json.loads((out / "run.json").read_text())["settings"]),
        resume=True,
    )
    one, two = (path / "model" / "model.safetensors" for path in (done.out, run.out))
    assert one.read_bytes() == two.read_bytes()
    assert torch.equal(
        load_model(done.model).method.state_dict()["each.2.constant"], torch.tensor(-1.0).double()
    )
