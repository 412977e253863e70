"""Frames in, media files out: the same frames give the same bytes, and a file that exists is whole."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import av
import numpy as np
import numpy.typing as npt
import simplejpeg

from devcem.files import write_bytes, write_text, writing

Format = Literal["avi", "mp4", "jpg"]
Frames = npt.NDArray[np.uint8]  # [T,H,W,3]
NOMINAL = 10  # frames a second that a container declares; the true, uneven times stand in NAME.times.csv
JPEG_QUALITY = 90
# one thread, since more give other bytes; no B-frames, since stretches are joined packet by packet
H264 = {"preset": "veryfast", "crf": "20", "g": "50", "bf": "0", "threads": "1"}
BITEXACT = {"fflags": "+bitexact"}  # no encoder version and no date in the header


def media_path(folder: Path, name: str, format: Format) -> Path:
    """A file for avi and mp4, a folder of numbered pictures for jpg."""
    return folder / (name if format == "jpg" else f"{name}.{format}")


def record(frames: Iterable[Frames], path: Path, format: Format, first: int = 0) -> None:
    """Write batches of frames to *path*; pictures are numbered from *first*."""
    if format == "jpg":
        path.mkdir(parents=True, exist_ok=True)
        for number, jpeg in enumerate(_jpegs(frames), first):
            write_bytes(_picture(path, number), jpeg)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    file = io.BytesIO()
    with av.open(file, "w", format=format, options=BITEXACT) as container:
        (_mjpeg if format == "avi" else _h264)(container, frames)
    write_bytes(path, file.getvalue())


def is_recorded(path: Path, format: Format, first: int, count: int) -> bool:
    """Whether `record` has written all of *count* frames: files appear whole, pictures in order."""
    return _picture(path, first + count - 1).is_file() if format == "jpg" else path.is_file()


def concatenate(chunks: Sequence[Path], path: Path) -> None:
    """One video out of stretches that `record` wrote, packet by packet, without encoding anything again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path, "wb") as file, av.open(file, "w", format=path.suffix[1:], options=BITEXACT) as output:
        stream = None
        frames = 0
        for chunk in chunks:
            with av.open(str(chunk)) as container:
                source: Any = container.streams.video[0]
                stream = stream or output.add_stream_from_template(source)
                step = round(1 / (NOMINAL * source.time_base))  # ticks a frame
                packets: list[Any] = [packet for packet in container.demux(source) if packet.dts is not None]
                for packet in packets:
                    packet.pts += frames * step
                    packet.dts += frames * step
                    packet.stream = stream
                    output.mux(packet)
                frames += len(packets)


def write_times(path: Path, times: npt.NDArray[np.float64]) -> None:
    """NAME.times.csv beside NAME: the second at which each frame was exposed."""
    rows = "".join(f"{number},{second:.3f}\n" for number, second in enumerate(times))
    write_text(path.with_name(f"{path.stem}.times.csv"), "number,seconds\n" + rows)


def _picture(folder: Path, number: int) -> Path:
    return folder / f"frame_{number:06d}.jpg"


def _jpegs(frames: Iterable[Frames]) -> Iterator[bytes]:
    for batch in frames:
        for frame in np.ascontiguousarray(batch):
            yield simplejpeg.encode_jpeg(frame, JPEG_QUALITY, "RGB", "420")


def _mjpeg(container: Any, frames: Iterable[Frames]) -> None:
    stream: Any = None
    for number, jpeg in enumerate(_jpegs(frames)):
        if stream is None:
            height, width = simplejpeg.decode_jpeg_header(jpeg)[:2]
            stream = container.add_mux_stream("mjpeg", rate=NOMINAL, width=width, height=height)
            stream.time_base = Fraction(1, NOMINAL)
        packet = av.Packet(jpeg)
        packet.stream = stream
        packet.pts = packet.dts = number
        packet.time_base = Fraction(1, NOMINAL)
        packet.duration = 1
        packet.is_keyframe = True
        container.mux(packet)


def _h264(container: Any, frames: Iterable[Frames]) -> None:
    stream: Any = None
    for batch in frames:
        if stream is None:
            stream = container.add_stream("libx264", rate=NOMINAL, options=H264)
            stream.height, stream.width = batch.shape[1:3]
            stream.pix_fmt = "yuv420p"
        for frame in batch:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
    container.mux(stream.encode(None))
