"""What one decode of a video taught: where its frames are, how to get at them, how to know them again."""

from __future__ import annotations

import json
import os
import platform
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt

from devcem.errors import UserError
from devcem.files import writing
from devcem.frames.stamps import times_file

FORMAT = 1
UNKNOWN = np.iinfo(np.int64).min  # a packet without time stamp or place
SAMPLE = 1 << 16  # bytes of the head and of the tail that tell one file from another

PACKETS = ("packet_check", "packet_stamp", "packet_place")
FRAMES = ("frame_packet", "frame_check", "frame_key", "times")


@dataclass(frozen=True)
class Index:
    packet_check: npt.NDArray[np.uint32]  # [P] CRC-32 of the packet's bytes
    packet_stamp: npt.NDArray[np.int64]  # [P] pts, else dts
    packet_place: npt.NDArray[np.int64]  # [P] byte in the file
    frame_packet: npt.NDArray[
        np.int64
    ]  # [N] ordinal of the packet that held it, -1 if the decoder did not tell
    frame_check: npt.NDArray[np.uint32]  # [N] checksum of the decoded picture (of the packet, for JPEG)
    frame_key: npt.NDArray[np.bool_]  # [N] decoding may start here; whether it truly may, the checksums tell
    times: npt.NDArray[np.float64]  # [N] seconds, mended
    declared: int
    damaged: int
    careful: bool  # damaged: decoded in one thread, for the same pixels each time
    notes: tuple[str, ...]

    def save(self, file: Path, key: str) -> None:
        """Kept for the next time where that is possible; an index is never worth a failure."""
        arrays = {name: getattr(self, name) for name in PACKETS + FRAMES}
        rest = {
            "declared": self.declared,
            "damaged": self.damaged,
            "careful": self.careful,
            "notes": self.notes,
        }
        try:
            with writing(file, "wb") as out:
                np.savez_compressed(
                    out, allow_pickle=False, key=np.array(key), rest=np.array(json.dumps(rest)), **arrays
                )
        except (OSError, UserError):
            return

    @classmethod
    def load(cls, file: Path, key: str) -> Index | None:
        """Nothing where there is none, where it is broken, or where the video is no longer the same."""
        try:
            with np.load(file, allow_pickle=False) as stored:
                if str(stored["key"]) != key:
                    return None
                arrays = {name: stored[name] for name in PACKETS + FRAMES}
                rest = json.loads(str(stored["rest"]))
            for names in (PACKETS, FRAMES):
                if len({arrays[name].shape for name in names}) != 1:
                    return None
            return cls(**arrays, **{**rest, "notes": tuple(rest["notes"])})
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error):
            return None


def index_file(path: Path, cache: Path | None) -> Path | None:
    """`.NAME.index.npz` in the folder *cache*, else beside the video if that folder may be written to."""
    if cache is not None:
        cache.mkdir(parents=True, exist_ok=True)
        place = zlib.crc32(str(path.resolve()).encode())  # two exams may both be called video.mp4
        return cache / f".{path.name}.{place:08x}.index.npz"
    folder = path.resolve().parent
    writable = (
        os.access(folder, os.W_OK) and folder.stat().st_mode & 0o222
    )  # root may everything: honour the mode
    return folder / f".{path.name}.index.npz" if writable else None


def index_key(path: Path, options: dict[str, Any]) -> str:
    """Changes with the file, with what was asked of it, and with what could decode other pixels from it."""
    status = path.stat()
    with path.open("rb") as file:
        head = file.read(SAMPLE)
        file.seek(max(0, status.st_size - SAMPLE))
        ends = zlib.crc32(file.read(SAMPLE), zlib.crc32(head))
    times = times_file(path)
    beside = [times.stat().st_size, times.stat().st_mtime_ns] if times.is_file() else None
    made_by = [FORMAT, av.__version__, av.library_versions, platform.machine()]
    return json.dumps([made_by, status.st_size, status.st_mtime_ns, ends, beside, options], sort_keys=True)
