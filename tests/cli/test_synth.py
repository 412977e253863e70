"""`devcem synth dataset | exam` as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devcem.cli.app import main
from devcem.labels import Dataset, Segment, load_dataset, save_dataset
from devcem.synthetic.collection import Order, plan
from devcem.synthetic.table1 import PRESETS

TABLE_1 = {  # as printed in the paper; bubbles are the labels that its columns lack
    "train": {
        "erosion": 54, "debris": 72, "diverticulosis": 17, "erythema": 16, "granularity": 27,
        "haemorrhage": 17, "inflammation": 22, "normal": 45, "oedema": 5, "angioectasia": 1,
        "polyp": 32, "pseudopolyp": 28, "tumour": 8, "ulceration": 32, "bubbles": 21,
    },
    "test": {
        "erosion": 64, "debris": 84, "diverticulosis": 16, "erythema": 21, "granularity": 28,
        "haemorrhage": 20, "inflammation": 24, "normal": 41, "oedema": 7, "angioectasia": 1,
        "polyp": 30, "pseudopolyp": 29, "tumour": 3, "ulceration": 45, "bubbles": 10,
    },
}  # fmt: skip


def test_a_small_collection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "gut"
    words = [
        "synth",
        "dataset",
        str(out),
        "--segments",
        "2",
        "--patients",
        "2",
        "--size",
        "48",
        "--workers",
        "1",
    ]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    dataset = load_dataset(out)
    assert told == {
        "folder": str(out),
        "synthetic": True,
        "segments": 2,
        "frames": sum(map(len, dataset.segments)),
        "patients": 2,
    }
    assert main(words) == 2
    assert "exists already" in capsys.readouterr().err
    assert main([*words, "--overwrite"]) == 0
    assert "Research use only, not a medical device." in capsys.readouterr().out


def test_a_small_exam(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["synth", "exam", str(tmp_path / "exam"), "--frames", "120", "--size", "32", "--workers", "1"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "synthetic exam of 120 frames" in shown
    assert "not a medical device" in shown
    assert main([*words, "--overwrite", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["frames"] == 120
    assert told["synthetic"] is True


def test_the_paper_preset_is_table_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The plan of the collection, as `devcem data stats` counts it."""
    shots = plan(Order("paper", seed=0))
    segments = [
        Segment(shot.name, f"{shot.name}.avi", 0, shot.frames, shot.patient.id, shot.split, shot.labels)
        for shot in shots
    ]
    dataset = Dataset(tmp_path / "paper", "paper", PRESETS["paper"].classes, segments, synthetic=True)
    save_dataset(dataset, None, tmp_path / "paper")
    assert main(["data", "stats", str(tmp_path / "paper"), "--json"]) == 0
    stats = json.loads(capsys.readouterr().out)
    for split, videos in TABLE_1.items():
        assert stats["splits"][split]["with_class"] == videos
    assert stats["splits"]["train"]["videos"] == 227
    assert stats["splits"]["test"]["videos"] == 228
    assert stats["splits"]["train"]["label_counts"] == {"1": 107, "2": 88, "3": 16, "4": 14, "5": 2}
    assert stats["splits"]["test"]["label_counts"] == {"1": 98, "2": 89, "3": 21, "4": 17, "5": 2, "6": 1}
    assert stats["total"]["frames"] == 28_304
    assert stats["total"]["patients"] == 40


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["dataset", "X", "--size", "63"], "must be even"),
        (["dataset", "X", "--preset", "papre"], "papre"),
        (["dataset", "X", "--cameras", "3"], "less than or equal to 2"),
        (["dataset", "X", "--segments", "2", "--patients", "9"], "9 patients cannot share 2 segments"),
        (["exam", "X", "--frames", "5"], "greater than or equal to 100"),
    ],
)
def test_mistakes_are_told(
    words: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(tmp_path / word) if word == "X" else word for word in words]
    assert main(["synth", *words]) == 2
    assert complaint in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["dataset"], ["exam"], []])
def test_help_shows_an_example(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", *words, "--help"]) == 0
    assert "Example: devcem synth" in capsys.readouterr().out
