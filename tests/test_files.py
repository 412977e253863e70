"""Files and folders exist whole or not at all: after an error, a kill, a full disk, a second writer."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from devcem.errors import UserError
from devcem.files import building, contained, write_bytes, write_text, writing


def names(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir()}


def test_a_file_appears_whole_with_the_usual_rights(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "first\nsecond\n")
    (tmp_path / "plain.txt").write_text("x")
    assert (tmp_path / "a.txt").read_bytes() == b"first\nsecond\n"
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "plain.txt").stat().st_mode
    write_bytes(tmp_path / "a.txt", b"new")
    assert (tmp_path / "a.txt").read_bytes() == b"new"


def test_an_error_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(ValueError, match="stop"), writing(tmp_path / "a.txt") as file:
        file.write("half of the new")
        raise ValueError("stop")
    assert (tmp_path / "a.txt").read_text() == "old"
    assert names(tmp_path) == {"a.txt"}


def test_a_folder_appears_only_when_finished(tmp_path: Path) -> None:
    with building(tmp_path / "set", {"seed": 1}) as folder:
        write_text(folder / "one.txt", "1")
        assert not (tmp_path / "set").exists()
    assert names(tmp_path / "set") == {"one.txt", "recipe.json"}


def test_the_same_recipe_takes_up_what_an_error_left(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), building(tmp_path / "set", {"seed": 1}) as folder:
        write_text(folder / "one.txt", "1")
        raise RuntimeError("power cut")
    assert not (tmp_path / "set").exists()
    with building(tmp_path / "set", {"seed": 1}) as folder:
        assert (folder / "one.txt").read_text() == "1"


def test_what_a_kill_left_of_single_files_is_swept(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), building(tmp_path / "set", {"seed": 1}) as folder:
        (folder / "media").mkdir()
        (folder / "media" / ".one.avi.x7.partial").write_text("half of it")  # as `writing` names them
        raise RuntimeError("power cut")
    with building(tmp_path / "set", {"seed": 1}):
        pass
    assert names(tmp_path / "set" / "media") == set()


def test_another_recipe_starts_from_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), building(tmp_path / "set", {"seed": 1}) as folder:
        write_text(folder / "one.txt", "1")
        raise RuntimeError("power cut")
    with building(tmp_path / "set", {"seed": 2}) as folder:
        assert names(folder) == {"recipe.json"}


def test_a_full_folder_is_not_overwritten_unasked(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    write_text(tmp_path / "set" / "mine.txt", "precious")
    with pytest.raises(UserError, match="exists already"), building(tmp_path / "set", {}):
        pass
    with building(tmp_path / "set", {}, overwrite=True) as folder:
        write_text(folder / "new.txt", "n")
    assert names(tmp_path / "set") == {"new.txt", "recipe.json"}


WRITER = """
import sys, time
from pathlib import Path
from devcem.files import building, write_text
out, pause = Path(sys.argv[1]), float(sys.argv[2])
with building(out, {"seed": 1}) as folder:
    for i in range(20):
        if not (folder / f"{i}.txt").exists():
            write_text(folder / f"{i}.txt", str(i) * 1000)
            print(i, flush=True)
            time.sleep(pause)
"""


def start_writer(out: Path, pause: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(out), str(pause)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_second_writer_is_told_of_the_first(tmp_path: Path) -> None:
    first = start_writer(tmp_path / "set", 0.05)
    assert first.stdout is not None
    first.stdout.readline()  # the first one holds the lock now
    with pytest.raises(UserError, match="another process"), building(tmp_path / "set", {"seed": 1}):
        pass
    assert first.wait(30) == 0
    assert len(names(tmp_path / "set")) == 21


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_killed_writer_leaves_no_folder_and_loses_nothing(tmp_path: Path) -> None:
    first = start_writer(tmp_path / "set", 0.2)
    assert first.stdout is not None
    for _ in range(3):
        first.stdout.readline()
    os.kill(first.pid, signal.SIGKILL)
    first.wait(30)
    assert not (tmp_path / "set").exists()
    second = start_writer(tmp_path / "set", 0.0)
    told, error = second.communicate(timeout=60)
    assert second.returncode == 0, error
    assert 15 <= len(told.split()) <= 17  # two or three files were whole already, and are not written again
    assert all((tmp_path / "set" / f"{i}.txt").read_text() == str(i) * 1000 for i in range(20))


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_one_line_and_leaves_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(UserError, match="disk is full"):
        write_text(tmp_path / "a.txt", "text")
    assert names(tmp_path) == set()
    with pytest.raises(UserError, match="disk is full"), building(tmp_path / "set", {}):
        pass
    assert not (tmp_path / "set").exists()


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="mounting a small disk needs Linux and root"
)
def test_a_really_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], capture_output=True
    ).returncode:
        pytest.skip("this machine does not let us mount a small disk")
    try:
        with pytest.raises(UserError, match="disk is full"), building(disk / "set", {}) as folder:
            for i in range(100):
                write_bytes(folder / f"{i}.bin", b"x" * 10_000)
        assert not (disk / "set").exists()
        written = list((disk / ".set.partial").glob("[0-9]*.bin"))
        assert written and all(p.stat().st_size == 10_000 for p in written)
    finally:
        time.sleep(0.05)
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on the size of a file is Linux's")
def test_a_limit_on_the_size_of_files_is_told(tmp_path: Path) -> None:
    script = (
        "import resource, sys; from pathlib import Path; from devcem.files import building, write_bytes\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "with building(sys.argv[1], {}) as folder:\n"
        "    write_bytes(folder / 'small', bytes(4000)); write_bytes(folder / 'large', bytes(6000))\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "set")], capture_output=True, text=True
    )
    assert "a file grows larger than this system allows" in told.stderr.splitlines()[-1]
    assert not (tmp_path / "set").exists()
    assert names(tmp_path / ".set.partial") == {"recipe.json", "small"}


@pytest.mark.parametrize("place", ["file", "file/set", "n" * 300])
def test_a_place_that_cannot_be_is_told(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match=r"a file stands where|too long"), building(tmp_path / place, {}):
        pytest.fail("nothing must be built here")
    with pytest.raises(UserError, match=r"no such folder|a file stands|a folder stands|too long"):
        write_text(tmp_path / place / "a.txt", "text")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_kill_between_the_two_renames_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with building(tmp_path / "set", {"seed": 1}) as folder:
        write_text(folder / "one.txt", "precious")
    rename = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if target == tmp_path / "set":
            raise KeyboardInterrupt
        return rename(self, target)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "replace", killed)
        with building(tmp_path / "set", {"seed": 2}, overwrite=True) as folder:
            write_text(folder / "two.txt", "new")
    assert not (tmp_path / "set").exists()
    with pytest.raises(UserError, match="exists already"), building(tmp_path / "set", {"seed": 3}):
        pass
    assert names(tmp_path / "set") == {"one.txt", "recipe.json"}
    with building(tmp_path / "set", {"seed": 2}, overwrite=True) as folder:
        assert (folder / "two.txt").read_text() == "new"
    assert names(tmp_path) == {"set", ".set.lock"}


@pytest.mark.parametrize("name", ["../out.txt", "/etc/passwd", "a/../../out", "link/x"])
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(UserError, match="leads out"):
        contained(root, name)


def test_a_name_below_the_root_is_fine(tmp_path: Path) -> None:
    assert contained(tmp_path, "a/b.avi") == (tmp_path / "a" / "b.avi").resolve()
