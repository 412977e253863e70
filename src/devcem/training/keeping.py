"""When a checkpoint is written, and taking one up again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed
from lightning_fabric import Fabric
from lightning_fabric.wrappers import _FabricOptimizer
from torch.optim.lr_scheduler import LRScheduler

from devcem.training import checkpoint
from devcem.training.trainee import Trainee

State = dict[str, Any]


class Keeper:
    """Writes a checkpoint when the last one is old enough; the first process writes for all.

    One process may write after any step. Several write after an epoch alone, when all have come together and
    each can bring where its random numbers stand.
    """

    def __init__(
        self, fabric: Fabric, folder: Path | None, every: float, snapshot: Callable[[], State]
    ) -> None:
        self._fabric, self._folder, self._every, self._snapshot = fabric, folder, every, snapshot
        self._last = time.monotonic()

    def after_step(self, step: int, stop: bool) -> None:
        if self._fabric.world_size == 1:
            self.after_epoch(step, stop)

    def after_epoch(self, step: int, stop: bool = False, now: bool = False) -> None:
        """Raises KeyboardInterrupt where *stop* was asked for, with a checkpoint behind it."""
        stop = self._any(stop)
        due = time.monotonic() - self._last >= self._every
        if self._folder is not None and (now or stop or self._agreed(due)):
            random = self._gathered(checkpoint.random_state())
            if self._fabric.is_global_zero:
                checkpoint.save(self._folder, step, {**self._snapshot(), "random": random})
            self._last = time.monotonic()
        if stop:
            raise KeyboardInterrupt

    def _agreed(self, due: bool) -> bool:
        """Clocks differ: the first process decides."""
        return bool(self._fabric.broadcast(due)) if self._fabric.world_size > 1 else due

    def _any(self, stop: bool) -> bool:
        return any(self._gathered(stop))

    def _gathered(self, value: Any) -> list[Any]:
        parts = [value] * self._fabric.world_size
        if self._fabric.world_size > 1:
            torch.distributed.all_gather_object(parts, value)
        return parts


def restore(
    fabric: Fabric,
    folder: Path | None,
    trainee: Trainee,
    optimiser: _FabricOptimizer,
    schedule: LRScheduler,
) -> State | None:
    """Put weights, optimiser, schedule and random numbers where the newest checkpoint has them."""
    state = checkpoint.latest(folder) if folder is not None else None
    if state is None:
        return None
    trainee.load_state_dict(state["trainee"])
    optimiser.load_state_dict(state["optimiser"])
    schedule.load_state_dict(state["schedule"])
    if len(state["random"]) == fabric.world_size:  # another number of processes draws anew
        checkpoint.set_random_state(state["random"][fabric.global_rank])
    return state
