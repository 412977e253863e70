"""Who trains and who judges; what the dataset calls test is never looked at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from devcem.encoders import SourceDigests
from devcem.errors import UserError
from devcem.labels import Dataset, Segment
from devcem.training.settings import Data
from devcem.training.splitting import fingerprint, media_digest, sides


def dataset(patients: int = 5, videos: int = 4, test: int = 3) -> Dataset:
    """*patients* with *videos* each in train, both classes at every patient; and a patient in test."""
    segments = [
        Segment(f"p{p}v{v}", f"p{p}.avi", 10 * v, 10 * v + 10, f"p{p}", "train", (("polyp", "blood")[v % 2],))
        for p in range(patients)
        for v in range(videos)
    ]
    segments += [Segment(f"t{v}", "t.avi", v, v + 1, "t", "test") for v in range(test)]
    return Dataset(Path("nowhere"), "toy", ("polyp", "blood"), segments)


def test_validation_is_cut_by_patient() -> None:
    found = sides(dataset(), Data(validation=0.2), seed=0)
    patients = [{segment.patient for segment in side} for side in (found.train, found.validation)]
    assert not patients[0] & patients[1]
    assert [len(found.train), len(found.validation)] == [16, 4]
    assert not found.optimistic
    assert "t" not in patients[0] | patients[1]
    assert {segment.labels for segment in found.validation} == {("polyp",), ("blood",)}
    assert {segment.split for segment in (*found.train, *found.validation)} == {"train"}


def test_the_cut_is_the_seeds() -> None:
    first = sides(dataset(), Data(), 0)
    assert sides(dataset(), Data(), 0) == first
    assert any(sides(dataset(), Data(), seed).validation != first.validation for seed in range(1, 9))


def test_by_video_is_called_optimistic() -> None:
    assert sides(dataset(), Data(validation_by="video"), 0).optimistic


def test_a_single_patient_is_cut_by_video_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    found = sides(dataset(patients=1), Data(), 0)
    assert found.optimistic
    assert "of one patient: validation is cut by video, which is optimistic" in capsys.readouterr().err


def test_a_split_called_val_is_taken_as_it_is() -> None:
    data = dataset()
    data.segments = [replace(s, split="val") if s.patient == "p0" else s for s in data.segments]
    found = sides(data, Data(), 0)
    assert {segment.patient for segment in found.validation} == {"p0"}
    assert not found.optimistic
    data.segments[0] = replace(data.segments[0], split="train")  # one segment of p0 learns
    assert sides(data, Data(), 0).optimistic


def test_nothing_to_learn_from() -> None:
    data = dataset()
    data.segments = [replace(segment, split="") for segment in data.segments]
    with pytest.raises(UserError, match=r"no segment is in the split train.*devcem data split nowhere"):
        sides(data, Data(), 0)
    with pytest.raises(UserError, match="one segment cannot both train and judge"):
        sides(dataset(patients=1, videos=1), Data(), 0)


def test_a_validation_that_can_judge_no_class_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    data = dataset()
    sides(data, Data(), 0)
    assert "validation" not in capsys.readouterr().err
    data.segments = [
        replace(s, split="val", labels=("polyp",)) if s.patient == "p0" else s for s in data.segments
    ]
    sides(data, Data(), 0)
    assert "validation has no class with and without" in capsys.readouterr().err


def test_a_class_that_validation_alone_has_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Two patients, each with a class of its own: by patient, one class is not there to learn."""
    data = dataset(patients=2)
    label = {"p0": ("polyp",), "p1": ("blood",), "t": ()}
    data.segments = [replace(s, labels=label[s.patient]) for s in data.segments]
    judge = sides(data, Data(), 0).validation[0].labels[0]
    assert f"only validation has videos with {judge}, which can't be learnt" in capsys.readouterr().err


def test_a_segment_without_a_patient_is_named() -> None:
    data = dataset()
    data.segments[5] = replace(data.segments[5], patient="")
    with pytest.raises(UserError, match=r"have no patient, the first is p1v1.*data\.validation_by=video"):
        sides(data, Data(), 0)
    assert sides(data, Data(validation_by="video"), 0).optimistic


def test_no_label_to_learn() -> None:
    data = dataset()
    data.segments = [replace(s, labels=(), unknown=("polyp", "blood")) for s in data.segments]
    with pytest.raises(UserError, match=r"segments\.csv: no segment of the split train has a label"):
        sides(data, Data(), 0)


def test_the_media_are_told_apart_by_their_bytes(tmp_path: Path) -> None:
    data = replace(dataset(patients=2), root=tmp_path / "data")
    (data.root / "media").mkdir(parents=True)
    for name in ("p0.avi", "p1.avi", "t.avi"):
        (data.root / "media" / name).write_text(name)

    def digest() -> str:
        return media_digest(data, sides(data, Data(), 0), SourceDigests(tmp_path / "notes"))

    first = digest()
    assert digest() == first
    (data.root / "media" / "t.avi").write_text("test may change")
    assert digest() == first
    (data.root / "media" / "p1.avi").write_text("p2.avi")
    assert digest() != first
    (data.root / "media" / "p1.avi").unlink()
    with pytest.raises(UserError, match=r"p1\.avi: no such file or folder"):
        digest()


def test_the_fingerprint_is_of_what_is_learnt_from() -> None:
    def print_(data: Dataset, seed: int = 0) -> str:
        return fingerprint(data, sides(data, Data(), seed))

    data = dataset()
    first = print_(data)
    assert print_(dataset()) == first
    assert print_(dataset(test=1)) == first  # test may grow
    assert print_(replace(data, name="other", licence="CC0")) == first
    assert print_(replace(data, classes=("blood", "polyp"))) != first
    for change in ({"labels": ()}, {"unknown": ("blood",)}, {"stop": 9}, {"source": "x.avi"}):
        changed = replace(data, segments=[replace(data.segments[0], **change), *data.segments[1:]])
        assert print_(changed) != first, change
    assert len({print_(data, seed) for seed in range(8)}) > 1  # other judges
