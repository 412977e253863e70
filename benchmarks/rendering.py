"""Frames a second of the renderer and of its planning, on one core and on several processes.

    python benchmarks/rendering.py [--size 256] [--frames 240] [--workers 2]

Wall-clock time beside the processor's own, because a shared machine tells only the second truthfully.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from devcem.synthetic.appearance import appearance
from devcem.synthetic.collection import Order, plan, stage
from devcem.synthetic.render import coverage, render
from devcem.synthetic.scene import Scene


def film(scene: Scene, size: int) -> tuple[int, float]:
    """Frames rendered and seconds of processor time they took."""
    appearance(scene.patient)  # once a patient, so not counted
    start = time.process_time()
    frames = sum(len(batch) for batch, _ in render(scene, size))
    return frames, time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--frames", type=int, default=240)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    scenes: list[Scene] = []
    for shot in plan(Order("paper"))[::7]:
        if sum(len(scene.path) for scene in scenes) < options.frames:
            scenes.append(stage(shot))
    frames, seconds = (sum(column) for column in zip(*(film(s, options.size) for s in scenes), strict=True))
    print(f"{platform.machine()}, {os.cpu_count()} cores")
    print(f"render {options.size} px: {frames} frames, {frames / seconds:.1f} a second of one core")
    start = time.process_time()
    for scene in scenes:
        coverage(scene)
    print(f"coverage: {frames / (time.process_time() - start):.0f} frames a second of one core")
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        list(pool.map(partial(film, size=64), scenes[: options.workers]))  # imports are not counted
        start = time.perf_counter()
        list(pool.map(partial(film, size=options.size), scenes))
        wall = time.perf_counter() - start
    print(f"{options.workers} processes: {frames / wall:.1f} frames a second by the clock on the wall")


if __name__ == "__main__":
    main()
