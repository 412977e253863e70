"""`devcem data import`: exit codes, what is printed for people and for machines, and the review."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import devcem.cli.import_  # noqa: F401  registers the command
from devcem.cli import main
from devcem.labels import load_dataset

HEADER = "file,patient,text_label\n"


@pytest.fixture
def src(tmp_path: Path) -> Path:
    root = tmp_path / "src"
    root.mkdir()
    (root / "frames.csv").write_text(HEADER + "t_7.jpg,P1,small polyp\nt_9.jpg,P2,Quuxbury biopsy?\n")
    return root


def test_a_review_of_every_tag_is_printed(
    src: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "import", "captiv8", str(src), str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    for words in (
        "small polyp",
        "Quuxbury",
        "asserts",
        "1 of 2 tags need a look",
        "Frames are missing: 2 of 2",
    ):
        assert words in printed
    assert "Research use only" in printed
    assert [s.labels for s in load_dataset(tmp_path / "out").segments] == [("polyp",), ()]


def test_the_text_is_stored_on_demand_alone(src: Path, tmp_path: Path) -> None:
    out, review = tmp_path / "out", tmp_path / "review.csv"
    assert main(["data", "import", "captiv8", str(src), str(out), "--review", str(review)]) == 0
    assert not any("Quuxbury" in p.read_text() for p in out.rglob("*") if p.is_file())
    with review.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["line"], r["text"], r["labels"], r["words without a rule"]) for r in rows] == [
        ("2", "small polyp", "polyp", ""),
        ("3", "Quuxbury biopsy?", "", "Quuxbury"),
    ]


def test_json_holds_no_text(src: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "import", "captiv8", str(src), str(tmp_path / "out"), "--json"]) == 0
    printed = capsys.readouterr().out
    found = json.loads(printed)
    assert (found["segments"], found["missing"], found["to_review"]) == (2, 2, 1)
    assert found["tags"][0] == {"line": 2, "labels": ["polyp"], "unknown": [], "denied": [], "review": []}
    assert "Quuxbury" not in printed


def test_failed_sources_are_listed_and_end_with_3(
    src: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(src / "t_7.jpg")
    assert main(["data", "import", "captiv8", str(src), str(tmp_path / "out")]) == 3
    assert "devcem: failed: P1-7: " in capsys.readouterr().err
    assert main(["data", "import", "captiv8", str(src), str(tmp_path / "whole"), "--view", "frame"]) == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["kvasir", "."], "did you mean kvasir-capsule?"),
        (["captiv8", "none"], "no such file or folder"),
        (["tags", "https://x.org/a.mp4"], "a network address or an FFmpeg protocol, which is never opened"),
        (["captiv8", ".", "--offset", "left"], "left"),
        (["captiv8", ".", "--rules", "none.yaml"], "not a rule table"),
    ],
)
def test_mistakes_are_one_line_and_end_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    assert main(["data", "import", words[0], words[1], str(tmp_path / "out"), *words[2:]]) == 2
    assert told in capsys.readouterr().err.strip().splitlines()[-1]


def test_a_place_for_the_review_that_fails_does_so_before_the_work(
    src: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    review = tmp_path / "nowhere" / "review.csv"
    assert main(["data", "import", "captiv8", str(src), str(tmp_path / "out"), "--review", str(review)]) == 2
    assert f"{review}: no such folder" in capsys.readouterr().err
    inside = tmp_path / "out" / "review.csv"
    assert main(["data", "import", "captiv8", str(src), str(tmp_path / "out"), "--review", str(inside)]) == 2
    assert f"{inside}: the text of tags stays out of the dataset" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_frame_truth_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = [{"start": 0, "end": 1999, "label": ["colon"]}]
    (tmp_path / "e.json").write_text(json.dumps({"videos": [{"video_id": "1", "events": events}]}))
    assert main(["data", "import", "rare-vision", str(tmp_path / "e.json"), str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "1 segments of 1 patients, 2,000 frames, 2,000 with frame truth" in printed
    assert "Note: frame numbers are Galar's 'index'" in printed
