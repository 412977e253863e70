"""`devcem data check | stats | split` as a user calls them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from devcem.cli.app import app, main
from devcem.cli.data import data
from devcem.labels import Dataset, Segment, load_dataset, save_dataset

CLASSES = ("polyp", "erosion", "normal")


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    labels = [("polyp",), ("erosion",), ("polyp", "erosion"), ("normal",), ("normal",), ("polyp",)]
    segments = [
        Segment(f"s{i}", f"{i}.avi", 0, 50 + i, f"p{i // 2}", "train", names)
        for i, names in enumerate(labels)
    ]
    save_dataset(Dataset(tmp_path / "d", "hand", CLASSES, segments, synthetic=True), None, tmp_path / "d")
    return tmp_path / "d"


def break_it(dataset: Path) -> None:
    path = dataset / "segments.csv"
    path.write_text(path.read_text().replace(",erosion,", ",erosoin,"))


def test_check_of_a_sound_dataset(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "check", str(dataset)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("segments.csv: warning: frames are missing: none of the 6 sources")
    assert lines[1:] == [f"0 errors, 1 warning in {dataset}"]


def test_check_of_a_broken_dataset(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    break_it(dataset)
    assert main(["data", "check", str(dataset), "--media"]) == 2
    out, err = capsys.readouterr()
    message = "error: 'erosoin' is not a class of this dataset; did you mean 'erosion'?"
    assert f"segments.csv:3:24: {message}" in out.splitlines()
    assert err == (f"devcem: 1 error, 1 warning in {dataset}. Remedy: mend what is listed and check again\n")


def test_check_for_machines(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    break_it(dataset)
    assert main(["data", "check", str(dataset), "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert (told["errors"], told["warnings"]) == (1, 1)
    (problem,) = [p for p in told["problems"] if p["severity"] == "error"]
    assert (problem["file"], problem["line"], problem["column"]) == ("segments.csv", 3, 24)
    assert (problem["value"], problem["nearest"]) == ("erosoin", "erosion")


def test_check_on_a_terminal(
    dataset: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_it(dataset)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["data", "check", str(dataset)]) == 2
    out = capsys.readouterr().out
    assert "segments.csv:3:24" in out
    assert "severity" in out


def test_stats(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "stats", str(dataset), "--out", str(tmp_path / "out")]) == 0
    out, err = capsys.readouterr()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines() if "|" in line]
    assert ["polyp", "3", "3", "0"] in rows
    assert ["train", "6", "315", "6", "3", "50 to 55", "52.5"] in rows
    assert ["2 erosion", "1", "2", "0"] in rows
    assert "hand (synthetic)" in out
    assert "stats.png" in err
    assert (tmp_path / "out" / "stats.png").is_file()


@pytest.mark.parametrize("terminal", [False, True])
def test_stats_of_many_classes_are_never_cut(
    terminal: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Galar has some 30 classes: their table is wider than a log or a terminal, and holds every count."""
    monkeypatch.setenv("COLUMNS", "80")
    if terminal:
        monkeypatch.setenv("TTY_COMPATIBLE", "1")  # rich takes the output for a terminal
    classes = tuple(f"a-class-with-a-name-{i}" for i in range(40))
    segments = [Segment(f"s{i}", "a.avi", 0, 50, "p", "", (classes[i % 40],)) for i in range(4000)]
    save_dataset(Dataset(tmp_path / "d", "wide", classes, segments), None, tmp_path / "d")
    assert main(["data", "stats", str(tmp_path / "d")]) == 0
    out = capsys.readouterr().out
    assert "…" not in out
    together = out.split("videos that carry both classes")[1]
    assert re.findall(r"[0-9]+(?= *[|\n])", together).count("100") == 40


def test_stats_for_machines(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "stats", str(dataset), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["total"]["with_class"] == {"polyp": 3, "erosion": 2, "normal": 2}


def test_split_by_patient(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "split", str(dataset), "--test", "0.34", "--seed", "3"]) == 0
    out = capsys.readouterr().out
    assert "split by patient, seed 3" in out
    assert "Optimistic" not in out
    segments = load_dataset(dataset).segments
    assert len({(s.patient, s.split) for s in segments}) == 3
    assert {s.split for s in segments} == {"train", "test"}


def test_split_by_video_is_called_optimistic(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "split", str(dataset), "--by", "video", "--val", "0.34", "--test", "0.33"]) == 0
    out = capsys.readouterr().out
    assert "Optimistic: split by video" in out
    assert "erosion is not on every side: only 2 videos for 3 sides" in out
    assert main(["data", "split", str(dataset), "--by", "video", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["optimistic"] is True


def test_errors_stop_stats_and_split(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    break_it(dataset)
    before = (dataset / "segments.csv").read_bytes()
    for command in ("stats", "split"):
        assert main(["data", command, str(dataset)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "segments.csv:3:24" in line
    assert (dataset / "segments.csv").read_bytes() == before
    assert main(["data", "split", str(dataset), "--by", "clinic"]) == 2


@pytest.mark.parametrize("command", [[], ["check"], ["stats"], ["split"]])
def test_help_shows_an_example(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", *command, "--help"]) == 0
    assert "Example: devcem data" in capsys.readouterr().out


def test_the_group_is_registered_once() -> None:
    assert [group.typer_instance for group in app.registered_groups].count(data) == 1
