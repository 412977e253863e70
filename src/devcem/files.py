"""Files and folders that exist whole or not at all: written beside, flushed, renamed."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from filelock import FileLock, Timeout

from devcem.errors import UserError

PARTIAL = ".partial"  # suffix of what is still being written; no reader ever takes such a folder
AGAIN = "and run the same command again"
FAULTS = {  # of a place to write to, which the user can mend
    errno.ENOSPC: ("the disk is full", f"free some space {AGAIN}"),
    errno.EDQUOT: ("your share of this disk is used up", f"free some space {AGAIN}"),
    errno.EFBIG: ("a file grows larger than this system allows", f"raise the limit (ulimit -f) {AGAIN}"),
    errno.EROFS: ("this disk can only be read", "choose another place"),
    errno.EACCES: ("permission denied", "change the rights or choose another place"),
    errno.EPERM: ("permission denied", "change the rights or choose another place"),
}
MISPLACED = {
    errno.ENOENT: ("no such folder", "check the path or make the folder first"),
    errno.EEXIST: ("a file stands where a folder is to be", "choose another name"),
    errno.ENOTDIR: ("a file stands where a folder is to be", "choose another name"),
    errno.EISDIR: ("a folder stands where a file is to be", "choose another name"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter one"),
}


class PlaceError(UserError):
    """What is written to fails, whatever is written: no source of frames is to blame, and no next one fares
    better."""


@contextmanager
def writing(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """A file handle whose content appears under *path* only once the block has ended without an error."""
    path = Path(path)
    options = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PARTIAL, dir=path.parent)
    except OSError as error:
        raise explained(error, path, FAULTS | MISPLACED) from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, mode, **options) as file:  # type: ignore[call-overload]
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise explained(error, path) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: str | Path, text: str) -> None:
    with writing(path) as file:
        file.write(text)


def write_bytes(path: str | Path, data: bytes) -> None:
    with writing(path, "wb") as file:
        file.write(data)


@contextmanager
def building(folder: str | Path, recipe: dict[str, Any], *, overwrite: bool = False) -> Iterator[Path]:
    """A folder that appears under its name only when the block has ended without an error.

    The block receives a hidden folder beside the wished one. After a kill it lies there still; the same
    *recipe* takes it up again with what it holds, another recipe starts from nothing. The recipe stays in the
    finished folder as recipe.json. Inside, write every file with `writing`, so that a file which exists is a
    file which is whole. One process at a time.
    """
    folder = Path(folder)
    if folder.name in ("", "."):  # "." has no name to write beside
        folder = folder.resolve()
    make_folder(folder.parent)
    partial = folder.with_name(f".{folder.name}{PARTIAL}")
    lock = FileLock(str(folder.with_name(f".{folder.name}.lock")))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UserError(
            "another process is writing this folder",
            folder,
            "wait until it has ended or choose another name",
        ) from None
    except OSError as error:
        raise explained(error, folder, FAULTS | MISPLACED) from error
    try:
        old = folder.with_name(f".{folder.name}.old")
        if old.exists() and not folder.exists():  # a kill came between the two renames below
            old.replace(folder)
        check_free(folder, overwrite)
        note = partial / "recipe.json"
        wanted = json.dumps(recipe, sort_keys=True, indent=1, default=str)
        if partial.exists() and not (note.exists() and note.read_text(encoding="utf-8") == wanted):
            shutil.rmtree(partial)
        partial.mkdir(exist_ok=True)
        for half in [*partial.rglob(f".*{PARTIAL}")]:  # what a kill left within
            shutil.rmtree(half) if half.is_dir() else half.unlink(missing_ok=True)
        write_text(note, wanted)
        try:
            yield partial
        except OSError as error:
            raise explained(error, error.filename or folder) from error
        shutil.rmtree(old, ignore_errors=True)
        if folder.exists():
            folder.replace(old)
        partial.replace(folder)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        lock.release()


def check_free(folder: Path, overwrite: bool = False) -> None:
    """Refuse what `building` would refuse; for callers that have much to do before they write."""
    if folder.exists() and not folder.is_dir():
        raise PlaceError("a file stands where a folder is to be", folder, "choose another name")
    if folder.exists() and any(folder.iterdir()) and not overwrite:
        raise UserError("the folder exists already", folder, "choose another name, or pass --overwrite")


def contained(root: Path, name: str) -> Path:
    """*name* below *root*, refusing names that lead out of it (absolute ones, `..`, links to elsewhere)."""
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()):
        raise UserError(f"'{name}' leads out of the folder {root}", root, "use a path below it")
    return path


def make_folder(folder: Path) -> None:
    """A folder and those above it, unless they are there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explained(error, folder, FAULTS | MISPLACED) from error


def explained(
    error: OSError, place: str | Path | None, faults: dict[int, tuple[str, str]] = FAULTS
) -> OSError | PlaceError:
    """The error itself, or what the user can do about it where it is one of *faults*."""
    if error.errno not in faults:
        return error
    what, remedy = faults[error.errno]
    return PlaceError(what, place, remedy)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
