"""Whole videos at 224 px: `stream` beside a straightforward PyAV loop, interleaved, on this machine.

    python benchmarks/decoding.py [--frames 600] [--rounds 5]

"straightforward" is what most programs do: the default threading, one `reformat` a frame. "tuned" is the same
loop with frame threads and one kept scaler. "first" is a stream that also makes the index, "again" one that
finds it.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import PIL.Image
from av.video.reformatter import VideoReformatter

from devcem.frames import open_source

SIDE, SIZE = 512, 224
KINDS = {
    "H.264": ("a.mp4", "libx264", 250),
    "MJPEG": ("a.avi", "mjpeg", 1),
    "MPEG-2": ("a.mpg", "mpeg2video", 12),
}


def write(path: Path, codec: str, gop: int, frames: int) -> None:
    """A smooth texture with fine grain that moves: about 15 KB a JPEG, as capsules film."""
    random = np.random.default_rng(0)
    coarse = PIL.Image.fromarray(random.integers(30, 220, (24, 24, 3), dtype=np.uint8))
    wall = np.asarray(coarse.resize((SIDE * 2, SIDE * 2), PIL.Image.Resampling.BICUBIC)).astype(np.int16)
    wall = np.clip(wall + random.integers(-6, 7, wall.shape[:2])[..., None], 0, 255).astype(np.uint8)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=25)
        stream.width = stream.height = SIDE
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        stream.gop_size = gop
        if codec == "mjpeg":
            stream.codec_context.qmin = stream.codec_context.qmax = 6
        for n in range(frames):
            down, right = int(200 + 150 * np.sin(n / 40)), int(200 + 150 * np.cos(n / 55))
            image = np.ascontiguousarray(wall[down : down + SIDE, right : right + SIDE])
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            frame.pts, frame.time_base = n, Fraction(1, 25)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def straightforward(path: Path) -> int:
    with av.open(str(path)) as container:
        return sum(
            len(frame.reformat(SIZE, SIZE, "rgb24").to_ndarray()) > 0 for frame in container.decode(video=0)
        )


def tuned(path: Path) -> int:
    scaler = VideoReformatter()
    with av.open(str(path)) as container:
        container.streams.video[0].thread_type = "AUTO"
        frames = container.decode(video=0)
        return sum(
            len(scaler.reformat(frame, SIZE, SIZE, "rgb24", threads=1).to_ndarray()) > 0 for frame in frames
        )


def first(path: Path) -> int:
    with tempfile.TemporaryDirectory() as cache:
        return sum(len(batch) for batch in open_source(path, cache=cache).stream(SIZE))


def again(path: Path) -> int:
    return sum(len(batch) for batch in open_source(path).stream(SIZE))


def timed(run: Callable[[Path], int], path: Path) -> tuple[float, float]:
    """(frames a second of wall-clock time, CPU milliseconds a frame)"""
    wall, cpu = time.perf_counter(), time.process_time()
    count = run(path)
    return count / (time.perf_counter() - wall), (time.process_time() - cpu) / count * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, PyAV {av.__version__}; {SIDE} px to {SIZE} px")
    runs = (straightforward, tuned, first, again)
    with tempfile.TemporaryDirectory() as folder:
        for kind, (name, codec, gop) in KINDS.items():
            path = Path(folder) / name
            write(path, codec, gop, options.frames)
            len(open_source(path))  # "again" finds its index
            rounds = [[timed(run, path) for run in runs] for _ in range(options.rounds)]
            size = path.stat().st_size / options.frames / 1024
            print(f"\n{kind}, {options.frames} frames of {size:.1f} KB; medians of {options.rounds} rounds")
            for k, run in enumerate(runs):
                speed = statistics.median(round[k][0] for round in rounds)
                ratio = statistics.median(round[k][0] / round[0][0] for round in rounds)
                cpu = statistics.median(round[k][1] for round in rounds)
                print(f"  {run.__name__:16} {speed:7.0f} frames/s  {ratio:5.2f} x  {cpu:5.2f} ms CPU a frame")


if __name__ == "__main__":
    main()
