"""One decoded or still encoded picture in, an RGB array of the wished size out.

`read` and `stream` both come through here, so that the same frame at the same size is the same array. JPEG is
scaled by the decoder's own DCT down to the next eighth above the wished size, everything by area averaging.
"""

from __future__ import annotations

import threading
import zlib
from fractions import Fraction
from typing import Any, cast

import av
import av.filter
import numpy as np
import numpy.typing as npt
import simplejpeg
from av.video.reformatter import Interpolation, VideoReformatter

Image = npt.NDArray[np.uint8]  # [H,W,3]
Picture = av.VideoFrame | bytes | Image  # decoded by PyAV, an encoded JPEG, or RGB already
JPEG_ERRORS = (ValueError, KeyError)  # what simplejpeg raises at broken data
GREY = 128  # what libjpeg itself paints where data is missing

_own = threading.local()  # a scaler keeps its tables for one thread: setting it up costs as much as a frame


def rgb(picture: Picture, height: int, width: int) -> Image:
    """[height,width,3]"""
    if isinstance(picture, bytes):
        picture = decode_jpeg(picture, height, width)
    if isinstance(picture, np.ndarray):
        if picture.shape[:2] == (height, width):
            return picture
        picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
    if not hasattr(_own, "scaler"):
        _own.scaler = VideoReformatter()
    same = (picture.height, picture.width) == (height, width)
    how = Interpolation.BILINEAR if same else Interpolation.AREA
    scaled = _own.scaler.reformat(picture, width, height, "rgb24", interpolation=how, threads=1)
    return np.asarray(scaled.to_ndarray(), np.uint8)


def decode_jpeg(data: bytes, height: int, width: int) -> Image:
    """RGB, at least *height* by *width* where the picture is as large; grey where nothing can be decoded."""
    try:
        decoded = simplejpeg.decode_jpeg(data, "RGB", min_height=height, min_width=width, strict=False)
    except JPEG_ERRORS:
        return np.full((height, width, 3), GREY, np.uint8)
    return np.asarray(decoded, np.uint8)


def jpeg_is_sound(data: bytes) -> bool:
    """Whether every bit of it decodes, at the cheapest scale."""
    try:
        simplejpeg.decode_jpeg(data, "GRAY", min_height=1, min_width=1)
    except JPEG_ERRORS:
        return False
    return True


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """(height, width), or nothing where the header is broken."""
    try:
        height, width, *_ = simplejpeg.decode_jpeg_header(data, strict=False)
    except JPEG_ERRORS:
        return None
    return int(height), int(width)


def fingerprint(picture: av.VideoFrame | bytes) -> int:
    """A checksum that tells whether two decodes gave the same picture, bit by bit."""
    if isinstance(picture, bytes):
        return zlib.crc32(picture)
    value = 0
    for lines in _planes(picture):
        value = zlib.crc32(np.ascontiguousarray(lines).data, value)
    return value


def detached(frame: av.VideoFrame) -> av.VideoFrame:
    """A copy that leaves the decoder's own memory free.

    What a decoder cannot fill in a damaged frame is what its memory held before, so that holding frames back
    would change later ones.
    """
    graph: Any = av.filter.Graph()
    stages = (
        graph.add_buffer(None, frame.width, frame.height, frame.format, time_base=Fraction(1)),
        graph.add("copy"),  # keeps what colours depend on, which a copy of the planes would lose
        graph.add("buffersink"),
    )
    graph.link_nodes(*stages).configure()
    graph.push(frame)
    return cast(av.VideoFrame, graph.pull())


def _planes(frame: av.VideoFrame) -> list[npt.NDArray[np.uint8]]:
    """[height, bytes of a line] of each plane, without what pads its lines."""
    planes = []
    for number, plane in enumerate(frame.planes):
        if plane.line_size:  # a palette has none
            deep = sum(-(-part.bits // 8) for part in frame.format.components if part.plane == number)
            lines = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
            planes.append(lines[:, : deep * plane.width])
    return planes
