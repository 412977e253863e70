"""What a measurement ran on, and how several programs are timed fairly."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import torch

BF16 = ("amx_bf16", "avx512_bf16")  # the quicker first


def machine() -> str:
    """One line: processor, cores, threads, torch, and whether the processor multiplies bf16 natively."""
    told = _told()
    name = told.get("model name", platform.machine())
    flags = told.get("flags", "").split()
    bf16 = next((flag for flag in BF16 if flag in flags), "no native bf16")
    threads = torch.get_num_threads()
    return f"{name}, {os.cpu_count()} cores, {bf16}, torch {torch.__version__}, {threads} threads"


def _told() -> dict[str, str]:
    """What Linux says of the first processor; elsewhere nothing."""
    path = Path("/proc/cpuinfo")
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    pairs = (line.partition(":") for line in lines)
    return {key.strip(): value.strip() for key, _, value in pairs}
