"""Fabric for this machine, or for the processes that torchrun or SLURM has started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch.distributed
from lightning_fabric import Fabric

from devcem.errors import UserError
from devcem.training.settings import TrainSettings

GONE = ("connection closed by peer", "connection reset by peer", "remote process exited")  # gloo, NCCL


def make_fabric(settings: TrainSettings) -> Fabric:
    """Under a launcher its environment says how many processes and machines there are, else the settings."""
    devices, machines = _launched() or (settings.devices, 1)
    precision = "bf16-mixed" if settings.precision == "bf16" else "32-true"
    try:
        return Fabric(
            accelerator=settings.accelerator,
            devices=devices,
            num_nodes=machines,
            strategy="ddp" if devices * machines > 1 else "auto",
            precision=precision,  # type: ignore[arg-type]
        )
    except (RuntimeError, ValueError) as error:  # no such device here
        reason = str(error).splitlines()[0]
        what = f"{devices} x {settings.accelerator} can't be used here: {reason}"
        raise UserError(what, remedy="set accelerator=cpu, or fewer devices; see devcem doctor") from error


@contextmanager
def told_if_another_ended() -> Iterator[None]:
    """Where one process ends with an error, the others fail at their next exchange: no bug of theirs."""
    try:
        yield
    except RuntimeError as error:
        if any(sign in str(error).lower() for sign in GONE):
            what = "another process of this training has ended"
            raise UserError(what, remedy="mend what it said, then go on with --resume") from error
        raise


def first() -> bool:
    """Whether this process speaks for all."""
    return not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0


def processes(settings: TrainSettings) -> int:
    """How many will train together."""
    devices, machines = _launched() or (settings.devices, 1)
    return devices * machines


def _launched() -> tuple[int, int] | None:
    """(processes a machine, machines) where a launcher has started this process."""
    env = os.environ
    if "TORCHELASTIC_RUN_ID" in env:
        here = int(env["LOCAL_WORLD_SIZE"])
        return here, int(env["WORLD_SIZE"]) // here
    if "SLURM_NTASKS" in env and "SLURM_PROCID" in env and int(env["SLURM_NTASKS"]) > 1:
        machines = int(env.get("SLURM_NNODES", "1"))
        return int(env["SLURM_NTASKS"]) // machines, machines
    return None
