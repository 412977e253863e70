"""Encoders by name, and the fixed rule by which an engine is chosen for them."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import torch

from devcem.encoders.architecture import OWN
from devcem.encoders.backbone import Backbone, load_backbone
from devcem.encoders.colour import ColourEncoder
from devcem.encoders.encoder import Encoder, Precision
from devcem.encoders.engine_openvino import OpenVinoEncoder
from devcem.encoders.engine_torch import TorchEncoder, usable
from devcem.errors import UserError
from devcem.progress import say

ENGINES = ("auto", "torch", "openvino")


def names() -> list[str]:
    """Encoders that need no network. Beside them `create_encoder` takes any name timm knows."""
    return [*OWN, ColourEncoder.name]


def create_encoder(
    name: str = "efficientnet-lite0",
    weights: str | Path | None = None,
    engine: str = "auto",
    device: str = "auto",
    precision: Precision | None = None,
    batch: int | None = None,
) -> Encoder:
    """An encoder by name; *weights* as for `load_backbone`, the rest as for `encoder_for`."""
    if name == ColourEncoder.name:
        return ColourEncoder()
    chosen(engine, device, precision)  # told before anything is read
    return encoder_for(load_backbone(name, weights), engine, device, precision, batch)


def encoder_for(
    backbone: Backbone,
    engine: str = "auto",
    device: str = "auto",
    precision: Precision | None = None,
    batch: int | None = None,
) -> Encoder:
    """The features of *backbone* as it is now; training it further afterwards does not change them.

    The rule of "auto" is fixed, so that a machine always chooses the same: PyTorch on CUDA where there is
    one (bf16), then on an Apple GPU; on the CPU OpenVINO, in bf16 where the processor multiplies it natively
    and else in fp32. A network that OpenVINO can't run is left to PyTorch, which is said. *batch* is
    PyTorch's: OpenVINO takes frames one by one.
    """
    best, where = chosen(engine, device, precision)
    if best == "openvino":
        try:
            return OpenVinoEncoder(backbone, precision)
        except UserError as error:
            if engine != "auto":
                raise
            say(f"features are computed by PyTorch: {error.what}")
    return TorchEncoder(backbone, where, precision, batch or 0)


def chosen(engine: str = "auto", device: str = "auto", precision: str | None = None) -> tuple[str, str]:
    """(engine, device) by the rule, before anything is known of the network."""
    if engine not in ENGINES:
        raise UserError(f"no engine is called '{engine}'", remedy=f"use one of {', '.join(ENGINES)}")
    if precision is not None and precision not in get_args(Precision):
        raise UserError(f"no precision is called '{precision}'", remedy="use fp32 or bf16")
    if device == "auto":
        device = "cpu" if engine == "openvino" else _best_device()
    on_cpu = usable(device).type == "cpu"
    if engine == "openvino" and not on_cpu:
        raise UserError(f"OpenVINO computes on the CPU here, not on '{device}'", remedy="use --device cpu")
    return ("openvino" if on_cpu and engine != "torch" else "torch"), device


def _best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
