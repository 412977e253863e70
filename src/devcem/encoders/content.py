"""What a source of frames holds, as a SHA-256 that is worked out once and remembered while the files stay.

A source is read whole for its digest. What was found is kept beside the files' state: names, sizes, times of
change, and the time of the last change to the entry itself, which no program can set back. A file that was
changed less than two seconds before it was read is read again the next time: file systems count in steps, and
another change within the same step would leave the state as it is.
"""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from devcem.encoders.weights import sha256
from devcem.errors import UserError
from devcem.files import write_text
from devcem.frames.folder import numbered_files

STEP = 2_000_000_000  # nanoseconds; FAT counts in these


class SourceDigests:
    """Digests of sources, remembered in *folder*."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, source: Path) -> str:
        """A file's bytes, or the names and bytes of a folder's numbered pictures."""
        note = self._folder / f"{_hashed(str(source.resolve()))}.json"
        for _ in range(3):
            try:
                state = _state(source)
                if (known := _remembered(note, state)) is not None:
                    return known
                started = time.time_ns()
                digest = _digest(source)
                if _state(source) != state:
                    continue  # it is being written
            except FileNotFoundError:
                continue  # a picture was taken away
            if max(_changes(state)) < started - STEP:
                with suppress(OSError, UserError):  # a note is never worth a failure
                    self._folder.mkdir(parents=True, exist_ok=True)
                    write_text(note, json.dumps({"state": state, "digest": digest}))
            return digest
        raise UserError("the source changes while it is read", source, "wait until it is written")


def _digest(source: Path) -> str:
    if source.is_file():
        return sha256(source)
    return _hashed(json.dumps([[file.name, sha256(file)] for file in _files(source)]))


def _files(source: Path) -> list[Path]:
    return [file for _, file in numbered_files(source)[0]] if source.is_dir() else [source]


def _state(source: Path) -> list[list[Any]]:
    """A row a file: name, bytes, entry, and the nanoseconds at which content and entry last changed."""
    if not source.exists():
        raise UserError("no such file or folder", source, "check the dataset's media")
    told = [(file.name, file.stat()) for file in _files(source)]
    return [[name, at.st_size, at.st_ino, at.st_mtime_ns, at.st_ctime_ns] for name, at in told]


def _changes(state: list[list[Any]]) -> list[int]:
    return [max(modified, changed) for *_, modified, changed in state]


def _remembered(note: Path, state: list[list[Any]]) -> str | None:
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
        return str(known["digest"]) if known["state"] == state else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
