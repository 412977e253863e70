"""The traps: an unnamed column, files/ and Files/, commas and spaces in the text, clips that are absent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from devcem.errors import UserError
from devcem.labels import load_dataset
from devcem.labels.classes import CLASSES
from devcem.labels.importers import Options, import_dataset

INDEX = """\
Unnamed: 0,Patient ID,name,capture_time,image_path,video_path,image_label
0,P001,1001,01:07:51,files/thumbnail_1001.jpg,Files\\thumbnail_1001.mpg,first cecal image.\x20
10,P001,1002,01:41:13,files/thumbnail_1002.jpg,Files/thumbnail_1002.avi,"small polyp, no bleeding "
11,P001,1003,01:42:14,files/thumbnail_1003.jpg,Files/thumbnail_1003.avi,erosion
"""


@pytest.fixture
def tree(tmp_path: Path, clip: Callable[..., Path]) -> Path:
    root = tmp_path / "captiv8"
    root.mkdir()
    (root / "P001.csv").write_text(INDEX)
    clip(root / "Frames_and_videos" / "P001" / "Files" / "THUMBNAIL_1002.AVI", 30)
    (root / "Frames_and_videos" / "P001" / "Files" / "thumbnail_1003.avi").write_bytes(b"")
    return root


def test_clips(tree: Path, tmp_path: Path) -> None:
    summary = import_dataset("captiv8", tree, tmp_path / "out")
    landmark, polyp, erosion = load_dataset(tmp_path / "out").segments
    assert (landmark.segment, landmark.patient, landmark.stop) == ("P001-1001", "P001", 150)
    assert (landmark.labels, landmark.unknown) == ((), CLASSES), "a landmark is not normal"
    assert (polyp.labels, polyp.unknown, polyp.start, polyp.stop) == (("polyp",), (), 0, 30)
    assert len(list((tmp_path / "out" / "media" / "P001-1002").iterdir())) == 30
    assert erosion.labels == ("erosion",)
    assert list(summary.failed) == ["P001-1003.avi"]
    assert summary.missing == 2
    assert any("2 clips are not here" in note for note in summary.notes)
    assert summary.source_counts == {"polyp": 1, "bleeding (denied)": 1, "erosion": 1}


def test_unmentioned_classes_may_be_left_unknown(tree: Path, tmp_path: Path) -> None:
    import_dataset("captiv8", tree / "P001.csv", tmp_path / "out", Options(absent="unknown"), media="none")
    polyp = load_dataset(tmp_path / "out").segments[1]
    assert set(polyp.unknown) == set(CLASSES) - {"polyp", "haemorrhage", "normal"}


def test_broken_tables(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no P001.csv"):
        import_dataset("captiv8", tmp_path, tmp_path / "out")
    (tmp_path / "P001.csv").write_text("Patient ID,name\nP001,1\n")
    with pytest.raises(UserError, match="line 1: no column video_path, image_label"):
        import_dataset("captiv8", tmp_path, tmp_path / "out")


def test_the_real_thumbnails(shared_data: Path, tmp_path: Path) -> None:
    summary = import_dataset("captiv8", shared_data / "captiv8_pillcam_colon2", tmp_path / "out")
    assert (summary.segments, summary.patients, summary.missing, summary.failed) == (28, 7, 0, {})
    counts = {name: count for name, count in summary.segments_by_class.items() if count}
    assert counts == {
        "erosion": 2,
        "erythema": 4,
        "inflammation": 9,
        "oedema": 8,
        "polyp": 1,
        "pseudopolyp": 1,
    }
    assert len(summary.to_review) == 25
    assert len(list((tmp_path / "out" / "media").rglob("*.jpg"))) == 28
