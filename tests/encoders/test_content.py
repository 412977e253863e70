from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path

import pytest
from videos import picture

from devcem.encoders import content
from devcem.encoders.content import SourceDigests
from devcem.errors import UserError

ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # SHA-256 of "abc", as published
TICK = 0.02  # seconds; more than a step of the clock that file systems write down


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that were read, in order."""
    names: list[str] = []

    def counted(path: Path) -> str:
        names.append(path.name)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    monkeypatch.setattr(content, "sha256", counted)
    return names


@pytest.fixture
def digests(tmp_path: Path) -> SourceDigests:
    return SourceDigests(tmp_path / "notes")


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of who asks is a minute on, so that no file was changed just now."""
    true = time.time_ns
    monkeypatch.setattr(content.time, "time_ns", lambda: true() + 60_000_000_000)


@pytest.fixture
def video(tmp_path: Path) -> Path:
    path = tmp_path / "exam.avi"
    path.write_bytes(b"abc")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "exam"
    path.mkdir()
    for number in (5, 10, 15):
        (path / f"f_{number}.jpg").write_bytes(picture(number).tobytes())
    return path


def change_back(path: Path, data: bytes) -> None:
    """Other bytes, as many, with the times of access and change that it had."""
    before = path.stat()
    assert len(data) == before.st_size
    time.sleep(TICK)
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_a_files_digest_is_that_of_its_bytes(digests: SourceDigests, video: Path) -> None:
    assert digests.of(video) == ABC


@pytest.mark.usefixtures("settled")
def test_a_file_that_stays_is_read_once(
    digests: SourceDigests, video: Path, read: list[str], tmp_path: Path
) -> None:
    assert digests.of(video) == digests.of(video) == SourceDigests(tmp_path / "notes").of(video) == ABC
    assert read == ["exam.avi"]


def test_a_file_changed_a_moment_ago_is_not_remembered(
    digests: SourceDigests, video: Path, read: list[str]
) -> None:
    for _ in range(2):  # another change within the same step of the file system's clock would not show
        assert digests.of(video) == ABC
    assert read == ["exam.avi"] * 2
    assert not (digests._folder).exists()


@pytest.mark.usefixtures("settled")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no time of change that can't be set")
def test_other_bytes_of_the_same_size_and_time_are_noticed(digests: SourceDigests, video: Path) -> None:
    digests.of(video)
    change_back(video, b"abd")
    assert digests.of(video) == hashlib.sha256(b"abd").hexdigest()


@pytest.mark.usefixtures("settled")
def test_another_file_renamed_over_it_is_noticed(digests: SourceDigests, video: Path, tmp_path: Path) -> None:
    digests.of(video)
    before, other = video.stat(), tmp_path / "other"
    other.write_bytes(b"abd")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(video)
    assert digests.of(video) == hashlib.sha256(b"abd").hexdigest()


@pytest.mark.usefixtures("settled")
def test_the_same_bytes_at_another_place_have_the_same_digest(
    digests: SourceDigests, video: Path, tmp_path: Path
) -> None:
    other = tmp_path / "copy.avi"
    other.write_bytes(b"abc")
    assert digests.of(other) == digests.of(video)
    os.utime(video, ns=(1, 1))
    assert digests.of(video) == ABC


@pytest.mark.usefixtures("settled")
def test_a_relative_path_is_the_same_source_wherever_one_stands(
    digests: SourceDigests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "exam.avi").write_bytes(name.encode())
        monkeypatch.chdir(tmp_path / name)
        assert digests.of(Path("exam.avi")) == hashlib.sha256(name.encode()).hexdigest()


@pytest.mark.usefixtures("settled")
def test_a_folder_that_stays_is_read_once(digests: SourceDigests, folder: Path, read: list[str]) -> None:
    known = digests.of(folder)
    (folder / "notes.txt").write_text("no picture")
    (folder / ".hidden_1.jpg").write_text("no picture either")
    (folder / "deeper").mkdir()
    assert digests.of(folder) == known
    assert read == ["f_5.jpg", "f_10.jpg", "f_15.jpg"]  # by number, as frames are counted


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", ["rename", "content", "same size and time", "add", "remove", "swap"])
def test_whatever_changes_a_folders_frames_changes_its_digest(
    digests: SourceDigests, folder: Path, change: str
) -> None:
    known, five, ten = digests.of(folder), folder / "f_5.jpg", folder / "f_10.jpg"
    match change:
        case "rename":
            five.rename(folder / "f_6.jpg")
        case "content":
            five.write_bytes(b"another picture")
        case "same size and time":
            if sys.platform == "win32":
                pytest.skip("Windows keeps no time of change that can't be set")
            change_back(five, picture(6).tobytes())
        case "add":
            (folder / "f_20.jpg").write_bytes(b"a picture")
        case "remove":
            five.unlink()
        case "swap":
            five.rename(folder / "kept")
            ten.rename(five)
            (folder / "kept").rename(ten)
    assert digests.of(folder) != known


@pytest.mark.usefixtures("settled")
def test_no_names_and_bytes_flow_into_each_other(digests: SourceDigests, tmp_path: Path) -> None:
    """Two pictures are not one whose bytes hold the other's name."""
    found = set()
    for files in ({"1.jpg": b"a", "2.jpg": b"b"}, {"1.jpg": b"a2.jpgb"}, {"1.jpg": b"ab"}, {"12.jpg": b"ab"}):
        folder = tmp_path / f"exam {len(found)}"
        folder.mkdir()
        for name, data in files.items():
            (folder / name).write_bytes(data)
        found.add(digests.of(folder))
    assert len(found) == 4


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("note", ["", "{", "[]", '{"state": []}', '{"digest": "0"}', "null", "\x00"])
def test_a_broken_note_is_worth_nothing_and_harms_nothing(
    digests: SourceDigests, video: Path, note: str
) -> None:
    digests.of(video)
    (path,) = digests._folder.iterdir()
    path.write_text(note)
    assert digests.of(video) == ABC
    assert json.loads(path.read_text())["digest"] == ABC


@pytest.mark.usefixtures("settled")
def test_where_no_note_can_be_kept_the_source_is_read_again(
    video: Path, tmp_path: Path, read: list[str]
) -> None:
    (tmp_path / "notes").write_text("a file stands here")
    digests = SourceDigests(tmp_path / "notes")
    assert digests.of(video) == digests.of(video) == ABC
    assert len(read) == 2


def written_while_read(monkeypatch: pytest.MonkeyPatch, times: int) -> list[int]:
    """The first *times* reads of a file find it longer afterwards."""
    grown: list[int] = []

    def reading(path: Path) -> str:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if len(grown) < times:
            with path.open("ab") as file:
                file.write(b"!")
            grown.append(path.stat().st_size)
        return digest

    monkeypatch.setattr(content, "sha256", reading)
    return grown


@pytest.mark.usefixtures("settled")
def test_a_file_that_grows_once_while_it_is_read_is_read_again(
    digests: SourceDigests, video: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown = written_while_read(monkeypatch, 1)
    assert digests.of(video) == hashlib.sha256(b"abc!").hexdigest()
    assert grown == [4]


@pytest.mark.usefixtures("settled")
def test_a_file_that_keeps_growing_is_refused(
    digests: SourceDigests, video: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written_while_read(monkeypatch, 1000)
    with pytest.raises(UserError, match=r"exam\.avi: the source changes while it is read.*Remedy: wait"):
        digests.of(video)
    assert not digests._folder.exists()


@pytest.mark.usefixtures("settled")
def test_a_picture_that_vanishes_while_the_folder_is_read_is_such_a_change(
    digests: SourceDigests, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reading(path: Path) -> str:
        (folder / "f_15.jpg").unlink(missing_ok=True)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    monkeypatch.setattr(content, "sha256", reading)
    found = digests.of(folder)
    monkeypatch.undo()
    assert found == SourceDigests(folder.parent / "others").of(folder)


def test_no_such_source(digests: SourceDigests, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file or folder"):
        digests.of(tmp_path / "nowhere")
