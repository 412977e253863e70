"""The allocator is told once, where there is one that listens, and never against the user's own setting."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from devcem.training.allocator import keep_freed_memory

# how many bytes of a freed block of 64 MB this process still holds
PROGRAM = """
import sys
from pathlib import Path
import torch
from devcem.training.allocator import keep_freed_memory
if sys.argv[1] == "kept":
    assert keep_freed_memory()
def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
before = held()
block = torch.ones(16_000_000)
del block
print(held() - before)
"""


def left(how: str) -> int:
    words = [sys.executable, "-c", PROGRAM, how]
    return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_freed_memory_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_ARENA_MAX"):
        monkeypatch.delenv(name, raising=False)
    assert left("plain") < 32e6
    assert left("kept") > 48e6


def test_what_the_user_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1000000")
    assert not keep_freed_memory()


def test_elsewhere_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert not keep_freed_memory()
