"""Frames a second of every encoder engine on a CPU, and how far its features are from PyTorch's in fp32.

    python benchmarks/engines.py FRAMES_FOLDER [--encoder resnet50-augnet] [--frames 256] [--rounds 5]

"straightforward" is what most programs do: PyTorch, eager, fp32, NCHW, batches of 30. How it fares depends on
the memory allocator, so it runs twice: with glibc's defaults, and with an allocator told to give no memory
back. Ratios are to either; a claim is made against the second. All other engines run with the defaults, as
a user has them.

Each engine lives in a process of its own. One at a time encodes --frames frames spread over the folder, in
turn, for so many rounds after one that does not count; medians are shown. Deviation is over all frames of
the folder, against "straightforward". Features share a large common part: cosines are of features less the
mean feature.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from machine import machine
from PIL import Image
from rounds import TUNED

from devcem.encoders import Backbone, Features, OpenVinoEncoder, TorchEncoder, load_backbone
from devcem.errors import UserError
from devcem.frames.source import Frames
from devcem.progress import say

BATCH = 30
Encode = Callable[[Frames], Features]


def straightforward(backbone: Backbone) -> Encode:
    mean, std = (torch.tensor(values).view(3, 1, 1) for values in (backbone.mean, backbone.std))

    @torch.inference_mode()
    def encode(frames: Frames) -> Features:
        rows = []
        for start in range(0, len(frames), BATCH):
            pixels = torch.from_numpy(frames[start : start + BATCH]).permute(0, 3, 1, 2)
            rows.append(backbone.network((pixels.float().contiguous() - mean) / std).numpy())
        return np.concatenate(rows)

    return encode


ENGINES: dict[str, tuple[Callable[[Backbone], Encode], dict[str, str]]] = {  # and its environment
    "straightforward, tuned allocator": (straightforward, TUNED),
    "straightforward, default allocator": (straightforward, {}),
    "torch fp32": (lambda backbone: TorchEncoder(backbone, precision="fp32").encode, {}),
    "torch bf16": (lambda backbone: TorchEncoder(backbone, precision="bf16").encode, {}),
    "openvino fp32": (lambda backbone: OpenVinoEncoder(backbone, "fp32").encode, {}),
    "openvino bf16": (lambda backbone: OpenVinoEncoder(backbone, "bf16").encode, {}),
}
EXACT, DEFAULT = list(ENGINES)[:2]


@dataclass
class Worker:
    """An engine in its own process. It works only while it is asked."""

    pipe: Connection

    def ask(self, ordinals: npt.NDArray[np.int64]) -> tuple[float, Features]:
        """Seconds, and features [T,D]."""
        self.pipe.send(ordinals)
        answer = self.pipe.recv()
        if isinstance(answer, UserError):
            raise answer
        seconds, features = answer
        return seconds, features


@contextmanager
def started(engine: str, encoder: str, frames: Path) -> Iterator[Worker]:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=serve, args=(theirs, engine, encoder, frames), daemon=True
    )
    before = dict(os.environ)
    for name in TUNED:
        os.environ.pop(name, None)
    os.environ.update(ENGINES[engine][1])  # glibc reads it when a process starts
    try:
        process.start()
    finally:
        os.environ.clear()
        os.environ.update(before)
    try:
        yield Worker(ours)
    finally:
        ours.send(None)
        process.join()


def serve(pipe: Connection, engine: str, encoder: str, path: Path) -> None:
    try:
        encode = ENGINES[engine][0](load_backbone(encoder))
    except UserError as error:
        pipe.recv()
        pipe.send(error)
        return
    frames = np.load(path)
    while (ordinals := pipe.recv()) is not None:
        chosen = frames[ordinals]
        start = time.perf_counter()
        features = encode(chosen)
        pipe.send((time.perf_counter() - start, features))


def read(folder: Path, size: int) -> Frames:
    """Every picture of the folder, [T,S,S,3]."""
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in (".jpg", ".jpeg", ".png"))
    frames = np.empty((len(files), size, size, 3), np.uint8)
    for place, file in enumerate(files):
        with Image.open(file) as picture:
            scaled = picture.convert("RGB")
        if scaled.size != (size, size):
            scaled = scaled.resize((size, size), Image.Resampling.BOX)
        frames[place] = np.asarray(scaled)
    return frames


def deviation(exact: Features, quick: Features) -> list[str]:
    """Centred cosine mean and min, the largest difference, and how many keep their nearest other frame."""
    a, b = (features.astype(np.float64) - exact.mean(0, dtype=np.float64) for features in (exact, quick))
    cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    furthest = np.abs(exact - quick).max() / np.abs(exact).max()
    kept = (nearest(a) == nearest(b)).mean()
    return [f"{1 - cosines.mean():.1e}", f"{1 - cosines.min():.1e}", f"{furthest:.1e}", f"{kept:.2%}"]


def nearest(centred: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """By cosine, the frame itself left out. [T]"""
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    alike = unit @ unit.T
    np.fill_diagonal(alike, -np.inf)
    return alike.argmax(1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--encoder", default="resnet50-augnet")
    parser.add_argument("--frames", type=int, default=256, help="frames timed in a round")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    frames = read(options.folder, load_backbone(options.encoder).size)
    everything = np.arange(len(frames))
    timed = np.linspace(0, len(frames) - 1, min(options.frames, len(frames))).astype(np.int64)
    rates: dict[str, list[float]] = {}
    features: dict[str, Features] = {}  # of everything, but for the other allocator
    again: dict[str, Features] = {}  # of the timed frames
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        path = Path(folder) / "frames.npy"
        np.save(path, frames)
        workers: dict[str, Worker] = {}
        for engine in ENGINES:
            worker = running.enter_context(started(engine, options.encoder, path))
            try:
                features[engine] = worker.ask(timed if engine == DEFAULT else everything)[1]  # warm-up too
            except UserError as error:
                say(f"{engine} is left out: {error.what}")
                continue
            workers[engine] = worker
            say(f"{engine}: {len(features[engine])} frames encoded")
        for number in range(options.rounds):
            for engine, worker in workers.items():
                seconds, again[engine] = worker.ask(timed)
                rates.setdefault(engine, []).append(len(timed) / seconds)
            say(f"round {number + 1} of {options.rounds} done")
    print(machine())
    print(
        f"{options.encoder}: {len(timed)} frames a round, medians of {options.rounds} interleaved rounds"
        f" (lowest–highest); deviation over {len(frames)} frames\n"
    )
    print(
        "| engine | frames/s | × straightforward, tuned | × default | 1 − centred cosine, mean | worst frame"
        " | largest difference / largest feature | same nearest frame |"
    )
    print("|---|---|---|---|---|---|---|---|")
    middle = {engine: statistics.median(values) for engine, values in rates.items()}
    for engine, values in rates.items():
        cells = [engine, f"{middle[engine]:.1f} ({min(values):.1f}–{max(values):.1f})"]
        cells += [f"{middle[engine] / middle[one]:.2f}" for one in (EXACT, DEFAULT)]
        if engine == EXACT:
            cells += ["–"] * 4
        elif engine == DEFAULT:
            same = np.array_equal(again[engine], again[EXACT])
            cells += ["the same bits" if same else "not the same bits", "–", "–", "–"]
        else:
            cells += deviation(features[EXACT], features[engine])
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
