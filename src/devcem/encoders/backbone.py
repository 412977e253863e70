"""A network that turns frames into features, ready to be trained or to be run by an engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torchvision.transforms.v2 import functional

from devcem.encoders.architecture import OWN, Architecture, Triple, architecture
from devcem.encoders.weights import PACKAGED, digest, packaged, read_state, sha256
from devcem.errors import UserError


@dataclass
class Backbone:
    """*network* takes what `prepare` makes of frames, float [B,3,S,S], and gives pooled features [B,D]."""

    name: str
    network: torch.nn.Module
    dim: int  # D
    size: int  # S
    mean: Triple  # of 0..255
    std: Triple
    fingerprint: dict[str, Any]  # what it was built from; training does not change it

    def prepare(self, frames: torch.Tensor) -> torch.Tensor:
        """uint8 [B,3,H,W] on any device to what the network wants, float32 [B,3,S,S]."""
        mean, std = (torch.tensor(v, device=frames.device).view(3, 1, 1) for v in (self.mean, self.std))
        return (self.scaled(frames).float() - mean) * (1 / std)

    def scaled(self, frames: torch.Tensor) -> torch.Tensor:
        """uint8 [B,3,H,W] to uint8 [B,3,S,S]: the values that every engine starts from."""
        if frames.shape[-2:] != (self.size, self.size):
            frames = functional.resize(frames, [self.size, self.size], antialias=True)
        return frames.as_subclass(torch.Tensor)

    def identity(self) -> dict[str, Any]:
        """What decides the features of this backbone as it is now, trained further or not."""
        kept = ("encoder", "architecture", "size", "mean", "std")
        told = {key: self.fingerprint[key] for key in kept}
        return told | {"weights": digest(self.network.state_dict())}


def load_backbone(name: str, weights: str | Path | None = None, size: int | None = None) -> Backbone:
    """A backbone in eval mode by one of our names or any of timm's.

    *weights*: None for those a package carries, "hub" for timm's by network, "random" or "random:SEED", or a
    local .safetensors or .pth file. *size* is another side of the square than the usual one.
    """
    built = architecture(name, size)
    if weights is None:
        if name not in PACKAGED:
            remedy = "pass weights: a local file, 'hub' to fetch timm's by network, or 'random'"
            raise UserError(f"no package carries weights of '{name}'", remedy=remedy)
        path = packaged(name)
        return _from_file(name, built, path, f"package {PACKAGED[name][0]}")
    if weights == "hub":
        return _from_hub(name, built)
    if str(weights).partition(":")[0] == "random" and not Path(weights).is_file():
        return _at_random(name, built, str(weights))
    return _from_file(name, built, Path(weights), f"file {Path(weights).name}")


def empty_backbone(fingerprint: dict[str, Any]) -> Backbone:
    """The backbone a fingerprint tells of, its weights still to be filled in: a model folder holds them."""
    known = {key: fingerprint[key] for key in ("size", "mean", "std")}
    built = Architecture(
        fingerprint["architecture"], known["size"], tuple(known["mean"]), tuple(known["std"])
    )
    network = built.empty()
    return _made(fingerprint["encoder"], built, network, dict(fingerprint))


def _from_file(name: str, built: Architecture, path: Path, source: str) -> Backbone:
    network = built.filled(read_state(path), path)
    network.reset_classifier(0)  # type: ignore[operator]
    return _made(name, built, network, _told(name, built, source, sha256(path)))


def _from_hub(name: str, built: Architecture) -> Backbone:
    if name in OWN:
        remedy = f"leave weights out, or name timm's own: {built.timm_name}"
        raise UserError(f"the weights of '{name}' are in a package, not in timm's hub", remedy=remedy)
    from huggingface_hub import constants

    constants.HF_HUB_DISABLE_TELEMETRY = True  # the weights are asked for, and nothing is told
    try:
        network = built.empty(pretrained=True)
    except (OSError, RuntimeError, ValueError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        remedy = "fetch them where there is a network and pass the file, or pass weights='random'"
        raise UserError(f"timm's weights of '{name}' can't be fetched ({reason})", remedy=remedy) from error
    return _made(name, built, network, _told(name, built, "hub", digest(network.state_dict())))


def _at_random(name: str, built: Architecture, weights: str) -> Backbone:
    seed = weights.partition(":")[2] or "0"
    if not seed.isdecimal():
        raise UserError(f"'{weights}' has no seed", remedy="write random or, for instance, random:7")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(seed))
        network = built.empty()
    return _made(name, built, network, _told(name, built, f"random:{seed}", digest(network.state_dict())))


def _told(name: str, built: Architecture, source: str, checksum: str) -> dict[str, Any]:
    return {
        "encoder": name,
        "architecture": built.timm_name,
        "source": source,
        "weights": checksum,
        "size": built.size,
        "mean": list(built.mean),
        "std": list(built.std),
    }


def _made(name: str, built: Architecture, network: torch.nn.Module, fingerprint: dict[str, Any]) -> Backbone:
    try:
        with torch.inference_mode():
            shape = network(torch.zeros(1, 3, built.size, built.size)).shape
    except (RuntimeError, AssertionError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        what = f"'{name}' can't take frames of {built.size} pixels a side ({reason})"
        raise UserError(what, remedy="leave the size out") from error
    if len(shape) != 2:
        raise UserError(f"'{name}' gives no vector a frame", remedy="choose a network for classification")
    return Backbone(name, network, shape[1], built.size, built.mean, built.std, fingerprint)
