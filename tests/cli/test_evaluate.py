"""`devcem evaluate` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from models import make_model, trained_on, write_frames

from devcem.cli import main
from devcem.labels import Dataset, Run, Segment, save_dataset
from devcem.model import Calibration, save_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("evaluate")
    labels = [("polyp",), (), ("debris",)]
    for i in range(3):
        write_frames(root / "data" / "media" / f"c{i}", 4, seed=i)
    segments = [Segment(f"s{i}", f"c{i}", 10, 14, f"p{i}", "test", names) for i, names in enumerate(labels)]
    runs = [Run("s0", 10, 12, ("polyp",)), Run("s0", 12, 14)]
    data = Dataset(root / "data", "hand", ("polyp", "debris"), segments, synthetic=True)
    save_dataset(data, runs, root / "data")
    save_model(root / "model", make_model("mean-pool", trained_on=trained_on(True)))
    return root


def test_it_prints_a_table_and_says_what_it_is_worth(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "judged"
    assert main(["evaluate", str(folder / "model"), str(folder / "data"), "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "hand, split test: 3 segments, 3 patients"
    rows = [line.split() for line in lines if line.strip()]
    table = pd.read_csv(out / "metrics.csv", index_col="class")
    assert rows[1][:4] == ["class", "positives", "auroc", "ap"]
    assert rows[2][:4] == ["polyp", "1", *(f"{table.loc['polyp', name]:.3f}" for name in ("auroc", "ap"))]
    assert rows[4][0] == "macro" and rows[4][4] == "-"  # no threshold
    assert any(row[:2] == ["polyp", "2"] and row[4] == "1" for row in rows[5:])  # two frames, one segment
    assert lines[-1] == (
        f"wrote {out}. The model was trained on synthetic video. The dataset is synthetic video. "
        "Research use only, not a medical device."
    )


def test_it_says_what_calibration_changed(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(folder / "data"), "--out", str(tmp_path / "judged"), "--overwrite"]
    assert main(["evaluate", str(folder / "model"), *words]) == 0
    assert "once calibrated" not in capsys.readouterr().out
    maps = {"polyp": {"kind": "platt", "slope": 0.5, "bias": -1.0}, "debris": {"kind": "none"}}
    calibrated = make_model("mean-pool", calibration=Calibration.model_validate(maps))
    assert main(["evaluate", str(save_model(tmp_path / "model", calibrated)), *words]) == 0
    macro = pd.read_csv(tmp_path / "judged" / "metrics.csv", index_col="class").loc["macro"]
    assert macro["ece"] != macro["ece_calibrated"]
    lines = capsys.readouterr().out.splitlines()
    assert lines[4].split()[0] == "macro" and lines[4].split()[-1] == f"{macro['ece']:.3f}"
    off = f"macro {macro['ece']:.3f}, once calibrated {macro['ece_calibrated']:.3f}"
    assert f"ece: how far scores are from probabilities; {off}" in lines


def test_for_machines(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["evaluate", str(folder / "model"), str(folder / "data"), "--out", str(tmp_path / "j"), "--json"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["synthetic"] is True and told["segments"] == 3
    with monkeypatch.context() as patch:
        patch.setattr("devcem.evaluation.split.evaluate", lambda *_: pytest.fail("the frames were read"))
        assert main(words) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main([*words, "--overwrite"]) == 0


def test_a_split_that_is_not_there_is_one_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", str(folder / "model"), str(folder / "data"), "--split", "val"]
    assert main([*words, "--out", str(tmp_path / "j")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no segment lies in the split 'val'" in line and "--split test" in line
    assert not (tmp_path / "j").exists()
