"""An open video file: its packets and pictures in order, whatever is damaged in it.

Only the bytes given are ever read: the file is handed to FFmpeg as a Python object, with a list of formats
that holds no playlist, and with no protocol allowed, so that no content can make it open anything else.
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import av
import av.error
from av.stream import Disposition
from av.video.stream import VideoStream

from devcem.errors import UserError
from devcem.frames.pictures import detached, jpeg_size
from devcem.frames.source import Limits

FORMATS = "avi,mov,mp4,m4a,3gp,3g2,mj2,mpeg,mpegvideo,mpegts,asf,matroska,webm,h264,hevc,m4v"
THREADS = min(os.cpu_count() or 1, 8)
STUBBORN = 64  # errors in a row while demuxing after which nothing more is expected


class Step(NamedTuple):
    """What a packet, or the end of the file, brought forth: a picture, or nothing that can be decoded."""

    packet: int  # ordinal of the packet that held it, -1 where the decoder does not tell
    picture: av.VideoFrame | bytes | None
    sound: bool  # False: decoded with errors, or not at all
    key: bool = False
    seconds: float = float("nan")


@dataclass
class Log:
    """Every packet that was met, to be recognised again after a seek."""

    checks: list[int] = field(default_factory=list)  # CRC-32 of its bytes
    stamps: list[int | None] = field(default_factory=list)  # pts, else dts
    places: list[int | None] = field(default_factory=list)  # byte in the file
    discarded: int = 0  # packets the container itself says not to show

    def add(self, packet: Any) -> None:
        self.checks.append(zlib.crc32(packet))
        self.stamps.append(stamp(packet))
        self.places.append(packet.pos)
        self.discarded += bool(packet.is_discard)

    def clear(self) -> None:
        self.checks, self.stamps, self.places, self.discarded = [], [], [], 0


class Reel:
    """One open container, one decoder.

    *careful* decodes in one thread: with more, FFmpeg conceals damage from whatever the other threads have
    done so far, and the same file gives other pixels each time. Threads are for sound files. *watchful* makes
    the decoder speak up at the first doubt, even of what it would conceal in silence otherwise.
    """

    def __init__(
        self,
        path: Path,
        content: bytes | None = None,
        *,
        careful: bool = False,
        watchful: bool = False,
        pixels: int = Limits.pixels,
    ) -> None:
        self.path, self.careful = path, careful
        self.file: Any = io.BytesIO(content) if content is not None else path.open("rb", buffering=0)
        try:
            safe = {"format_whitelist": FORMATS, "protocol_whitelist": "none"}
            self.container: Any = av.open(self.file, "r", container_options=safe, buffer_size=1 << 16)
        except (av.error.FFmpegError, ValueError) as error:
            self.file.close()
            raise _refused(self.path, error) from error
        try:
            self.stream = _video(self.container, path)
        except UserError:
            self.close()
            raise
        self.decoder: Any = self.stream.codec_context
        self.time_base = float(self.stream.time_base or 1)
        self.decoder.thread_type = "NONE" if careful else "FRAME"
        self.decoder.thread_count = 1 if careful else THREADS
        self.decoder.options = {"max_pixels": str(pixels)} | ({"err_detect": "explode"} if watchful else {})
        self.decoder.copy_opaque = True  # a frame tells which packet it was in
        self.is_jpeg = False  # set by the owner, after `look_for_jpeg`

    def look_for_jpeg(self) -> bool:
        """Whether every packet is one whole JPEG, which libjpeg decodes scaled; spends this reel."""
        if self.decoder.name != "mjpeg":
            return False
        first = next((bytes(packet) for packet in self.packets()), b"")
        return jpeg_size(first) == (self.decoder.height, self.decoder.width)  # else two fields, or broken

    def packets(self) -> Generator[Any]:
        """All packets from here on; an error between them does not end it."""
        errors = 0
        while errors < STUBBORN:
            try:
                for packet in self.container.demux(self.stream):
                    if packet.size:  # an empty one would tell the decoder that all is over
                        errors = 0
                        yield packet
                return
            except av.error.FFmpegError:
                errors += 1

    def steps(self, packets: Iterable[tuple[int, Any]]) -> Generator[Step]:
        """What these numbered packets hold, in the order of showing, to the last picture kept back."""
        for number, packet in packets:
            if self.is_jpeg:
                yield self._jpeg(number, packet)
            else:
                packet.opaque = number
                yield from self._decoded(packet)
        if not self.is_jpeg:
            yield from self._decoded(None)

    def from_start(self, log: Log | None = None) -> Iterator[Step]:
        return self.steps(enumerate(self._logged(log) if log is not None else self.packets()))

    def seek(self, stamp: int | None, place: int | None) -> bool:
        """Go about there; where that is, only the packets tell."""
        try:
            if stamp is not None:
                self.container.seek(stamp, stream=self.stream)
            elif place is not None:
                self.container.seek(place, unsupported_byte_offset=True, any_frame=True)
            else:
                return False
        except (av.error.FFmpegError, ValueError):
            return False
        return True

    def close(self) -> None:
        self.container.close()
        self.file.close()

    def _logged(self, log: Log) -> Iterator[Any]:
        for packet in self.packets():
            log.add(packet)
            yield packet

    def _jpeg(self, number: int, packet: Any) -> Step:
        data = bytes(packet)
        if jpeg_size(data) is None:
            return Step(number, None, False)
        return Step(number, data, True, True, self._seconds(stamp(packet)))

    def _decoded(self, packet: Any) -> Iterator[Step]:
        try:
            frames = self.decoder.decode(packet)
        except EOFError:
            return
        except av.error.FFmpegError:
            yield Step(-1, None, False)
            return
        steps = [self._step(frame) for frame in frames]
        del frames  # what is held while the decoder goes on changes what it paints into damaged frames
        yield from steps

    def _step(self, frame: av.VideoFrame) -> Step:
        number = -1 if frame.opaque is None else cast(int, frame.opaque)
        picture = detached(frame) if self.careful else frame
        return Step(number, picture, not frame.is_corrupt, bool(frame.key_frame), self._seconds(frame.pts))

    def _seconds(self, stamp: int | None) -> float:
        return float("nan") if stamp is None else stamp * self.time_base


def stamp(packet: Any) -> int | None:
    value: int | None = packet.dts if packet.pts is None else packet.pts
    return value


def _video(container: Any, path: Path) -> VideoStream:
    streams = [
        stream for stream in container.streams.video if not stream.disposition & Disposition.attached_pic
    ]
    if not streams:
        what = "there is sound in it but no video" if container.streams.audio else "there is no video in it"
        raise UserError(what, path, "give the file that holds the exam's video")
    stream: VideoStream = streams[0]
    if stream.codec_context is None:
        raise UserError(
            "its video is in a codec that no decoder here knows", path, "convert it to H.264 in MP4"
        )
    if not (stream.codec_context.width and stream.codec_context.height):
        raise UserError("not one frame of its video can be decoded", path, "export the exam again")
    return stream


def _refused(path: Path, error: Exception) -> UserError:
    with path.open("rb") as file:
        head = file.read(12)
    if head[4:8] in (b"ftyp", b"mdat", b"moov", b"wide", b"free"):
        what = "an MP4 without its table of contents (moov): it was cut off while being written or copied"
        return UserError(what, path, "copy or export it again; no frame can be found without that table")
    return UserError(
        f"not a video that can be read ({type(error).__name__})",
        path,
        "give an AVI, MP4, MPG, WMV, MKV or DICOM video or a folder of numbered pictures",
    )
