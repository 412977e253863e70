"""kill -9 at random moments, then --resume: the models are those of a run left alone, byte for byte."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from toy_gut import words

from devcem.cli import main

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")


def killed_alike(gut: Path, out: Path, kills: int, seed: int, epochs: int, timeout: float) -> None:
    """Dropout, stratified frames, a cyclic rate, early stopping; a checkpoint after every step."""
    options = {"hidden": 8, "layers": 1, "attention_dim": 6, "dropout": 0.3}
    optimiser = {"lr": 0.003, "schedule": "cyclic", "half_cycle": 7}
    told = words(
        options=options, optimiser=optimiser, epochs=epochs, patience=epochs - 1, checkpoint_seconds=0
    )
    whole, killed = out / "whole", out / "killed"
    assert main(["train", str(gut), "--out", str(whole), *told]) == 0
    fresh = out / "gut"  # whose features are not there yet
    shutil.copytree(gut, fresh, ignore=shutil.ignore_patterns(".features"))
    run = [sys.executable, str(HERE / "killing.py"), str(kills), str(seed), str(killed)]
    env = {**os.environ, "PYTHONPATH": str(HERE)}
    arguments = [*run, str(fresh), "--out", str(killed), *told]
    done = subprocess.run(arguments, env=env, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stderr[-4000:]
    counts = json.loads(done.stdout)
    print(counts)
    assert counts["kills"] == kills
    if kills >= 10:
        assert counts["while a model was written"] >= 1
        assert counts["while a checkpoint was written"] >= 1
    for name in ("model/model.safetensors", "last/model.safetensors", "validation.csv", "model/model.json"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name
    one, two = (pd.read_csv(folder / "history.csv").drop(columns="seconds") for folder in (whole, killed))
    pd.testing.assert_frame_equal(one, two)
    assert [*killed.rglob("*.partial")] == []


def test_two_kills(gut: Path, tmp_path: Path) -> None:
    killed_alike(gut, tmp_path, kills=2, seed=1, epochs=40, timeout=120)


@pytest.mark.long
@pytest.mark.parametrize("seed", [0])
def test_twenty_five_kills(gut: Path, tmp_path: Path, seed: int) -> None:
    killed_alike(gut, tmp_path, kills=25, seed=seed, epochs=300, timeout=900)
