"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Two workers share two cores: more threads would only wait for each other. Before torch is imported, and for
# the processes that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real frames and labels beside the checkout; tests that need them skip where they are absent."""
    if not SHARED.is_dir():
        pytest.skip("real data is not here: ../shared/data is absent")
    return SHARED
