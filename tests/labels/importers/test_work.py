"""An import is whole or not there, whatever happens to it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from devcem.errors import UserError
from devcem.files import PlaceError
from devcem.labels import load_dataset
from devcem.labels.importers import IMPORTERS, Importer, Options, import_dataset, placing

Make = Callable[..., Path]
IMPORT = """
import sys
from devcem.labels.importers import import_dataset
import_dataset("tags", sys.argv[1], sys.argv[2])
"""


@pytest.fixture
def exam(tmp_path: Path, clip: Make) -> Path:
    path = clip(tmp_path / "exam.avi", 400)
    rows = "".join(f"{n},polyp\n" for n in range(0, 400, 20))
    path.with_suffix(".csv").write_text("frame,text\n" + rows)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_killed_import_is_no_dataset_and_goes_on(exam: Path, tmp_path: Path) -> None:
    out, partial = tmp_path / "out", tmp_path / ".out.partial"
    process = subprocess.Popen([sys.executable, "-c", IMPORT, str(exam), str(out)], stderr=subprocess.DEVNULL)

    def whole() -> list[Path]:
        media = partial / "media"
        return sorted(p for p in media.iterdir() if p.is_dir() and p.name[0] != ".") if media.exists() else []

    while len(whole()) < 3 and process.poll() is None:
        time.sleep(0.005)
    process.kill()
    process.wait()
    assert not out.exists()
    assert not (partial / "dataset.yaml").exists()
    with pytest.raises(UserError):
        load_dataset(out)
    (partial / "media" / ".exam-001-000000.times.csv.x1.partial").touch()  # half-written
    before = {folder: folder.stat().st_mtime_ns for folder in whole()}
    assert len(before) >= 3, "the kill came in the middle"
    import_dataset("tags", exam, out)
    assert all((out / "media" / f.name).stat().st_mtime_ns == time_ns for f, time_ns in before.items()), (
        "taken up"
    )
    assert not partial.exists()
    import_dataset("tags", exam, tmp_path / "at-once")
    assert contents(out) == contents(tmp_path / "at-once")


def test_other_choices_start_from_nothing(exam: Path, tmp_path: Path) -> None:
    out, partial = tmp_path / "out", tmp_path / ".out.partial"
    (partial / "media" / "exam-001-000000").mkdir(
        parents=True
    )  # an empty folder that would be taken for whole
    (partial / "recipe.json").write_text("{}")
    import_dataset("tags", exam, out, Options(seed=3))
    assert any((out / "media" / "exam-001-000000").iterdir())


def test_two_at_once_and_a_folder_that_exists(exam: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with FileLock(str(tmp_path / ".out.lock")), pytest.raises(UserError, match="another process"):
        import_dataset("tags", exam, out, media="none")
    import_dataset("tags", exam, out, media="none")
    with pytest.raises(UserError, match="exists already"):
        import_dataset("tags", exam, out, media="none")
    import_dataset("tags", exam, out, Options(seed=1), media="none", overwrite=True)


def test_a_full_disk_leaves_nothing(exam: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(UserError, match="the disk is full"):
        patch.setattr(Path, "write_bytes", full)  # the masked pictures
        import_dataset("tags", exam, tmp_path / "out")
    assert not (tmp_path / "out").exists()

    def full_at_the_times(*_: object) -> int:  # no source failed, and none is left out
        raise PlaceError("the disk is full")

    with monkeypatch.context() as patch, pytest.raises(UserError, match="the disk is full"):
        patch.setattr(placing, "writing", full_at_the_times)
        import_dataset("tags", exam, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_import_in_which_every_source_failed_writes_nothing(tmp_path: Path, clip: Make) -> None:
    (tmp_path / "a.avi").touch()
    (tmp_path / "b.avi").write_bytes(b"no video at all")
    tags = tmp_path / "t.csv"
    tags.write_text("source,frame,text\na.avi,0,polyp\nb.avi,0,polyp\n")
    out = tmp_path / "out"
    with pytest.raises(UserError, match="nothing to import: all 2 sources failed") as caught:
        import_dataset("tags", tags, out)
    for name, why in (("a.avi", "empty"), ("b.avi", "not a video")):
        assert str(caught.value).count(str(tmp_path / name)) == 1
        assert why in str(caught.value)
    assert [p.name for p in tmp_path.iterdir() if "out" in p.name] == [], "not even a lock"
    clip(tmp_path / "a.avi", 60)
    assert import_dataset("tags", tags, out).segments == 1, "mended, it is not refused"


def test_an_import_without_a_segment_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text('{"videos": [{"video_id": "3", "events": []}]}')
    with pytest.raises(UserError, match="nothing to import: video 3 has no events"):
        import_dataset("rare-vision", tmp_path / "e.json", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_exists_is_refused_before_anything_is_read(
    exam: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").touch()

    def read(*_: object) -> None:
        raise AssertionError("it was read")

    monkeypatch.setitem(IMPORTERS, "tags", Importer(read, ""))  # type: ignore[arg-type]
    with pytest.raises(UserError, match="exists already"):
        import_dataset("tags", exam, tmp_path / "out")


def test_what_cannot_be_imported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"'kvasir' is not a format.*kvasir-capsule"):
        import_dataset("kvasir", tmp_path, tmp_path / "out")
    with pytest.raises(UserError, match="no such file"):
        import_dataset("galar", tmp_path / "none", tmp_path / "out")


@pytest.mark.parametrize("name", sorted(IMPORTERS))
def test_every_importer_says_what_is_missing_in_an_empty_folder(tmp_path: Path, name: str) -> None:
    src = tmp_path / "src"
    src.mkdir()
    with pytest.raises(UserError):
        import_dataset(name, src, tmp_path / "out")
    assert not (tmp_path / "out").exists()
