"""Trains by command in a child that is killed, again and again, until one child is left alive to the end.

    killing.py KILLS SEED RUN [words of devcem train ...]

The children are forked from a process that has imported everything, so that a kill costs no start. Prints a
JSON line: kills, how many came while a checkpoint was being written, how many while a model folder was.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import lightning_fabric
import torch

import devcem.encoders.extract
import devcem.training.run
from devcem.cli import main

OVER = 300.0  # seconds after which something hangs


def child(words: list[str]) -> int:
    """The process id of a new child at work."""
    if pid := os.fork():
        return pid
    torch.set_num_threads(1)
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), 1)
        code = main(["train", *words, "--resume"])
    os._exit(code)


def ended(pid: int, when: Callable[[], bool], delay: float) -> int | None:
    """The child's exit code, or None if it is alive *delay* after *when* came true."""
    until, seen = time.monotonic() + OVER, False
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if not seen and when():
            until, seen = time.monotonic() + delay, True
        time.sleep(0.0005)
    if not seen:
        raise SystemExit("the child hangs")
    return None


def moment(rng: random.Random, run: Path, aim: str) -> tuple[Callable[[], bool], float]:
    """When to kill: while a "model" or a "checkpoint" is written, else soon after the start or after a step.

    Steps are counted, not seconds, so that a quick machine does not come to the end before the kill.
    """
    if aim == "model":
        return lambda: any(run.glob(".*.partial/")), rng.uniform(0.0, 0.03)
    if aim == "checkpoint":
        left = half_written(run)
        return lambda: bool(half_written(run) - left), rng.uniform(0.0, 0.002)
    before = newest(run)
    if rng.random() < 0.25:
        start, delay = time.monotonic(), rng.uniform(0.0, 1.0)
        return lambda: time.monotonic() - start > delay or newest(run) > before, 0.0
    wanted = before + rng.randint(1, 4)
    return lambda: newest(run) >= wanted, rng.uniform(0.0, 0.02)


def half_written(run: Path) -> set[Path]:
    """Checkpoints under way, or left by a kill."""
    return {*run.glob("checkpoints/.*.partial")}


def newest(run: Path) -> int:
    """The step of the newest checkpoint; 0 where there is none."""
    return max((int(path.stem.split("-")[1]) for path in run.glob("checkpoints/step-*.ckpt")), default=0)


def aimed(number: int, kills: int) -> str:
    if kills >= 10 and number >= kills - 2:
        return "model"
    return "checkpoint" if number % 5 == 4 else ""


def go(kills: int, seed: int, run: Path, words: list[str]) -> dict[str, int]:
    """With many kills, one in five is aimed at a checkpoint, and the last two at the models."""
    rng = random.Random(seed)
    counts = {"kills": 0, "while a checkpoint was written": 0, "while a model was written": 0}
    while counts["kills"] < kills:
        left = half_written(run)
        when, delay = moment(rng, run, aimed(counts["kills"], kills))
        pid = child(words)
        code = ended(pid, when, delay)
        if code is not None:
            raise SystemExit(f"it ended with {code} after {counts['kills']} of {kills} kills: train longer")
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            raise SystemExit("it ended before the kill came")
        counts["kills"] += 1
        counts["while a checkpoint was written"] += bool(half_written(run) - left)
        counts["while a model was written"] += any(run.glob(".*.partial/"))
    _, status = os.waitpid(child(words), 0)
    if code := os.waitstatus_to_exitcode(status):
        raise SystemExit(f"the last run ended with {code}")
    return counts


if __name__ == "__main__":
    number, seed_, run_ = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    assert lightning_fabric and devcem.encoders.extract and devcem.training.run  # imported before the forks
    print(json.dumps(go(number, seed_, run_, sys.argv[4:])))
