"""One training step end to end: a bag of 30 frames at 224 px through ResNet50 and PS-DeVCEM, and an update.

    python benchmarks/training_step.py [--encoder resnet50] [--frames 30] [--rounds 5]

"plain" is the straightforward program: eager fp32, channels first, torch's Adam. "ours" is what `devcem train
--set encoder.train=true --set precision=bf16` does with the bag: the same method and loss, batch-norm
statistics frozen in both. Each runs in a process of its own, in turns, under glibc's default allocator and
under a tuned one; a ratio is against the plain program under the same allocator. Memory is the largest the
process held, PyTorch itself included.

The last lines hold the gradient of our step against the plain one's, from the same weights on the same bag.
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch
from machine import machine
from rounds import DEFAULT, TUNED, Program, Turn, interleaved, ratio, serve
from torch import Tensor, nn

from devcem.encoders import load_backbone
from devcem.methods import Bag, Batch, collate, create
from devcem.training.allocator import keep_freed_memory
from devcem.training.devices import make_fabric
from devcem.training.loop import Progress, _step
from devcem.training.schedule import make_optimiser
from devcem.training.settings import TrainSettings
from devcem.training.trainee import Trainee

CLASSES = 15
ALLOCATORS = {"default": DEFAULT, "tuned": TUNED}


def settings(precision: str) -> TrainSettings:
    return TrainSettings(batch=1, precision=precision, encoder={"train": True}, accelerator="cpu")


def bag(frames: int) -> Batch:
    """A wall that drifts: neighbouring frames are alike, as a capsule films them."""
    drawn = torch.Generator().manual_seed(0)
    coarse = torch.rand(1, 3, 24, 24, generator=drawn)
    wall = nn.functional.interpolate(coarse, size=(448, 448), mode="bicubic").clamp(0, 1) * 220 + 20
    wall = wall + 6 * torch.randn(wall.shape, generator=drawn)
    places = torch.randint(0, 224, (frames, 2), generator=drawn).tolist()
    pixels = [wall[0, :, y : y + 224, x : x + 224] for y, x in places]
    labels = torch.rand(CLASSES, generator=drawn) < 0.2
    known = torch.ones(CLASSES, dtype=torch.bool)
    return collate([Bag("bag", labels.float(), known, frames=torch.stack(pixels).clamp(0, 255).byte())])


def parts(encoder: str) -> tuple[nn.Module, nn.Module, Trainee]:
    """The same weights in every process."""
    backbone = load_backbone(encoder, None if encoder == "resnet50-augnet" else "random")
    torch.manual_seed(0)
    method = create("ps-devcem", num_classes=CLASSES, feature_dim=backbone.dim)
    return backbone.network, method, Trainee(method, backbone.network, backbone.prepare)


def plain(encoder: str, batch: Batch) -> Turn:
    network, method, trainee = parts(encoder)
    network.to(memory_format=torch.contiguous_format)  # the trainee has turned it channels last
    trainee.train()
    optimiser = torch.optim.Adam(trainee.parameters(), lr=1e-4, weight_decay=1e-4)

    def turn() -> float:
        began = time.perf_counter()
        optimiser.zero_grad()
        plain_loss(network, method, batch, trainee).backward()
        optimiser.step()
        return time.perf_counter() - began

    return turn


def plain_loss(network: nn.Module, method: nn.Module, batch: Batch, trainee: Trainee) -> Tensor:
    assert batch.frames is not None and trainee._prepare is not None
    features = network(trainee._prepare(batch.frames))  # [30,D]
    output = method(features[None], batch.mask)
    return trainee.method.loss(output, batch)["total"]


def ours(encoder: str, batch: Batch) -> Turn:
    told = settings("bf16")
    trainee = parts(encoder)[2]
    fabric = make_fabric(told)
    model, optimiser = fabric.setup(trainee, make_optimiser(trainee.parameters(), told.optimiser))
    model.train()
    keep_freed_memory()  # as `fit` does; under a tuned allocator it leaves that as it is

    def turn() -> float:
        began = time.perf_counter()
        _step(fabric, model, optimiser, batch, 1.0, told, Progress())
        return time.perf_counter() - began

    return turn


PROGRAMS = {"plain": plain, "ours": ours}


def gradients(encoder: str, batch: Batch) -> dict[str, dict[str, Tensor]]:
    """Of every parameter, by either program, from the same weights."""
    found = {}
    for name, precision in (("plain", "fp32"), ("ours", "bf16")):
        network, method, trainee = parts(encoder)
        trainee.train()
        if name == "plain":
            network.to(memory_format=torch.contiguous_format)
            plain_loss(network, method, batch, trainee).backward()
        else:
            fabric = make_fabric(settings(precision))
            fabric.backward(fabric.setup(trainee)(lambda: batch)["total"])
        found[name] = {key: p.grad.float() for key, p in trainee.named_parameters() if p.grad is not None}
    return found


def cosine(one: Tensor, other: Tensor) -> float:
    one, other = one.double().flatten(), other.double().flatten()
    return float(one @ other / (one.norm() * other.norm()))


def tell_gradients(encoder: str, batch: Batch) -> None:
    found = gradients(encoder, batch)
    true, quick = found["plain"], found["ours"]
    inert = {"method.attention.score.bias"}  # of which the loss does not depend: rounding alone
    names = [key for key in true if key not in inert and true[key].any()]
    whole = cosine(*(torch.cat([side[key].flatten() for key in names]) for side in (true, quick)))
    by_layer = sorted((cosine(true[key], quick[key]), key) for key in names)
    print(f"\nGradient against plain fp32, {len(names)} tensors: cosine of the whole {whole:.4f}, ", end="")
    print(f"of a tensor in the median {by_layer[len(by_layer) // 2][0]:.4f}, worst:")
    for value, key in by_layer[:3]:
        print(f"  {value:.4f}  {key} {tuple(true[key].shape)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--encoder", default="resnet50-augnet")
    parser.add_argument("--frames", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", choices=PROGRAMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    batch = bag(options.frames)
    if options.serve:
        return serve(PROGRAMS[options.serve](options.encoder, batch))
    words = ("--encoder", options.encoder, "--frames", str(options.frames))
    print(machine())
    print(f"{options.encoder} and PS-DeVCEM, {options.frames} frames; medians of {options.rounds} rounds\n")
    print("| program | allocator | s a step | against plain | memory, GB | against plain |")
    print("|---|---|---|---|---|---|")
    for allocator, env in ALLOCATORS.items():
        with (
            Program(__file__, "plain", *words, env=env) as slow,
            Program(__file__, "ours", *words, env=env) as quick,
        ):
            seconds, peaks = interleaved([slow, quick], options.rounds)
        for name in PROGRAMS:
            times, share = ratio(seconds["plain"], seconds[name]), peaks[name] / peaks["plain"]
            cells = [name, allocator, f"{statistics.median(seconds[name]):.2f}", f"{times:.1f}x"]
            print("| " + " | ".join([*cells, f"{peaks[name] / 1e9:.2f}", f"{share:.0%}"]) + " |", flush=True)
    tell_gradients(options.encoder, batch)


if __name__ == "__main__":
    main()
