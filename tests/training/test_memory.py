"""When memory runs out, the setting that helps most and is not yet at its lowest is named."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from toy_bags import settings

from devcem.errors import UserError
from devcem.training.memory import told_if_memory_ran_out

END = {"batch": 1, "encoder": {"train": True, "checkpointing": True}, "precision": "bf16"}


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        ({"batch": 9}, r"set batch=4 \(now 9\)"),
        ({"batch": 1, "encoder": {"train": True}}, "set encoder.checkpointing=true"),
        ({"batch": 1, "encoder": {"train": True, "checkpointing": True}}, "set precision=bf16"),
        ({"batch": 1}, "set precision=bf16"),
        (END, r"set data.window=15 \(now 30\)"),
        ({**END, "data": {"window": 1}}, "a smaller encoder"),
    ],
)
def test_what_to_lower(changes: dict[str, Any], remedy: str) -> None:
    with pytest.raises(UserError, match=remedy), told_if_memory_ran_out(settings(**changes)):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes."),
        RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"),
    ],
)
def test_how_it_shows(error: Exception) -> None:
    with pytest.raises(UserError, match="memory ran out"), told_if_memory_ran_out(settings()):
        raise error


def test_a_really_greedy_tensor() -> None:
    with pytest.raises(UserError, match="memory ran out"), told_if_memory_ran_out(settings()):
        torch.empty(2**58)


def test_other_errors_pass() -> None:
    with pytest.raises(RuntimeError, match="shapes"), told_if_memory_ran_out(settings()):
        raise RuntimeError("shapes cannot be multiplied")
