"""Optimisers and learning rates."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.optim.lr_scheduler import ConstantLR, CosineAnnealingLR, CyclicLR, LRScheduler

from devcem.training.settings import Optimiser


def make_optimiser(parameters: Iterable[torch.nn.Parameter], settings: Optimiser) -> torch.optim.Optimizer:
    """Fused: one pass over all parameters a step, where the device has it."""
    wanted = [parameter for parameter in parameters if parameter.requires_grad]
    fused = all(parameter.device.type in ("cpu", "cuda") for parameter in wanted)
    lr, decay = settings.lr, settings.weight_decay
    if settings.name == "sgd":
        momentum = settings.momentum
        return torch.optim.SGD(wanted, lr, momentum, weight_decay=decay, nesterov=momentum > 0, fused=fused)
    kind = torch.optim.AdamW if settings.name == "adamw" else torch.optim.Adam
    return kind(wanted, lr, settings.betas, weight_decay=decay, fused=fused)


def make_schedule(optimiser: torch.optim.Optimizer, settings: Optimiser, steps: int) -> LRScheduler:
    """Stepped after every optimiser step; *steps* is how many there will be."""
    if settings.schedule == "cyclic":
        return CyclicLR(
            optimiser,
            base_lr=settings.lowest_lr,
            max_lr=settings.lr,
            step_size_up=settings.half_cycle,
            mode="triangular",
            cycle_momentum=False,
        )
    if settings.schedule == "cosine":
        return CosineAnnealingLR(optimiser, T_max=steps, eta_min=settings.lowest_lr)
    return ConstantLR(optimiser, factor=1.0)
