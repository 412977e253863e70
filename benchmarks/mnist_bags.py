"""The MNIST bags of Ilse et al. 2018, end to end: does a bag of digits hold a 9?

    python benchmarks/mnist_bags.py FOLDER [--epochs 40] [--bags 100] [--natural]

FOLDER holds train-images-idx3-ubyte.gz and train-labels-idx1-ubyte.gz. A seed draws the training bags from
the first 50,000 images and 1,000 test bags from the other 10,000, about 10 digits a bag (standard deviation
2). The original's network (LeNet, 500 units, attention of 128) and settings (Adam 5e-4, weight decay 1e-4,
one bag a step), through `devcem.training.fit`.

Bags and epoch are those of the original's experiments, as its repository describes them: positive and
negative bags by turns, and early stopping on validation, here 100 bags of training images that no training
bag holds, by their loss. `--natural` leaves both out, as the original's published script does: bags as they
fall (65% positive), and the last weights. Test bags are looked at once.
"""

from __future__ import annotations

import argparse
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from machine import machine
from seeds import SEEDS, each, spread
from torch import Tensor, nn

from devcem.evaluation import multilabel_metrics
from devcem.methods import Bag, create
from devcem.progress import say
from devcem.training import TrainSettings, fit
from devcem.training.devices import make_fabric
from devcem.training.judging import judge
from devcem.training.trainee import Trainee

TARGET = 9
TRAINING_IMAGES = 50_000
MEAN, DEVIATION = 10, 2  # digits a bag
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Digits:
    images: npt.NDArray[np.uint8]  # [N,28,28]
    labels: npt.NDArray[np.uint8]  # [N]


class DigitBags:
    """Bags for `fit`: each is some digits' ordinals; positive where one of them is the target."""

    def __init__(self, digits: Digits, bags: list[Ints]) -> None:
        self.ids = [f"bag {n}" for n in range(len(bags))]
        self.labels = np.array([[(digits.labels[bag] == TARGET).any()] for bag in bags])
        self.known = np.ones_like(self.labels)
        self._digits, self._bags = digits, bags

    def draw(self, index: int, epoch: int) -> Bag:  # noqa: ARG002  the same in every epoch
        return self.judge(index)

    def judge(self, index: int) -> Bag:
        frames = torch.from_numpy(self._digits.images[self._bags[index]])[:, None]  # [T,1,28,28]
        labels, known = torch.from_numpy(self.labels[index]), torch.from_numpy(self.known[index])
        return Bag(self.ids[index], labels.float(), known, frames=frames)


def draw_bags(pool: Ints, count: int, rng: np.random.Generator) -> list[Ints]:
    """*count* bags of ordinals out of *pool*; within a bag no image comes twice."""
    sizes = np.maximum(rng.normal(MEAN, DEVIATION, count).round().astype(int), 1)
    return [rng.choice(pool, size, replace=False) for size in sizes]


def draw_by_turns(digits: Digits, pool: Ints, count: int, rng: np.random.Generator) -> list[Ints]:
    """As `draw_bags`, but positive and negative by turns; a negative bag is drawn from the other digits."""
    others = pool[digits.labels[pool] != TARGET]
    bags: list[Ints] = []
    while len(bags) < count:
        (bag,) = draw_bags(pool if len(bags) % 2 == 0 else others, 1, rng)
        if len(bags) % 2 or (digits.labels[bag] == TARGET).any():
            bags.append(bag)
    return bags


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """LeCun's format: two zero bytes, type 8 (uint8), number of sizes, the sizes (big endian), the values."""
    content = gzip.decompress(path.read_bytes())
    if content[:3] != b"\0\0\x08":
        raise ValueError(f"{path} is no idx file of bytes")
    sizes = np.frombuffer(content, ">u4", content[3], offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * len(sizes)).reshape(sizes)


def lenet() -> nn.Module:
    """[R,1,28,28] to [R,800]: the original's convolutions."""
    first = (nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2))
    second = (nn.Conv2d(20, 50, 5), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*first, *second, nn.Flatten())


def scaled(frames: Tensor) -> Tensor:
    return (frames.float() / 255 - 0.1307) / 0.3081  # MNIST's mean and deviation


def area(digits: Digits, gated: bool, seed: int, bags: int, epochs: int, natural: bool) -> float:
    """AUC on 1,000 bags of images never trained on, after training on *bags* bags."""
    rng = np.random.default_rng(seed)

    def drawn(pool: Ints, count: int) -> list[Ints]:
        return draw_bags(pool, count, rng) if natural else draw_by_turns(digits, pool, count, rng)

    learnt = drawn(np.arange(TRAINING_IMAGES), bags)
    test = DigitBags(digits, drawn(np.arange(TRAINING_IMAGES, len(digits.labels)), 1000))
    unseen = np.setdiff1d(np.arange(TRAINING_IMAGES), np.concatenate(learnt))
    train, validation = DigitBags(digits, learnt), DigitBags(digits, drawn(unseen, 100))
    settings = TrainSettings(
        method="attention-mil",
        options={"embedding": 500, "gated": gated},
        seed=seed,
        batch=1,
        epochs=epochs,
        optimiser={"lr": 5e-4, "weight_decay": 1e-4},
        encoder={"train": True},
        accelerator="cpu",
    )
    torch.manual_seed(seed)
    method = create(settings.method, num_classes=1, feature_dim=800, **settings.options)
    trainee = Trainee(method, lenet(), scaled)
    fabric = make_fabric(settings)
    fitted = fit(fabric, trainee, train, validation, settings)  # leaves the weights of the best epoch
    if natural:
        trainee.load_state_dict(fitted.last)
    verdict = judge(fabric, trainee, test, 32, settings.workers)
    return float(multilabel_metrics(test.labels, verdict.scores).loc["macro", "auroc"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--bags", type=int, default=100)
    parser.add_argument("--natural", action="store_true", help="bags as they fall, and the last weights")
    options = parser.parse_args()
    torch.set_num_threads(1)  # steps this small are slower on more
    names = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
    digits = Digits(*(read_idx(options.folder / name) for name in names))
    print(machine())
    how = "bags as they fall, last weights" if options.natural else "bags by turns, best epoch on validation"
    print(f"{options.bags} training bags, {options.epochs} epochs, {how}; mean ± sd over seeds\n")
    print("| method | AUC | each seed |")
    print("|---|---|---|")
    for name, gated in (("attention-mil", False), ("attention-mil gated", True)):
        areas = []
        for seed in SEEDS:
            areas.append(area(digits, gated, seed, options.bags, options.epochs, options.natural))
            say(f"{name}: seed {seed}: {areas[-1]:.3f}")
        print(f"| {name} | {spread(areas)} | {each(areas)} |", flush=True)


if __name__ == "__main__":
    main()
