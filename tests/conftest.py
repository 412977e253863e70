"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Two workers share two cores: more threads would only wait for each other. Before torch is imported, and for
# the processes that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# On shared cores a deadline measures the neighbours.
settings.register_profile("shared cores", parent=settings.default, deadline=None)
settings.load_profile("shared cores")

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real frames and labels beside the checkout; tests that need them skip where they are absent."""
    if not SHARED.is_dir():
        pytest.skip("real data is not here: ../shared/data is absent")
    return SHARED
