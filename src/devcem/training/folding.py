"""Frozen batch norm folded into the convolution before it, anew in every step.

With its statistics frozen, batch norm is a scale s and a shift t a channel, and s (W x) + t = (s W) x + t.
Written so, the convolution's output is neither kept for the backward pass nor gone through again, which saves
two passes over the activations and half of their memory. Parameters, their names and, but for rounding, their
gradients stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

Pair = tuple[nn.Conv2d, _BatchNorm]
CLOSE = 1e-3  # of the largest feature: a pair that does not belong together is off by far more


def pairs(network: nn.Module, pixels: Tensor) -> list[Pair]:
    """Each convolution whose output only one batch norm reads, with that norm; none where folding them would
    change what *network* makes of *pixels*. Leaves the network in eval mode."""
    network.eval()
    with torch.no_grad(), torch.autocast(pixels.device.type, enabled=False):
        found, plain = _traced(network, pixels)
        with folded(found):
            same = network(pixels)
    return found if bool((same - plain).abs().max() <= CLOSE * plain.abs().max()) else []


@contextmanager
def folded(found: Sequence[Pair]) -> Iterator[None]:
    """Within it the norms' work is done by the convolutions."""
    try:
        for conv, norm in found:
            conv.forward = partial(_convolve, conv, norm)  # type: ignore[method-assign]
            norm.forward = partial(_rest, norm)  # type: ignore[method-assign]
        yield
    finally:
        for pair in found:
            for module in pair:
                vars(module).pop("forward", None)


def _convolve(conv: nn.Conv2d, norm: _BatchNorm, x: Tensor) -> Tensor:
    assert norm.running_mean is not None and norm.running_var is not None
    scale = norm.weight * (norm.running_var + norm.eps).rsqrt()  # [C]
    start = -norm.running_mean if conv.bias is None else conv.bias - norm.running_mean
    weight, bias = conv.weight * scale[:, None, None, None], norm.bias + start * scale
    output: Tensor = conv._conv_forward(x, weight, bias)
    return output


def _rest(norm: _BatchNorm, x: Tensor) -> Tensor:
    """timm's batch norms may drop and activate as well."""
    for name in ("drop", "act"):
        step: Callable[[Tensor], Tensor] | None = getattr(norm, name, None)
        x = x if step is None else step(x)
    return x


def _traced(network: nn.Module, pixels: Tensor) -> tuple[list[Pair], Tensor]:
    """The pairs of a run, and its output."""
    outputs: dict[int, tuple[nn.Conv2d, Tensor]] = {}  # held, so that no id comes twice
    calls: dict[nn.Module, int] = {}
    found: list[Pair] = []

    def after(conv: nn.Conv2d, _: tuple[Tensor, ...], output: Tensor) -> None:
        calls[conv] = calls.get(conv, 0) + 1
        outputs[id(output)] = conv, output

    def before(norm: _BatchNorm, inputs: tuple[Tensor, ...]) -> None:
        calls[norm] = calls.get(norm, 0) + 1
        if id(inputs[0]) in outputs:
            found.append((outputs[id(inputs[0])][0], norm))

    hooks = []
    for module in network.modules():
        if type(module) is nn.Conv2d and module.padding_mode == "zeros":
            hooks.append(module.register_forward_hook(after))
        elif isinstance(module, _BatchNorm) and module.affine and module.track_running_stats:
            hooks.append(module.register_forward_pre_hook(before))
    try:
        output: Tensor = network(pixels)
    finally:
        for hook in hooks:
            hook.remove()
    return [pair for pair in found if calls[pair[0]] == calls[pair[1]] == 1], output
