"""A run that is interrupted anywhere, any number of times, ends as the uninterrupted one: to the last bit."""

from __future__ import annotations

import random
import signal
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given
from hypothesis import settings as how
from hypothesis import strategies as st
from toy_bags import history, run, same, settings, tiny, toy

from devcem.training import checkpoint
from devcem.training.loop import Fitted, Progress
from devcem.training.settings import TrainSettings

OPTIONS = {"dropout": 0.3}
PLANS: dict[str, dict[str, Any]] = {
    # stratified frames, augmented views, a cycle that turns within an epoch; patience ends it before its time
    "early": {
        "epochs": 12,
        "patience": 2,
        "batch": 3,
        "data": {"window": 5},
        "optimiser": {"lr": 0.05, "schedule": "cyclic", "lowest_lr": 1e-4, "half_cycle": 2, "clip": 0.5},
    },
    "whole": {
        "epochs": 4,
        "batch": 4,
        "select": "map",
        "precision": "bf16",
        "data": {"window": 6},
        "optimiser": {"name": "adamw", "lr": 0.02, "weight_decay": 0.1, "schedule": "cosine"},
    },
}


class Cut(Exception):
    """The power went."""


def once(plan: str, folder: Path | None, cuts: list[int], every: float = 0.0) -> Fitted:
    """Train, cut off at each of *cuts* heard moments (steps and ends of epochs), and go on."""
    torch.set_num_threads(1)
    told: TrainSettings = settings(**PLANS[plan], checkpoint_seconds=every)
    for cut in [*cuts, None]:
        heard = 0

        def listen(_progress: Progress, _loss: float | None, at: int | None = cut) -> None:
            nonlocal heard
            heard += 1
            if heard == at:
                raise Cut

        disturb(heard if cut is None else cut)
        try:
            train, judges = toy(8, 0, told, views=2), toy(7, 1, told)
            return run(told, train, judges, tiny(**OPTIONS), folder, listen)
        except Cut:
            continue
    raise AssertionError("it never ended")


def disturb(seed: int) -> None:
    """A new process starts with other random numbers."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)


@cache
def whole(plan: str) -> tuple[Fitted, dict[str, Any]]:
    """Uninterrupted, and what its last checkpoint holds."""
    with tempfile.TemporaryDirectory() as folder:
        fitted = once(plan, Path(folder), [], every=1e9)
        state = checkpoint.latest(Path(folder))
        assert state is not None
        return fitted, state


def test_the_plans_exercise_what_they_should() -> None:
    early, _ = whole("early")
    assert early.progress.ended
    assert 3 <= early.progress.epoch < 12
    ended, _ = whole("whole")
    assert not ended.progress.ended
    plain = run(
        settings(**PLANS["whole"]), toy(8, views=2, settings=settings(**PLANS["whole"])), toy(7, 1), tiny()
    )
    assert not same(plain.last, ended.last)  # dropout is on


@pytest.mark.parametrize("plan", PLANS)
@given(cuts=st.lists(st.integers(1, 12), max_size=4))
@how(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_cut_anywhere(plan: str, cuts: list[int]) -> None:
    expected, state = whole(plan)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fitted = once(plan, folder, cuts)
        found = checkpoint.latest(folder)
    assert found is not None
    assert same(history(fitted), history(expected))
    assert same(fitted.last, expected.last)
    assert same(fitted.verdict.scores.tolist(), expected.verdict.scores.tolist())
    for part in ("trainee", "best", "optimiser", "schedule", "progress"):
        assert same(found[part], state[part]), part
    assert same(found["random"][0]["torch"], state["random"][0]["torch"])


def test_without_a_checkpoint_it_starts_again(tmp_path: Path) -> None:
    assert same(once("early", tmp_path, [3, 5], every=1e9).last, whole("early")[0].last)


def test_a_damaged_checkpoint_costs_the_work_since_the_one_before(tmp_path: Path) -> None:
    for _ in range(3):  # damaged three times over
        with pytest.raises(AssertionError, match="it never ended"):
            interrupted_only(tmp_path, 4)
        newest = max(tmp_path.glob("step-*.ckpt"))
        newest.write_bytes(newest.read_bytes()[:-1])
    assert same(once("early", tmp_path, []).last, whole("early")[0].last)


def interrupted_only(folder: Path, at: int) -> None:
    told = settings(**PLANS["early"], checkpoint_seconds=0)
    heard = 0

    def listen(_progress: Progress, _loss: float | None) -> None:
        nonlocal heard
        heard += 1
        if heard == at:
            raise AssertionError("it never ended")

    run(told, toy(8, 0, told, views=2), toy(7, 1, told), tiny(**OPTIONS), folder, listen)


def test_a_finished_run_is_not_trained_again(tmp_path: Path) -> None:
    first = once("whole", tmp_path, [])
    heard: list[Progress] = []
    told = settings(**PLANS["whole"])
    again = run(
        told,
        toy(8, 0, told, views=2),
        toy(7, 1, told),
        tiny(**OPTIONS),
        tmp_path,
        lambda p, _: heard.append(p),
    )
    assert heard == []
    assert same(again.last, first.last)
    assert again.verdict.loss == first.verdict.loss


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_a_checkpoint_of_the_step_it_came_in(number: signal.Signals, tmp_path: Path) -> None:
    told = settings(**PLANS["early"], checkpoint_seconds=1e9)

    def listen(progress: Progress, _loss: float | None) -> None:
        if progress.steps == 5:
            signal.raise_signal(number)

    with pytest.raises(KeyboardInterrupt):
        run(told, toy(8, 0, told, views=2), toy(7, 1, told), tiny(**OPTIONS), tmp_path, listen)
    assert [path.name for path in tmp_path.iterdir()] == ["step-000000005.ckpt"]
    assert same(once("early", tmp_path, [], every=1e9).last, whole("early")[0].last)
