"""What to lower when memory runs out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from devcem.errors import UserError
from devcem.training.settings import TrainSettings

SIGNS = ("out of memory", "can't allocate memory", "not enough memory")


@contextmanager
def told_if_memory_ran_out(settings: TrainSettings, remedy: str | None = None) -> Iterator[None]:
    """The *remedy*, or the setting that helps most and is not yet at its lowest."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError | torch.OutOfMemoryError) or any(
            sign in str(error).lower() for sign in SIGNS
        ):
            raise UserError("memory ran out", remedy=remedy or _remedy(settings)) from error
        raise


def _remedy(settings: TrainSettings) -> str:
    if settings.batch > 1:
        return f"set batch={settings.batch // 2} (now {settings.batch})"
    if settings.encoder.train and not settings.encoder.checkpointing:
        return "set encoder.checkpointing=true: a third more time, far less memory"
    if settings.precision == "fp32":
        return "set precision=bf16"
    if settings.data.window > 1:
        return f"set data.window={max(settings.data.window // 2, 1)} (now {settings.data.window})"
    return "train with a smaller encoder or on a machine with more memory"
