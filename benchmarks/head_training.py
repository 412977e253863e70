"""Training PS-DeVCEM's head on cached features: 227 bags of 30 frames of 2048, as in the paper, 15 classes.

    python benchmarks/head_training.py [--rounds 5]                           time, on random features
    python benchmarks/head_training.py --bags bags.npz [--dataset DATASET]    time, and what is learnt

"naive" is the loop that most programs have: a bag a step, fp32, torch's Adam as it comes. "ours" is what
`devcem train` does with `--set batch=32 --set precision=bf16`; "ours, fp32" is without the second. A turn is
an epoch of either, in a process of its own, under the tuned allocator (its peer under the default one stands
beside it); 100 epochs are a hundred times that.

"floor" is the arithmetic alone: 6 operations a parameter, frame and bag (forward, and twice that backward),
at the rate of one large bf16 (fp32) product, measured in the same rounds.

What is learnt is told with features of a dataset's train and test segments, 30 frames of each, taken by
AugNet's ResNet50 and kept in bags.npz, so that another machine can do it: five seeds, judged by mAP on the
test segments after the last epoch and in the best one. Settings were fixed beforehand: the paper's for
"naive" (Adam 1e-4), those of the preset `fast` for ours, with its batch and rate times four. A finished seed
is kept in FILE.json of `--keep` and not done again, so that seeds can run side by side or on other machines.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from filelock import FileLock
from machine import machine
from rounds import DEFAULT, TUNED, Program, Turn, interleaved, ratio, serve
from seeds import SEEDS, each, spread
from torch import nn

from devcem.encoders import create_encoder
from devcem.evaluation import mean_ap
from devcem.files import write_text
from devcem.frames import open_source, uniform
from devcem.frames.clip import read_clip, stretch
from devcem.labels import load_dataset
from devcem.methods import collate, create
from devcem.progress import say, track
from devcem.training import FeatureBags, TrainSettings, fit
from devcem.training.allocator import keep_freed_memory
from devcem.training.devices import make_fabric
from devcem.training.loop import Progress, _read, _step
from devcem.training.schedule import make_optimiser, make_schedule
from devcem.training.settings import PRESETS
from devcem.training.trainee import Trainee

BAGS, FRAMES, DIM, CLASSES, EPOCHS = 227, 30, 2048, 15, 100
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Side:
    features: Floats  # [N,30,D]
    labels: npt.NDArray[np.bool_]  # [N,K]

    def bags(self, seed: int = 0) -> FeatureBags:
        ids = [f"bag {number}" for number in range(len(self.labels))]
        return FeatureBags(ids, list(self.features), self.labels, data=settings("fp32").data, seed=seed)


def settings(precision: str, seed: int = 0, epochs: int = EPOCHS) -> TrainSettings:
    fast = {name: value for name, value in PRESETS["fast"].items() if name not in ("patience", "balance")}
    optimiser = fast["optimiser"] | {"lr": 4 * fast["optimiser"]["lr"]}
    told = {"batch": 32, "epochs": epochs, "precision": precision, "optimiser": optimiser, "seed": seed}
    return TrainSettings(**{**fast, **told}, data={"sampling": "uniform"}, accelerator=accelerator())


def accelerator() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def head(seed: int, classes: int = CLASSES) -> Trainee:
    torch.manual_seed(seed)
    return Trainee(create("ps-devcem", num_classes=classes, feature_dim=DIM))


class Naive:
    """A bag a step, fp32."""

    def __init__(self, side: Side, seed: int) -> None:
        self.device = torch.device(accelerator())
        self.trainee = head(seed, side.labels.shape[1]).to(self.device)
        self.bags = side.bags()
        self.optimiser = torch.optim.Adam(self.trainee.parameters(), lr=1e-4, weight_decay=1e-4)
        self.rng = np.random.default_rng(seed)

    def epoch(self) -> None:
        self.trainee.train()
        for index in self.rng.permutation(len(self.bags.ids)):
            batch = collate([self.bags.judge(int(index))]).to(self.device)
            self.optimiser.zero_grad()
            self.trainee(lambda batch=batch: batch)["total"].backward()
            self.optimiser.step()

    @torch.inference_mode()
    def judged(self, side: Side) -> float:
        self.trainee.eval()
        scores = []
        for features in torch.from_numpy(side.features).to(self.device):
            mask = torch.ones(1, len(features), dtype=torch.bool, device=self.device)
            scores.append(self.trainee.method(features[None], mask).video_logits.sigmoid().cpu().numpy()[0])
        return float(mean_ap(side.labels, np.array(scores, np.float64)))


def naive() -> Turn:
    program = Naive(drawn(), 0)

    def turn() -> float:
        began = time.perf_counter()
        program.epoch()
        return time.perf_counter() - began

    return turn


def ours(precision: str) -> Turn:
    """The inside of `fit`'s loop over epochs."""
    told, trainee, bags = settings(precision), head(0), drawn().bags()
    fabric = make_fabric(told)
    model, optimiser = fabric.setup(trainee, make_optimiser(trainee.parameters(), told.optimiser))
    schedule = make_schedule(optimiser.optimizer, told.optimiser, EPOCHS * 8)
    progress = Progress()
    model.train()
    keep_freed_memory()  # as `fit` does

    def turn() -> float:
        began = time.perf_counter()
        for batch, count, of in _read(fabric, bags, trainee.method, told, progress):
            _step(fabric, model, optimiser, batch.to(fabric.device), count / of, told, progress)
            schedule.step()
        progress.epoch += 1
        return time.perf_counter() - began

    return turn


def floor(dtype: torch.dtype) -> Turn:
    """Seconds that an epoch's operations take at the rate of one large product."""
    side = 4096
    one, other = (torch.randn(side, side).to(dtype) for _ in range(2))
    parameters = sum(parameter.numel() for parameter in head(0).parameters())
    operations = 6 * parameters * FRAMES * BAGS
    if dtype is torch.float32:  # as a convolution oneDNN does it: torch.mm is half as quick in fp32
        pixels, kernel = one.reshape(1, side, 64, 64), other[..., None, None]
        pixels = pixels.contiguous(memory_format=torch.channels_last)
        product = partial(nn.functional.conv2d, pixels, kernel)
    else:
        product = partial(torch.mm, one, other)

    def turn() -> float:
        times = []
        for _ in range(5):
            began = time.perf_counter()
            product()
            times.append(time.perf_counter() - began)
        return min(times) * operations / (2 * side**3)

    return turn


def drawn() -> Side:
    rng = np.random.default_rng(0)
    return Side(rng.random((BAGS, FRAMES, DIM), np.float32), rng.random((BAGS, CLASSES)) < 0.12)


PROGRAMS = {
    "naive": (naive, TUNED),
    "naive, default allocator": (naive, DEFAULT),
    "ours, fp32": (lambda: ours("fp32"), DEFAULT),
    "ours": (lambda: ours("bf16"), DEFAULT),
    "floor, fp32": (lambda: floor(torch.float32), DEFAULT),
    "floor, bf16": (lambda: floor(torch.bfloat16), DEFAULT),
}


def tell_time(rounds: int) -> None:
    running = [Program(__file__, name, env=env) for name, (_, env) in PROGRAMS.items()]
    try:
        seconds, peaks = interleaved(running, rounds)
    finally:
        for program in running:
            program.__exit__(None, None, None)
    print(f"{BAGS} bags x {FRAMES} x {DIM}, {EPOCHS} epochs from medians of {rounds} interleaved epochs\n")
    print("| program | s | naive takes | floor of its precision | memory, GB |")
    print("|---|---|---|---|---|")
    for name, values in seconds.items():
        base = "floor, bf16" if name == "ours" else "floor, fp32"
        cells = [name, f"{EPOCHS * statistics.median(values):.0f}", f"{ratio(seconds['naive'], values):.1f}x"]
        cells += ["", ""] if "floor" in name else [f"{ratio(values, seconds[base]):.2f}x"]
        cells += [] if "floor" in name else [f"{peaks[name] / 1e9:.2f}"]
        print("| " + " | ".join(cells) + " |")


def encoded_bags(dataset: Path, path: Path) -> None:
    """30 frames of each train and test segment, as float16: half a per mille is nothing to a method."""
    data, encoder = load_dataset(dataset), create_encoder("resnet50-augnet")
    arrays = {}
    for split in ("train", "test"):
        segments = [segment for segment in data.segments if segment.split == split]
        rows = []
        for segment in track(segments, split, total=len(segments)):
            with open_source(data.root / "media" / segment.source) as source:
                ordinals = stretch(source, segment.start, segment.stop)[uniform(len(segment), FRAMES)]
                rows.append(encoder.encode(read_clip(source, encoder.size, ordinals=ordinals).frames))
        arrays[split] = np.array(rows, np.float16)
        arrays[f"{split}_labels"] = data.targets(segments)[0]
    np.savez_compressed(path, **arrays)


def read_bags(path: Path) -> tuple[Side, Side]:
    with np.load(path, allow_pickle=False) as file:
        train, test = (
            Side(file[split].astype(np.float32), file[f"{split}_labels"]) for split in ("train", "test")
        )
    return train, test


def learnt(name: str, train: Side, test: Side, seed: int, epochs: int) -> list[float]:
    """mAP on *test* after each epoch."""
    if name == "naive":
        program = Naive(train, seed)
        found = []
        for _ in range(epochs):
            program.epoch()
            found.append(program.judged(test))
        return found
    told = settings("bf16" if name == "ours" else "fp32", seed, epochs)
    fabric, trainee = make_fabric(told), head(seed, train.labels.shape[1])
    fitted = fit(fabric, trainee, train.bags(seed), test.bags(), told)
    return [row["val_map"] for row in fitted.progress.history]


def finished(keep: Path | None, name: str, train: Side, test: Side, seed: int, epochs: int) -> list[float]:
    key = f"{name}, seed {seed}, {epochs} epochs"
    if keep is None:
        return learnt(name, train, test, seed, epochs)
    if keep.exists() and key in (done := json.loads(keep.read_text())):
        return list(done[key])
    found = learnt(name, train, test, seed, epochs)
    with FileLock(f"{keep}.lock"):
        done = json.loads(keep.read_text()) if keep.exists() else {}
        write_text(keep, json.dumps(done | {key: found}))
    return found


def tell_quality(path: Path, names: list[str], seeds: list[int], epochs: int, keep: Path | None) -> None:
    train, test = read_bags(path)
    sides = f"{len(train.labels)} bags train, {len(test.labels)} judge"
    print(f"\n{sides}; {epochs} epochs; mAP, mean ± sd over seeds\n")
    print("| program | after the last epoch | each seed | best epoch |")
    print("|---|---|---|---|")
    for name in names:
        runs = []
        for seed in seeds:
            runs.append(finished(keep, name, train, test, seed, epochs))
            say(f"{name}: seed {seed}: {runs[-1][-1]:.3f}")
        last, best = [run[-1] for run in runs], [max(run) for run in runs]
        print(f"| {name} | {spread(last)} | {each(last)} | {spread(best)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bags", type=Path, help="a file of features; made from --dataset where it is not")
    parser.add_argument("--dataset", type=Path)
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="of what is learnt")
    parser.add_argument("--only", choices=("time", "quality"))
    parser.add_argument("--programs", nargs="+", default=["naive", "ours"], help="whose quality is told")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--keep", type=Path, help="what finished seeds have learnt; made where it is not")
    parser.add_argument("--serve", choices=PROGRAMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(PROGRAMS[options.serve][0]())
    if options.bags and options.dataset and not options.bags.exists():
        encoded_bags(options.dataset, options.bags)
    print(machine())
    if options.only != "quality":
        tell_time(options.rounds)
    if options.bags and options.only != "time":
        tell_quality(options.bags, options.programs, options.seeds, options.epochs, options.keep)


if __name__ == "__main__":
    main()
