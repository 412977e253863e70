"""A clip with a model: the result folder, its truth, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from models import make_model, trained_on, write_frames
from PIL import Image

import devcem
from devcem.errors import UserError
from devcem.exam import LONGEST, analyze
from devcem.exam.analysing import frame_table
from devcem.exam.truth import clip_truth
from devcem.labels import Dataset, Run, Segment, save_dataset
from devcem.model import Model, Prediction, save_model


@pytest.fixture(scope="module")
def model() -> Model:
    return make_model("mean-pool", trained_on=trained_on(True))


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """Frames 10, 12, ... 24."""
    return write_frames(tmp_path / "data" / "media" / "clip", 8, step=2)


def dataset(clip: Path) -> Dataset:
    """The clip in two segments and a gap; another source; a class the model does not know."""
    segments = [
        Segment("a", "clip", 10, 16, "p1", "test", ("polyp",)),
        Segment("b", "clip", 18, 22, "p1", "test", ("tumour", "polyp")),
        Segment("c", "other", 10, 30, "p2", "test", ("tumour",)),
    ]
    runs = [
        Run("a", 12, 15, ("polyp",)),
        Run("b", 18, 20, ("polyp", "tumour")),
        Run("b", 20, 22, (), ("polyp",)),
        Run("c", 10, 30, ("tumour",)),
    ]
    found = Dataset(clip.parents[1], "hand", ("tumour", "polyp"), segments)
    save_dataset(found, runs, clip.parents[1])
    return found


def test_the_result_folder(model: Model, clip: Path, tmp_path: Path) -> None:
    out = tmp_path / "result"
    done = devcem.analyze(clip, save_model(tmp_path / "model", model), out, start=12, stop=20)
    assert sorted(path.name for path in out.iterdir()) == [
        "exam.json",
        "recipe.json",
        "scores.csv",
        "strip.png",
    ]
    wanted = devcem.load_model(tmp_path / "model").predict(clip, 12, 20)  # by the same engine
    rows = list(csv.DictReader((out / "scores.csv").open()))
    assert list(rows[0]) == ["number", "time", "attention", "polyp", "debris"]
    assert [int(row["number"]) for row in rows] == [12, 14, 16, 18]
    for name, values in (("polyp", wanted.frame_scores[:, 0]), ("attention", wanted.attention)):
        assert [float(row[name]) for row in rows] == pytest.approx(values.tolist(), abs=1e-5)
    told = json.loads((out / "exam.json").read_text())
    assert (told["first"], told["last"], told["frames"], told["status"]) == (12, 18, 4, "ok")
    assert (told["declared"], told["decoded"], told["damaged"]) == (8, 8, 0)
    assert told["notes"] == ["no clip.times.csv beside it: numbers are taken as 5 a second"]
    assert told["synthetic"] is True and told["research_use_only"] is True
    assert list(told["classes"]) == ["polyp", "debris"]
    for name, score in zip(done.prediction.classes, wanted.video_scores, strict=True):
        assert told["classes"][name]["score"] == pytest.approx(float(score), abs=1e-5)
        assert told["classes"][name]["called"] is bool(score >= 0.5)
    with Image.open(out / "strip.png") as picture:
        assert picture.width > 400


def test_truth_is_drawn_below_the_scores(
    model: Model, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {}

    def drawn(path: Path, *arrays: object, **told: object) -> None:
        given.update(arrays=arrays, **told)
        path.touch()

    monkeypatch.setattr("devcem.exam.analysing.draw_strip", drawn)
    analyze(clip, model, tmp_path / "result", truth=dataset(clip).root)
    frames, _, classes, _, _, truth, known = given["arrays"]
    assert frames.shape == (8, 160, 160, 3) and classes == ("polyp", "debris")
    assert truth[:, 0].tolist() == [False, True, True, False, True, False, False, False]
    assert known[:, 0].tolist() == [False, True, True, False, True, False, False, False]
    assert given["notice"] == "The model was trained on synthetic video."
    assert given["numbers"] == [10, 12, 14, 16, 18, 20, 22, 24]
    brightness = frames.mean((1, 2, 3))
    assert (np.diff(brightness) > 0).all()  # the clip's own frames, in order


def test_truth_comes_from_the_clips_own_segments_in_the_models_order(clip: Path) -> None:
    """Frames 10..24 in steps of two: segment a to 14, a hole at 16, b at 18 and 20, then nothing."""
    classes = ("polyp", "debris", "tumour")
    truth, known = clip_truth(dataset(clip), classes, clip, np.arange(10, 26, 2))
    assert np.flatnonzero(truth[:, 0]).tolist() == [1, 2, 4]
    assert np.flatnonzero(known[:, 0]).tolist() == [1, 2, 4]  # 10 has no run, 20 is unknown
    assert np.flatnonzero(truth[:, 2]).tolist() == [4]
    assert np.flatnonzero(known[:, 2]).tolist() == [1, 2, 4, 5]
    assert not known[:, 1].any()  # the dataset has no debris


def test_a_segment_that_knows_nothing_hides_no_truth_of_another(clip: Path) -> None:
    data = dataset(clip)
    data.segments.append(Segment("d", "clip", 10, 22, "p1", "test", (), ("polyp", "tumour")))
    runs = [Run("a", 12, 15, ("polyp",)), Run("d", 10, 16, (), ("polyp",)), Run("d", 16, 22, ())]
    save_dataset(data, runs, data.root)
    truth, known = clip_truth(data, ("polyp",), clip, np.arange(10, 26, 2))
    assert np.flatnonzero(truth[:, 0]).tolist() == [1, 2]
    assert np.flatnonzero(known[:, 0]).tolist() == [1, 2, 3, 4, 5]


def test_a_clip_of_no_segment_is_told(model: Model, clip: Path, tmp_path: Path) -> None:
    other = write_frames(tmp_path / "elsewhere", 2)
    with pytest.raises(UserError, match="no segment of the dataset lies in"):
        analyze(other, model, tmp_path / "result", truth=dataset(clip).root)
    assert not (tmp_path / "result").exists()


def test_long_sources_are_refused_before_they_are_read(
    model: Model, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert LONGEST == 1000
    monkeypatch.setattr("devcem.exam.analysing.LONGEST", 7)
    monkeypatch.setattr(Model, "predict", lambda *_: pytest.fail("the frames were read"))
    with pytest.raises(UserError, match=r"8 frames; a clip has at most 7.*--start and --stop"):
        analyze(clip, model, tmp_path / "result")


def test_a_result_is_replaced_only_when_asked(
    model: Model, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyze(clip, model, tmp_path / "result", stop=14)
    with monkeypatch.context() as patch, pytest.raises(UserError, match="exists already"):
        patch.setattr(Model, "predict", lambda *_, **__: pytest.fail("the frames were read"))
        analyze(clip, model, tmp_path / "result", stop=16)
    assert json.loads((tmp_path / "result" / "exam.json").read_text())["last"] == 12
    analyze(clip, model, tmp_path / "result", stop=16, overwrite=True)
    assert json.loads((tmp_path / "result" / "exam.json").read_text())["last"] == 14


def test_a_view_that_cannot_be_found_can_be_named(clip: Path, tmp_path: Path) -> None:
    searching = make_model("mean-pool", view="auto")
    with pytest.raises(UserError, match="or 'frame' if nothing is burnt in"):
        analyze(clip, searching, tmp_path / "result")
    done = analyze(clip, searching, tmp_path / "result", view="frame")
    assert done.status == "ok" and len(done.prediction) == 8


def test_damage_is_told(model: Model, clip: Path, tmp_path: Path) -> None:
    (clip / "f00014.png").write_bytes(b"no picture")
    done = analyze(clip, model, tmp_path / "result")
    told = json.loads((tmp_path / "result" / "exam.json").read_text())
    assert done.status == told["status"] == "partial"
    assert told["damaged"] == 1


def test_a_frame_without_a_time_has_an_empty_cell() -> None:
    told = Prediction(
        ("polyp",),
        np.array([0.5], np.float32),
        np.array([[0.25], [0.75]], np.float32),
        np.array([0.5, 0.5], np.float32),
        np.array([3, 4]),
        np.array([1.5, np.nan]),
        np.array([0.5], np.float32),
        False,
    )
    text = frame_table(told).to_csv(index=False)
    assert text.splitlines() == ["number,time,attention,polyp", "3,1.5,0.5,0.25", "4,,0.5,0.75"]
