"""What the tests of this room share."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from toy_gut import make_gut


@pytest.fixture(scope="session")
def gut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of pictures that nobody writes into, but for its features."""
    return make_gut(tmp_path_factory.mktemp("gut") / "gut")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Small tensors are slower on many threads."""
    torch.set_num_threads(1)
