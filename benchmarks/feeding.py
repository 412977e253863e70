"""How well learning is fed: features of a dataset beside the engine alone, and bags of frames a second.

    devcem synth dataset gut --preset demo
    python benchmarks/feeding.py gut [--encoder efficientnet-lite0 resnet50-augnet] [--rounds 5]

"engine" encodes the dataset's frames, held in memory, in one call. "features" is what `devcem train` does
before its first epoch: it opens the media, finds the lens view, decodes, masks, scales, encodes, and keeps
the features. Its share is of the engine's rate in the same round: 100% would mean that all but the encoder
is hidden behind it. Where the engine keeps every core busy by itself nothing can hide; "at most" is the share
that is left if processor time adds up and no core ever waits: the engine's over the engine's and the rest's,
which is read off a run with an encoder that does nothing.

"bags" is the data path of training end to end: 30 frames of a segment, decoded, masked, scaled to 224
pixels, augmented, put into a batch of 8, by the threads that `devcem train` uses. "straightforward" is what
most programs do: PyAV decodes the segment's video from its start, 30 of its frames are kept, and torchvision
scales and flips them, one bag after the other; nothing is masked.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import av
import numpy as np
import torch
from machine import machine
from torchvision.transforms import v2

from devcem.encoders import Encoder, FeatureStore, create_encoder, segment_features
from devcem.encoders.encoder import Features
from devcem.frames import open_source, uniform
from devcem.frames.ahead import in_parallel
from devcem.frames.clip import read_clip
from devcem.frames.source import Frames
from devcem.labels import Dataset, Segment, load_dataset
from devcem.methods import collate
from devcem.methods.composing import shuffled
from devcem.progress import say
from devcem.training.bags import FrameBags
from devcem.training.settings import TrainSettings

SIZE, WINDOW, BATCH = 224, 30, 8


def held(data: Dataset, segments: list[Segment], size: int) -> Frames:
    """Every frame of the segments as the encoder sees it. [N,S,S,3]"""
    parts = []
    for segment in segments:
        with open_source(data.root / "media" / segment.source) as source:
            parts.append(read_clip(source, size, segment.start, segment.stop).frames)
    return np.concatenate(parts)


def engine_rate(encoder: Encoder, frames: Frames) -> float:
    began = time.perf_counter()
    encoder.encode(frames)
    return len(frames) / (time.perf_counter() - began)


def features_rate(encoder: Encoder, data: Dataset, segments: list[Segment]) -> float:
    """Into an empty store: nothing is found there."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        found = segment_features(data, segments, encoder, FeatureStore(folder))
        return sum(len(one.features) for one in found) / (time.perf_counter() - began)


class Idle:
    """Takes frames as another encoder would, and does nothing with them."""

    def __init__(self, encoder: Encoder) -> None:
        self.name, self.dim, self.size, self.batch = "idle", encoder.dim, encoder.size, encoder.batch
        self.fingerprint = {"engine": "none"}

    def encode(self, frames: Frames) -> Features:
        return np.zeros((len(frames), self.dim), np.float32)


def processor_seconds(work: Callable[[], float]) -> float:
    """Of all threads together."""
    began = time.process_time()
    work()
    return time.process_time() - began


def tell_features(data: Dataset, segments: list[Segment], names: list[str], rounds: int) -> None:
    ms = "ms of processor a frame: engine, rest"
    print(f"| encoder | engine, frames/s | features, frames/s | share (lowest–highest) | {ms} | at most |")
    print("|---|---|---|---|---|---|")
    for name in names:
        encoder = create_encoder(name)
        frames = held(data, segments, encoder.size)
        engine_rate(encoder, frames[: 2 * encoder.batch])
        pairs = []
        for number in range(rounds):
            pairs.append((engine_rate(encoder, frames), features_rate(encoder, data, segments)))
            say(f"{name}: round {number + 1}: {pairs[-1][0]:.0f} and {pairs[-1][1]:.0f} frames/s")
        alone, whole = (statistics.median(rates) for rates in zip(*pairs, strict=True))
        shares = [fed / free for free, fed in pairs]
        share = f"{statistics.median(shares):.0%} ({min(shares):.0%}–{max(shares):.0%})"
        engine = processor_seconds(lambda: engine_rate(encoder, frames))  # noqa: B023  called at once
        rest = processor_seconds(lambda: features_rate(Idle(encoder), data, segments))  # noqa: B023
        each = f"{1000 * engine / len(frames):.2f}, {1000 * rest / len(frames):.2f}"
        most = f"{engine / (engine + rest):.0%}"
        print(f"| {name} | {alone:.0f} | {whole:.0f} | {share} | {each} | {most} |", flush=True)


def straightforward(data: Dataset, segments: list[Segment]) -> Iterator[torch.Tensor]:
    change = v2.Compose(
        [
            v2.RandomResizedCrop(SIZE, scale=(0.6, 1.0), ratio=(1, 1), antialias=True),
            v2.RandomHorizontalFlip(),
            v2.RandomVerticalFlip(),
        ]
    )
    waiting = []
    for segment in segments:
        with av.open(str(data.root / "media" / segment.source)) as container:
            every = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        chosen = segment.start + uniform(segment.stop - segment.start, WINDOW)
        frames = torch.from_numpy(np.stack([every[ordinal] for ordinal in chosen])).permute(0, 3, 1, 2)
        waiting.append(change(frames))
        if len(waiting) == BATCH or segment is segments[-1]:
            yield torch.nn.utils.rnn.pad_sequence(waiting, batch_first=True)
            waiting = []


def ours(data: Dataset, segments: list[Segment], epoch: int) -> Iterator[torch.Tensor]:
    told = TrainSettings(batch=BATCH)
    bags = FrameBags(data, segments, SIZE, told.data)
    rng = np.random.default_rng([told.seed, epoch])
    todo = [step.bags for step in shuffled(len(segments), BATCH, rng)]
    for batch in in_parallel(
        lambda which: collate([bags.draw(int(n), epoch) for n in which]), todo, told.workers
    ):
        assert batch.frames is not None
        yield batch.frames


def rate(batch_of_bags: Callable[[], Iterator[torch.Tensor]], bags: int) -> float:
    began = time.perf_counter()
    for _ in batch_of_bags():
        pass
    return bags / (time.perf_counter() - began)


def tell_bags(data: Dataset, segments: list[Segment], rounds: int) -> None:
    pairs = []
    for epoch in range(rounds + 1):
        plain = rate(lambda: straightforward(data, segments), len(segments))
        quick = rate(lambda epoch=epoch: ours(data, segments, epoch), len(segments))  # type: ignore[misc]
        pairs.append((plain, quick))
        say(f"bags: round {epoch}: {plain:.1f} and {quick:.1f} bags/s")
    pairs = pairs[1:]  # the first also made the indexes
    slow, fast = (statistics.median(rates) for rates in zip(*pairs, strict=True))
    ratio = statistics.median(quick / plain for plain, quick in pairs)
    print("\n| data path of end to end training | bags/s | frames/s | × straightforward |")
    print("|---|---|---|---|")
    print(f"| straightforward | {slow:.1f} | {slow * WINDOW:.0f} | 1.0 |")
    print(f"| `devcem train` | {fast:.1f} | {fast * WINDOW:.0f} | {ratio:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--encoder", nargs="+", default=["efficientnet-lite0", "resnet50-augnet"])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    data = load_dataset(options.dataset)
    segments = [segment for segment in data.segments if (data.root / "media" / segment.source).is_file()]
    frames = sum(map(len, segments))
    print(machine())
    print(f"{len(segments)} segments, {frames} frames; {options.rounds} interleaved rounds\n")
    tell_features(data, segments, options.encoder, options.rounds)
    tell_bags(data, segments, options.rounds)


if __name__ == "__main__":
    main()
