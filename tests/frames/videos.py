"""Videos whose frames tell their own ordinal: black and white blocks, which survive any codec."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt

BITS = 12
HEIGHT, WIDTH = 64, 96


def picture(ordinal: int, height: int = HEIGHT, width: int = WIDTH) -> npt.NDArray[np.uint8]:
    """[height,width,3]: a drifting texture with the ordinal, in Gray code, as blocks over the upper half."""
    rows, columns = np.mgrid[0:height, 0:width]
    texture = 110 + 50 * np.sin((columns + 3 * ordinal) / 9) + 40 * np.cos((rows - ordinal) / 7)
    image = np.repeat(texture[..., None], 3, axis=2)
    image[..., 0] += 20
    code = ordinal ^ (ordinal >> 1)
    for bit in range(BITS):
        row, column = divmod(bit, BITS // 2)
        block = (slice(row * height // 4, (row + 1) * height // 4), _columns(column, width))
        image[block] = 235 if code >> bit & 1 else 20
    return np.clip(image, 0, 255).astype(np.uint8)


def ordinal_in(image: npt.NDArray[np.uint8]) -> int:
    """What `picture` painted."""
    height, width, _ = image.shape
    code = 0
    for bit in range(BITS):
        row, column = divmod(bit, BITS // 2)
        block = image[row * height // 4 : (row + 1) * height // 4, _columns(column, width)]
        code |= int(block.mean() > 128) << bit
    ordinal = 0
    while code:
        ordinal ^= code
        code >>= 1
    return ordinal


def write_video(
    path: Path,
    codec: str,
    frames: int = 60,
    *,
    height: int = HEIGHT,
    width: int = WIDTH,
    gop: int = 12,
    b_frames: int = 0,
    options: dict[str, str] | None = None,
    times: npt.NDArray[np.int64] | None = None,  # milliseconds
    rate: int = 25,
    container_options: dict[str, str] | None = None,
    texture: int = 0,  # noise, which makes files large
) -> Path:
    noise = np.random.default_rng(0)
    with av.open(str(path), "w", options=container_options or {}) as container:
        stream: Any = container.add_stream(codec, rate=rate)
        stream.width, stream.height = width, height
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        stream.gop_size = gop
        stream.codec_context.max_b_frames = b_frames
        stream.codec_context.thread_count = 1
        stream.options = options or {}
        if times is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        for ordinal in range(frames):
            image = picture(ordinal, height, width)
            if texture:
                grain = noise.integers(-texture, texture + 1, (height, width, 1))
                image = np.clip(image + grain, 0, 255).astype(np.uint8)
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            frame.pts = ordinal if times is None else int(times[ordinal])
            frame.time_base = Fraction(1, rate) if times is None else Fraction(1, 1000)
            for packet in stream.encode(frame):
                container.mux(packet)
        for packet in stream.encode(None):
            container.mux(packet)
    return path


def decode_all(path: Path) -> npt.NDArray[np.uint8]:
    """A plain sequential decode by PyAV: the definition of frame i."""
    with av.open(str(path)) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


def overwrite(path: Path, count: int, seed: int = 0) -> None:
    """*count* random bytes overwritten in the middle nine tenths of the file."""
    random = np.random.default_rng(seed)
    data = np.frombuffer(path.read_bytes(), np.uint8).copy()
    places = random.integers(len(data) // 20, len(data) * 19 // 20, count)
    data[places] = random.integers(0, 256, count)
    path.write_bytes(data.tobytes())


def truncate(path: Path, share: float) -> None:
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])


def _columns(column: int, width: int) -> slice:
    return slice(column * width // (BITS // 2), (column + 1) * width // (BITS // 2))
