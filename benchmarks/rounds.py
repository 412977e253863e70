"""Programs timed beside each other: each in a process of its own, one at a time, in turns.

A process keeps what it has set up between its turns. It runs under the memory allocator it is given: PyTorch
on a CPU gives pages back after every step under glibc's defaults and faults them in again, so that a figure
against the default alone would flatter.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

DEFAULT: dict[str, str] = {}
TUNED = {  # glibc keeps what was freed
    "MALLOC_MMAP_THRESHOLD_": "8589934592",
    "MALLOC_TRIM_THRESHOLD_": "17179869184",
    "MALLOC_TOP_PAD_": "268435456",
}
Turn = Callable[[], float]  # does its work once and says how long a unit of it took


class Program:
    """*script* as a child process that answers `serve`'s protocol for the program called *name*."""

    def __init__(self, script: str, name: str, *words: str, env: Mapping[str, str] = DEFAULT) -> None:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("MALLOC_")}
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, script, *words, "--serve", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=clean | dict(env),
        )

    def turn(self) -> tuple[float, int]:
        """(what the turn measured, the process's largest memory so far in bytes)"""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("{"):
                told = json.loads(line)
                return told["measured"], told["peak"]
        raise SystemExit(f"{self.name} ended with {self._process.wait()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()


def serve(turn: Turn) -> None:
    """In the child: a turn for every line that comes in."""
    for _ in sys.stdin:
        measured = turn()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({"measured": measured, "peak": peak}), flush=True)


def interleaved(programs: list[Program], rounds: int) -> tuple[dict[str, list[float]], dict[str, int]]:
    """What each measured in each round, after a turn each that does not count, and its largest memory."""
    found: dict[str, list[float]] = {program.name: [] for program in programs}
    peaks: dict[str, int] = {}
    for number in range(rounds + 1):
        for program in programs:
            measured, peaks[program.name] = program.turn()
            if number:
                found[program.name].append(measured)
    return found, peaks


def ratio(slow: list[float], quick: list[float]) -> float:
    """Median over rounds of slow / quick: both sides of a fraction met the same neighbours on the machine."""
    return statistics.median(a / b for a, b in zip(slow, quick, strict=True))
