"""A run's folder belongs to one process, and to one run."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from toy_bags import settings

from devcem.config import checked
from devcem.errors import UserError
from devcem.labels import Dataset, Segment
from devcem.training.folder import begin, claimed, identity, saved_settings
from devcem.training.settings import TrainSettings

ENCODER = {"encoder": "resnet10t", "weights": "0a1b", "size": 32}
DATA = Dataset(Path("x"), "gut", ("polyp", "blood"), [Segment("s", "s.avi", 0, 9, "p", "train")])


def who(
    told: TrainSettings, data: Dataset = DATA, print_: str = "f1", media: str = "m1", **encoder: Any
) -> dict[str, Any]:
    return identity(data, print_, told, {**ENCODER, **encoder}) | {"media": media}


@pytest.fixture
def started(tmp_path: Path) -> Path:
    """A folder in which a run has begun, with a checkpoint and a model."""
    told = settings()
    begin(tmp_path, told, who(told), resume=False, overwrite=False)
    for name in ("checkpoints", "model", "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
    return tmp_path


def test_what_is_written_down(tmp_path: Path) -> None:
    told = settings(method="atten-lstm", options={"hidden": 8})
    begin(tmp_path, told, who(told), resume=False, overwrite=False)
    assert checked(TrainSettings, yaml.safe_load((tmp_path / "config.yaml").read_text())) == told
    run = json.loads((tmp_path / "run.json").read_text())
    assert {run["method"], run["dataset"], run["fingerprint"]} == {"atten-lstm", "gut", "f1"}
    assert run["classes"] == ["polyp", "blood"]
    kept = saved_settings(tmp_path)
    assert kept is not None and checked(TrainSettings, kept) == told
    assert saved_settings(tmp_path / "nowhere") is None


def test_a_run_is_neither_mixed_nor_lost(started: Path) -> None:
    with pytest.raises(UserError, match=r"holds a run already.*--resume to go on, --overwrite to start anew"):
        begin(started, settings(), who(settings()), resume=False, overwrite=False)
    assert (started / "model").is_dir()


def test_the_same_run_goes_on(started: Path) -> None:
    told = settings(workers=7, checkpoint_seconds=1)  # these two are free
    begin(started, told, who(told), resume=True, overwrite=False)
    assert (started / "checkpoints" / "file").is_file()
    assert saved_settings(started) == told.model_dump(mode="json")


def test_what_cannot_be_removed_is_not_taken_for_the_new_run(started: Path) -> None:
    (started / "model" / "file").unlink()
    (started / "model").rmdir()
    (started / "model").write_text("a file")
    with pytest.raises(NotADirectoryError):
        begin(started, settings(), who(settings()), resume=False, overwrite=True)


def test_start_anew(started: Path) -> None:
    told = settings(seed=5)
    begin(started, told, who(told), resume=False, overwrite=True)
    assert sorted(path.name for path in started.iterdir()) == ["config.yaml", "mine", "run.json"]
    assert saved_settings(started) == told.model_dump(mode="json")


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_that_is_no_run_is_left_alone(overwrite: bool, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "precious").write_text("x")
    with pytest.raises(UserError, match="something that is no run"):
        begin(tmp_path, settings(), who(settings()), resume=False, overwrite=overwrite)
    assert [path.name for path in tmp_path.rglob("*")] == ["model", "precious"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"method": "mean-pool"}, "the run trains the method ps-devcem, not mean-pool"),
        ({"seed": 3}, "other settings: seed was 0, now 3"),
        (
            {"optimiser": {"lr": 0.5}, "batch": 2},
            r"other settings: batch was 4, now 2; optimiser\.lr was 0\.01, now 0\.5",
        ),
        ({"options": {"hidden": 4}}, r"other settings: options\.hidden was None, now 4"),
    ],
)
def test_other_settings_are_refused_by_name(started: Path, changes: dict[str, Any], complaint: str) -> None:
    told = settings(**changes)
    with pytest.raises(UserError, match=complaint):
        begin(started, told, who(told), resume=True, overwrite=False)
    assert saved_settings(started) == settings().model_dump(mode="json")


@pytest.mark.parametrize(
    ("classes", "how"),
    [
        (("polyp", "tumour"), r"another class list \(without blood; with tumour\)"),
        (("polyp",), r"another class list \(without blood\)"),
        (("blood", "polyp"), r"another class list \(in another order\)"),
    ],
)
def test_other_classes_are_refused_by_name(started: Path, classes: tuple[str, ...], how: str) -> None:
    with pytest.raises(UserError, match=how):
        begin(started, settings(), who(settings(), replace(DATA, classes=classes)), True, False)


def test_another_dataset_is_refused_by_name(started: Path) -> None:
    changed = "dataset 'gut' as it was then; its segments or labels have changed"
    with pytest.raises(UserError, match=changed):
        begin(started, settings(), who(settings(), print_="f2"), True, False)
    with pytest.raises(UserError, match="dataset 'gut' as it was then; this is 'other'"):
        begin(started, settings(), who(settings(), replace(DATA, name="other"), "f2"), True, False)
    begin(started, settings(), who(settings(), replace(DATA, name="renamed")), True, False)


def test_other_pixels_are_refused(started: Path) -> None:
    """Segments and labels may be the same, and the videos others."""
    with pytest.raises(UserError, match="dataset 'gut' as it was then; its media have changed"):
        begin(started, settings(), who(settings(), media="m2"), True, False)


def test_another_encoder_is_refused(started: Path) -> None:
    with pytest.raises(UserError, match="encoder is another one: weights was '0a1b', now 'ffff'"):
        begin(started, settings(), who(settings(), weights="ffff"), True, False)


def test_a_kill_between_the_two_files_loses_nothing(started: Path) -> None:
    (started / "config.yaml").unlink()
    begin(started, settings(), who(settings()), resume=True, overwrite=False)
    assert (started / "config.yaml").is_file()


def test_a_kill_before_the_first_file_leaves_a_folder_that_can_be_used(tmp_path: Path) -> None:
    (tmp_path / ".run.json.x7.partial").write_text("{")
    (tmp_path / ".lock").touch()
    begin(tmp_path, settings(), who(settings()), resume=True, overwrite=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "config.yaml", "run.json"]


@pytest.mark.parametrize("content", [b"{", b"[]", b"{}", b'{"settings": {}}', b"\xff\xfe"])
def test_a_damaged_run_is_told_and_can_be_started_anew(content: bytes, started: Path) -> None:
    (started / "run.json").write_bytes(content)
    damaged = r"run\.json: this does not describe a run\. Remedy: .*--overwrite"
    with pytest.raises(UserError, match=damaged):
        saved_settings(started)
    with pytest.raises(UserError, match=damaged):
        begin(started, settings(), who(settings()), resume=True, overwrite=False)
    begin(started, settings(), who(settings()), resume=False, overwrite=True)
    assert saved_settings(started) == settings().model_dump(mode="json")


def test_a_place_that_takes_no_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="a file stands where a folder is to be"), claimed(tmp_path / "file"):
        pass
    nowhere = Path("/proc/run")  # Linux's, in which nobody makes folders
    if nowhere.parent.is_dir():
        with pytest.raises(UserError, match="no such folder"), claimed(nowhere):
            pass


def test_what_kills_left_is_swept(started: Path) -> None:
    half = started / "checkpoints" / ".step-000000001.ckpt.x7.partial"
    half.write_text("half")
    begin(started, settings(), who(settings()), resume=True, overwrite=False)
    assert not half.exists()


HOLDER = """
import sys
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_process_at_a_time(tmp_path: Path) -> None:
    words = [sys.executable, "-c", HOLDER, str(tmp_path / ".lock")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(UserError, match="another process is training in this folder"), claimed(tmp_path):
            pass
        holder.kill()
    with claimed(tmp_path):  # a kill gives the folder free
        pass
    with claimed(tmp_path / "new"):
        assert (tmp_path / "new").is_dir()
