"""The traps: ends are inclusive, exams are numbered as text, an event may have no label."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from devcem.errors import UserError
from devcem.labels import Run, load_dataset, load_runs
from devcem.labels.importers import Options, import_dataset

GOLDEN: list[dict[str, Any]] = [
    {
        "video_id": "10",
        "events": [
            {"start": 559, "end": 563, "label": ["angiectasia", "stomach"]},
            {"start": 564, "end": 564, "label": []},
            {
                "start": 565,
                "end": 569,
                "label": ["lymphangioectasis", "small intestine", "blood", "active bleeding"],
            },
        ],
    },
    {
        "video_id": "2",
        "events": [{"start": 0, "end": 9, "label": ["colon"]}, {"start": 20, "end": 29, "label": []}],
    },
    {"video_id": "3", "events": []},
]


def write(path: Path, videos: object = GOLDEN) -> Path:
    path.write_text(json.dumps({"videos": videos}), encoding="utf-8")
    return path


def test_events_become_segments_and_runs(tmp_path: Path) -> None:
    summary = import_dataset("rare-vision", write(tmp_path / "e.json"), tmp_path / "out")
    dataset = load_dataset(tmp_path / "out")
    first, second = dataset.segments
    assert (second.segment, second.start, second.stop, second.patient) == ("galar-010", 559, 570, "galar-010")
    assert second.labels == ("haemorrhage", "angioectasia", "lymphangiectasia", "small-intestine", "stomach")
    assert second.unknown == ()
    assert (first.segment, first.start, first.stop) == ("galar-002", 0, 30)
    assert first.labels == ("colon",)
    assert set(first.unknown) == set(dataset.classes) - {"colon"}, "frames 10 to 19 may show anything"
    assert list(load_runs(dataset)) == [
        Run("galar-002", 0, 10, ("colon",)),
        Run("galar-002", 20, 30),
        Run("galar-010", 559, 564, ("angioectasia", "stomach")),
        Run("galar-010", 564, 565),
        Run("galar-010", 565, 570, ("haemorrhage", "lymphangiectasia", "small-intestine")),
    ]
    assert summary.source_counts["angiectasia"] == 5
    assert summary.frames_by_class["haemorrhage"] == 5, "blood and active bleeding at once count once"
    assert summary.missing == 2
    assert any("video 3" in note for note in summary.notes)


def test_a_folder_with_one_json_will_do(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    write(tmp_path / "src" / "e.json")
    assert import_dataset("rare-vision", tmp_path / "src", tmp_path / "out").segments == 2
    (tmp_path / "src" / "f.json").touch()
    with pytest.raises(UserError, match="2 JSON files"):
        import_dataset("rare-vision", tmp_path / "src", tmp_path / "out2")


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([{"start": 5, "end": 4, "label": []}], "video 7, event from 5: it ends at 4"),
        (
            [{"start": 0, "end": 4, "label": []}, {"start": 4, "end": 6, "label": []}],
            "event from 4: it starts before",
        ),
        ([{"start": 0, "end": 4, "label": ["polip"]}], "'polip' is not a label.*'polyp'"),
        ([{"start": 0, "end": 4}], r"not an events file: videos.0.events.0.label: Field required\. Remedy"),
        ([{"start": -1, "end": "x", "label": []}], r"videos.0.events.0.start: Input .* 0 \(and 1 more\)\. "),
    ],
)
def test_broken_events_are_told(tmp_path: Path, events: list[object], told: str) -> None:
    path = write(tmp_path / "e.json", [{"video_id": "7", "events": events}])
    with pytest.raises(UserError, match=told):
        import_dataset("rare-vision", path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_video_that_stands_twice_is_told(tmp_path: Path) -> None:
    video = {"video_id": "7", "events": [{"start": 0, "end": 4, "label": ["polyp"]}]}
    (tmp_path / "e.json").write_text(json.dumps({"videos": [video, video]}))
    with pytest.raises(UserError, match=r"e.json: the video '7' stands twice. Remedy"):
        import_dataset("rare-vision", tmp_path / "e.json", tmp_path / "out")


def test_pictures_cannot_be_matched(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'index'"):
        import_dataset("rare-vision", write(tmp_path / "e.json"), tmp_path / "out", Options(frames=tmp_path))


def test_the_real_events(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "labels" / "galar_events.json"
    summary = import_dataset("rare-vision", path, tmp_path / "out")
    truth: Counter[str] = Counter()
    haemorrhage = 0
    for video in json.loads(path.read_text())["videos"]:
        for event in video["events"]:
            length = event["end"] - event["start"] + 1
            truth.update(dict.fromkeys(event["label"], length))
            haemorrhage += length * bool({"blood", "active bleeding", "hematin"} & set(event["label"]))
    assert summary.source_counts == truth
    assert summary.frames_by_class["haemorrhage"] == haemorrhage
    assert (summary.segments, summary.frames, summary.labelled_frames) == (60, 3_279_160, 3_279_160), (
        "no gaps"
    )
    assert sum(1 for _ in load_runs(load_dataset(tmp_path / "out"))) == 23_137
    assert (truth["polyp"], truth["z-line"]) == (17_877, 81)
