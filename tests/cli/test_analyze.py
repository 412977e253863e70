"""`devcem analyze` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from models import make_model, trained_on, write_frames

from devcem.cli import main
from devcem.model import Threshold, save_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clip, and a model that says 0.75 of debris and 0.25 of polyp whatever it sees."""
    root = tmp_path_factory.mktemp("analyze")
    write_frames(root / "clip", 5)
    thresholds = {"polyp": Threshold(value=0.2, tuned=True), "debris": Threshold(value=0.8, tuned=True)}
    model = make_model("mean-pool", trained_on=trained_on(True), thresholds=thresholds)
    with torch.no_grad():
        model.method.head.weight.zero_()
        model.method.head.bias.copy_(torch.tensor([0.25, 0.75]).logit())
    save_model(root / "model", model)
    return root


def test_it_prints_the_probabilities_and_says_what_to_open(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "result"
    words = ["analyze", str(folder / "clip"), "--model", str(folder / "model"), "--out", str(out)]
    assert main([*words, "--start", "11", "--stop", "14"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    rows = [line.split() for line in lines]
    assert lines[0].endswith("clip: frames 11 to 13, 3 in all")
    assert rows[1] == ["class", "probability", "threshold", "called"]
    assert rows[2:4] == [["debris", "0.750", "0.800"], ["polyp", "0.250", "0.200", "yes"]]
    assert any("no clip.times.csv beside it" in line for line in lines)
    end = "The model was trained on synthetic video. Research use only, not a medical device."
    assert lines[-1] == f"Look at {out / 'strip.png'}. {end}"


def test_for_machines(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "result"
    words = ["analyze", str(folder / "clip"), "--model", str(folder / "model"), "--out", str(out), "--json"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["synthetic"] is True and told["frames"] == 5 and told["out"] == str(out)
    assert told["classes"]["polyp"] == {"score": 0.25, "threshold": 0.2, "called": True}
    assert {**told, "out": None} == {**json.loads((out / "exam.json").read_text()), "out": None}


@pytest.mark.parametrize(
    ("clip", "model", "line"),
    [
        ("clop", "model", "clop"),
        ("clip", "modle", "did you mean model?"),
    ],
)
def test_what_is_not_there_is_one_line(
    folder: Path, tmp_path: Path, clip: str, model: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["analyze", str(folder / clip), "--model", str(folder / model), "--out", str(tmp_path / "r")]
    assert main(words) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert line in told and "Remedy" in told
    assert not (tmp_path / "r").exists()
