"""The traps: class names with aliases, folders by patient, one clip in two classes, a clip that is none."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from devcem.errors import UserError
from devcem.labels import load_dataset
from devcem.labels.importers import Options, import_dataset

Clip = Callable[..., Path]


def test_sub_folders_are_classes(tmp_path: Path, clip: Clip, picture: Clip) -> None:
    src = tmp_path / "src"
    clip(src / "Ulcers" / "jones" / "a.avi", 20)
    (src / "Polyp" / "jones").mkdir(parents=True)
    shutil.copy(src / "Ulcers" / "jones" / "a.avi", src / "Polyp" / "jones" / "a.avi")
    clip(src / "Polyp" / "smith" / "a.avi", 30)
    for number in (7, 8, 9):
        picture(src / "Worms" / "smith" / "b" / f"x{number}.png", number)
    (src / "Worms" / "smith" / "notes.txt").write_text("nothing")
    summary = import_dataset("folder", src, tmp_path / "out")
    dataset = load_dataset(tmp_path / "out")
    assert dataset.classes == ("polyp", "ulceration", "worms")
    assert [(s.start, s.stop, s.patient, s.labels) for s in dataset.segments] == [
        (0, 20, "P001", ("polyp", "ulceration")),
        (0, 30, "P002", ("polyp",)),
        (7, 10, "P002", ("worms",)),
    ]
    assert any("worms" in note for note in summary.notes)
    assert summary.missing == 0
    assert not any(name in str(p) for p in (tmp_path / "out").rglob("*") for name in ("jones", "smith"))
    import_dataset("folder", src, tmp_path / "kept", Options(keep_ids=True), media="none")
    assert {s.patient for s in load_dataset(tmp_path / "kept").segments} == {"jones", "smith"}


def test_without_patients_a_clip_is_one(tmp_path: Path, clip: Clip) -> None:
    clip(tmp_path / "src" / "polyp" / "a.avi", 5)
    clip(tmp_path / "src" / "erosion" / "a.avi", 6)
    (tmp_path / "src" / "erosion" / "b.avi").write_bytes(b"no video")
    summary = import_dataset("folder", tmp_path / "src", tmp_path / "out", media="link")
    assert [s.patient for s in load_dataset(tmp_path / "out").segments] == ["P001", "P002"]
    assert any("each clip counts as a patient" in note for note in summary.notes)
    assert [Path(name).name for name in summary.failed] == ["b.avi"]


def test_nothing_to_import(tmp_path: Path) -> None:
    (tmp_path / "src" / "polyp").mkdir(parents=True)
    with pytest.raises(UserError, match="no clips in sub-folders"):
        import_dataset("folder", tmp_path / "src", tmp_path / "out")
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="not a folder"):
        import_dataset("folder", tmp_path / "file", tmp_path / "out")
