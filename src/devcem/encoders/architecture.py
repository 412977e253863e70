"""What may stand behind a deep encoder: our own names and all of timm's, and how it is filled."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import timm
import torch
from timm.models import PretrainedCfg, get_deprecated_models

from devcem.encoders.keys import from_augnet, from_tensorflow_port
from devcem.encoders.weights import State
from devcem.errors import UserError
from devcem.labels.spelling import nearest

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Architecture:
    """A timm network, and how it wants its pixels: (value - mean) / std of 0..255, *size* a side."""

    timm_name: str
    size: int
    mean: Triple
    std: Triple
    rename: Callable[[str], str] = str  # key in the file -> key in timm's module

    def empty(self, classes: int = 0, pretrained: bool = False) -> torch.nn.Module:
        """The network with random weights, or timm's from the hub. Without *classes* it ends with pooling."""
        options: dict[str, Any] = {"num_classes": classes, "pretrained": pretrained}
        settings = _settings(self.timm_name)
        if settings.get("fixed_input_size") and settings["input_size"][-1] != self.size:
            options["img_size"] = self.size
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Mapping deprecated model name")
            network: torch.nn.Module = timm.create_model(self.timm_name, **options)
        return network.eval()

    def filled(self, state: State, path: Path) -> torch.nn.Module:
        """The network with its classifier, if *state* has one; every tensor of it used and none missing."""
        given = {self.rename(key): value for key, value in state.items()}
        network = self.empty(self._classes(given))
        wanted = network.state_dict()
        wrong = [f"{key} is missing" for key in wanted if key not in given]
        wrong += [f"{key} is unexpected" for key in given if key not in wanted]
        wrong += [
            f"{key} has shape {tuple(value.shape)} instead of {tuple(wanted[key].shape)}"
            for key, value in given.items()
            if key in wanted and value.shape != wanted[key].shape
        ]
        if wrong:
            more = f", and {len(wrong) - 3} more" if len(wrong) > 3 else ""
            what = f"the weights do not fit {self.timm_name}: {'; '.join(wrong[:3])}{more}"
            raise UserError(what, path, "give the weights of this architecture")
        network.load_state_dict(given)
        return network

    def _classes(self, state: State) -> int:
        """Of the classifier in *state*: files trained for other classes fit too. 0 where there is none."""
        layers = _settings(self.timm_name).get("classifier") or ()
        for layer in (layers,) if isinstance(layers, str) else layers:
            if (weight := state.get(f"{layer}.weight")) is not None:
                return len(weight)
        return 0


PHOTOGRAPHS: tuple[Triple, Triple] = ((123.675, 116.28, 103.53), (58.395, 57.12, 57.375))  # ImageNet's

OWN = {
    # TensorFlow's weights: its "same" padding and batch-norm epsilon (the tf_ architecture), its 127 and 128
    "efficientnet-lite0": Architecture(
        "tf_efficientnet_lite0", 224, (127.0,) * 3, (128.0,) * 3, from_tensorflow_port
    ),
    # the package's own transform: BGR turned into RGB, then ImageNet's mean and deviation
    "resnet50-augnet": Architecture("resnet50", 224, *PHOTOGRAPHS, from_augnet),
}


def architecture(name: str, size: int | None = None) -> Architecture:
    """By one of our names or any of timm's, at its usual *size* or another."""
    known = OWN.get(name)
    if known is None:
        settings = _settings(name)
        mean, std = (tuple(255 * value for value in settings[key]) for key in ("mean", "std"))
        known = Architecture(name, settings["input_size"][-1], mean, std)
    return known if size is None else replace(known, size=size)


def _settings(name: str) -> dict[str, Any]:
    """What timm knows of a name, with or without the tag of its weights."""
    replaced = get_deprecated_models().get(name.partition(".")[0])  # such as tv_resnet50
    plain, _, tag = (replaced or name).partition(".")
    if not timm.is_model(plain):
        raise _unknown(f"no encoder is called '{name}'", name, [*OWN, "colour", *timm.list_models()])
    tagged = timm.list_pretrained(f"{plain}.*")
    if tag and f"{plain}.{tag}" not in tagged:
        raise _unknown(f"'{plain}' has no weights tagged '{tag}'", name, [*tagged, plain])
    settings = timm.get_pretrained_cfg(f"{plain}.{tag}" if tag else plain)
    return asdict(settings or PretrainedCfg())


def _unknown(what: str, name: str, known: list[str]) -> UserError:
    close = nearest(name, known)
    some = f"use one of {', '.join(known[:3])}, or any other of timm's"
    return UserError(what, remedy=f"did you mean '{close}'? Otherwise {some}" if close else some)
