"""An exam as a dataset folder of one segment."""

from __future__ import annotations

import csv
from pathlib import Path

import av
import numpy as np
import pytest

from devcem.errors import UserError
from devcem.files import building
from devcem.labels import CLASSES, check_dataset, frame_truth, load_dataset, load_runs
from devcem.synthetic import exam as room
from devcem.synthetic.course import plan_exam
from devcem.synthetic.events import statistics
from devcem.synthetic.exam import Chunk, ExamOrder, film, survey, write_exam
from devcem.synthetic.truth import Seen, is_sick, labels_of

ORDER = ExamOrder(frames=250, seed=4, size=48)


def content(folder: Path) -> dict[str, bytes]:
    """All files but the frame indices that readers keep beside media."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix != ".npz"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "exam"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "CHUNK", 100)
        shown = write_exam(out, ORDER)
        patch.setattr(room, "CHUNK", 60)  # how it is cut up does not change what is seen
        seen = survey(plan_exam(250, 4))
    assert shown == statistics(is_sick(seen))
    dataset = load_dataset(out)
    assert labels_of(seen) == dataset.segments[0].labels
    truth, known = frame_truth(dataset, load_runs(dataset))["exam"]
    assert known.all()
    assert np.array_equal(truth, seen)
    return out


def test_the_folder_is_a_sound_dataset(made: Path) -> None:
    assert check_dataset(made, frames=True) == []
    dataset = load_dataset(made)
    assert dataset.synthetic
    assert dataset.classes == CLASSES
    assert [(s.source, s.start, s.stop) for s in dataset.segments] == [("exam.mp4", 0, 250)]
    names = {path.name for path in made.iterdir()}
    assert names == {
        "dataset.yaml", "segments.csv", "frames.csv", "tags.csv", "landmarks.csv", "recipe.json", "media",
    }  # fmt: skip


def test_the_video_is_whole(made: Path) -> None:
    with av.open(str(made / "media" / "exam.mp4")) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) == 250
    assert frames[0].shape == (48, 48, 3)
    assert np.mean([frame.mean() for frame in frames]) > 20
    with (made / "media" / "exam.times.csv").open() as file:
        times = [float(row["seconds"]) for row in csv.DictReader(file)]
    assert len(times) == 250
    rates = 1 / np.diff(times)
    assert 3.9 < rates.min() < 6  # the adaptive frame rate, but for the rounding to milliseconds
    assert rates.max() < 37


def test_landmarks_and_tags(made: Path) -> None:
    with (made / "landmarks.csv").open() as file:
        marks = list(csv.DictReader(file))
    assert marks[0]["landmark"] == "first caecal image"
    assert marks[-1]["number"] == "249"
    assert [int(mark["number"]) for mark in marks] == sorted(int(mark["number"]) for mark in marks)
    with (made / "tags.csv").open() as file:
        tags = list(csv.DictReader(file))
    assert tags
    assert {tag["source"] for tag in tags} == {"media/exam.mp4"}


def test_a_stopped_run_goes_on(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "CHUNK", 100)
    real, filmed = room.render, []

    def stop_at_third(chunk: Chunk) -> Seen:
        if chunk.first == 200:
            raise KeyboardInterrupt
        return film(chunk)

    monkeypatch.setattr(room, "film", stop_at_third)
    with pytest.raises(KeyboardInterrupt):
        write_exam(tmp_path / "exam", ORDER)
    assert not (tmp_path / "exam").exists()
    monkeypatch.setattr(room, "film", film)
    monkeypatch.setattr(
        room, "render", lambda scene, size: filmed.append(len(scene.path)) or real(scene, size)
    )

    def stop_late(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(room, "save_dataset", stop_late)
    with pytest.raises(KeyboardInterrupt):
        write_exam(tmp_path / "exam", ORDER)
    assert filmed == [50]
    monkeypatch.undo()
    write_exam(tmp_path / "exam", ORDER)  # cut differently, but the video is there and is taken as it is
    assert content(tmp_path / "exam") == content(made)


def test_pictures(tmp_path: Path) -> None:
    write_exam(tmp_path / "exam", ExamOrder(frames=120, seed=1, size=32, format="jpg"))
    names = sorted(path.name for path in (tmp_path / "exam" / "media" / "exam").iterdir())
    assert names == [f"frame_{number:06d}.jpg" for number in range(120)]
    assert load_dataset(tmp_path / "exam").segments[0].source == "exam"


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with building(tmp_path / "exam", {}), pytest.raises(UserError, match="another process"):
        write_exam(tmp_path / "exam", ORDER)
