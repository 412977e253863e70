from __future__ import annotations

from pathlib import Path

import pytest
import torch
from toy_gut import make_gut

from devcem.labels import Run, load_dataset, save_dataset


@pytest.fixture(scope="session")
def gut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small pictures with truth of frames in the test split."""
    folder = make_gut(tmp_path_factory.mktemp("benchmark") / "gut")
    data = load_dataset(folder)
    runs = [
        Run(one.segment, at, at + 1, one.labels if (at - one.start) % 2 == 0 else ())
        for one in data.segments
        if one.split == "test"
        for at in range(one.start, one.stop)
    ]
    save_dataset(data, runs, folder)
    return folder


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)
