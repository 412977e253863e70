"""What a video file says of its own length, and whether it is as long as that.

A decoder stays silent when a file just ends. The container's own sizes do not: boxes, chunks and packets that
reach beyond the end of the file were cut off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TAIL = 1 << 18  # bytes searched for the last packet of a program stream
MKV_SEGMENT = 0x18538067
ASF_FILE_PROPERTIES = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
PACK, PROGRAM_END = b"\0\0\1\xba", b"\0\0\1\xb9"


@dataclass(frozen=True)
class Promise:
    frames: int | None = None  # as the header counts them
    seconds: float | None = None  # as the header says
    cut: str = ""  # how it is known that the file ends too early
    edited: bool = False  # all that is counted is there, but the container may choose not to show some of it
    note: str = ""


def promise(container: Any, stream: Any, file: Any, size: int) -> Promise:
    """*file* is open for reading in binary and may be left at any place."""
    name = container.format.name
    frames = int(stream.frames) or None
    if name == "avi":
        return Promise(frames, cut=_cut(_riff_ends(file, size), size, "a RIFF chunk"))
    if name.startswith("mov"):
        cut = _cut(_box_ends(file, size), size, "an MP4 box")
        return Promise(frames, cut=cut, edited=not cut)
    if name.startswith("matroska"):
        seconds = container.duration / 1e6 if container.duration else None
        return Promise(None, seconds, _cut(_mkv_ends(file), size, "the Matroska segment"))
    if name == "asf":
        declared, seconds = _asf(file)
        return Promise(None, seconds, _cut(iter([declared]), size, "the ASF file"))
    if name == "mpeg":
        return _program_stream(file, size)
    return Promise(
        frames, note="a raw stream does not say how long it is: a missing end could not be noticed"
    )


def _cut(ends: Iterator[int], size: int, what: str) -> str:
    end = max(ends, default=0)
    return f"{what} should reach to byte {end:,}, the file has {size:,}" if end > size else ""


def _riff_ends(file: Any, size: int) -> Iterator[int]:
    place = 0
    while place + 12 <= size:
        file.seek(place)
        head = file.read(12)
        if head[:4] != b"RIFF" or head[8:] not in (b"AVI ", b"AVIX"):
            return
        place += 8 + int.from_bytes(head[4:8], "little")
        yield place


def _box_ends(file: Any, size: int) -> Iterator[int]:
    place = 0
    while place + 8 <= size:
        file.seek(place)
        head = file.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        if length < 8:  # 0: to the end of the file
            return
        place += length
        yield place


def _mkv_ends(file: Any) -> Iterator[int]:
    file.seek(0)
    head = file.read(4096)
    place = 0
    while place + 12 <= len(head):
        wide = 9 - head[place].bit_length()
        identity = int.from_bytes(head[place : place + wide], "big")
        place += wide
        long = 9 - head[place].bit_length()
        length = int.from_bytes(head[place : place + long], "big") & ((1 << 7 * long) - 1)
        place += long
        if identity == MKV_SEGMENT:
            if length != (1 << 7 * long) - 1:  # all ones: not known when it was written
                yield place + length
            return
        place += length


def _asf(file: Any) -> tuple[int, float | None]:
    """(bytes, seconds) of the file properties object."""
    file.seek(0)
    head = file.read(1 << 16)
    at = head.find(ASF_FILE_PROPERTIES)
    if at < 0:
        return 0, None
    number = [int.from_bytes(head[at + k : at + k + 8], "little") for k in (40, 64, 80)]
    seconds = number[1] / 1e7 - number[2] / 1e3  # playing time counts the preroll in
    return number[0], seconds if seconds > 0 else None


def _program_stream(file: Any, size: int) -> Promise:
    """Packets carry their length; the end code is a courtesy that some writers leave out."""
    file.seek(max(0, size - TAIL))
    tail = file.read(TAIL)
    if tail.rstrip(b"\0\xff").endswith(PROGRAM_END):
        return Promise()
    place = tail.rfind(PACK)
    place = _after_pack(tail, place) if place >= 0 else len(tail)
    while place + 6 <= len(tail) and tail[place : place + 3] == b"\0\0\1" and tail[place + 3] >= 0xBB:
        place += 6 + int.from_bytes(tail[place + 4 : place + 6], "big")
    if place > len(tail):
        return Promise(cut=f"its last packet should be {place - len(tail):,} bytes longer")
    note = "it has no end code: whether its end is missing cannot be known, and its length is what is there"
    return Promise(note=note)


def _after_pack(tail: bytes, place: int) -> int:
    if place + 14 > len(tail):
        return len(tail) + 1
    is_mpeg2 = tail[place + 4] >> 6 == 1
    return place + 14 + (tail[place + 13] & 7) if is_mpeg2 else place + 12
