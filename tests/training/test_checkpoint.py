"""A checkpoint is whole or passed over, and it carries the random numbers of torch, NumPy and Python."""

from __future__ import annotations

import hashlib
import os
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from devcem.errors import UserError
from devcem.training import checkpoint


def state(step: int) -> dict[str, object]:
    return {
        "step": step,
        "weights": {"a": torch.arange(4.0) + step},
        "history": [{"loss": 0.5}],
        "ended": False,
    }


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    path = checkpoint.save(tmp_path / "checkpoints", 7, state(7))
    found = checkpoint.latest(tmp_path / "checkpoints")
    assert found is not None
    torch.testing.assert_close(found["weights"]["a"], torch.arange(4.0) + 7, rtol=0, atol=0)
    assert {key: found[key] for key in ("step", "history", "ended")} == {
        "step": 7,
        "history": [{"loss": 0.5}],
        "ended": False,
    }
    content = path.read_bytes()
    assert content[:32] == hashlib.sha256(content[32:]).digest()


def test_the_last_two_are_kept(tmp_path: Path) -> None:
    for step in (9, 10, 100, 1_000_000_000, 1_000_000_001):
        checkpoint.save(tmp_path, step, state(step))
        assert checkpoint.latest(tmp_path)["step"] == step  # type: ignore[index]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "step-1000000000.ckpt",
        "step-1000000001.ckpt",
    ]


def test_steps_count_as_numbers_not_as_names(tmp_path: Path) -> None:
    checkpoint.save(tmp_path, 999_999_999, state(1))
    checkpoint.save(tmp_path, 1_000_000_000, state(2))  # one digit more: sorts before it as text
    checkpoint.save(tmp_path, 1_000_000_001, state(3))
    assert checkpoint.latest(tmp_path)["step"] == 3  # type: ignore[index]
    assert len(list(tmp_path.iterdir())) == 2


def test_nothing_there(tmp_path: Path) -> None:
    assert checkpoint.latest(tmp_path) is None
    assert checkpoint.latest(tmp_path / "nowhere") is None


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "swapped digest"])
def test_a_damaged_one_is_passed_over_for_the_one_before(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint.save(tmp_path, 1, state(1))
    path = checkpoint.save(tmp_path, 2, state(2))
    content = bytearray(path.read_bytes())
    if damage == "truncated":
        content = content[:-1]
    elif damage == "flipped":
        content[len(content) // 2] ^= 1
    elif damage == "empty":
        content = bytearray()
    else:
        content[0] ^= 1
    path.write_bytes(content)
    assert checkpoint.latest(tmp_path)["step"] == 1  # type: ignore[index]
    assert "step-000000002.ckpt: not what was written" in capsys.readouterr().err


def test_what_does_not_read_back_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that says it wrote and did not: the older checkpoints stay."""
    checkpoint.save(tmp_path, 1, state(1))
    checkpoint.save(tmp_path, 2, state(2))
    replace = Path.replace

    def lying(self: Path, target: Path) -> Path:
        self.write_bytes(self.read_bytes()[:-10])
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", lying)
    with pytest.raises(UserError, match="does not read back"):
        checkpoint.save(tmp_path, 3, state(3))
    assert checkpoint.latest(tmp_path)["step"] == 2  # type: ignore[index]


def test_a_full_disk_is_told_and_leaves_the_older_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint.save(tmp_path, 1, state(1))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="the disk is full"):
        checkpoint.save(tmp_path, 2, state(2))
    assert [path.name for path in tmp_path.iterdir()] == ["step-000000001.ckpt"]


def test_a_checkpoint_runs_nothing(tmp_path: Path) -> None:
    """Read with weights_only: a planted object is refused, though its digest fits."""
    checkpoint.save(tmp_path, 1, {"planted": Path("x")})
    with pytest.raises(Exception, match=r"[Ww]eights.only|Unsupported"):
        checkpoint.latest(tmp_path)


def draw() -> tuple[float, ...]:
    return (torch.rand(1).item(), float(np.random.rand()), np.random.standard_normal(), random.gauss(0, 1))  # noqa: NPY002


def test_random_numbers_go_on_where_they_stood(tmp_path: Path) -> None:
    draw()  # NumPy and Python now hold the second half of a Gaussian pair
    checkpoint.save(tmp_path, 1, {"random": checkpoint.random_state()})
    expected = [draw() for _ in range(3)]
    draw()
    found = checkpoint.latest(tmp_path)
    assert found is not None
    checkpoint.set_random_state(found["random"])
    assert [draw() for _ in range(3)] == expected
