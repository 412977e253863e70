from __future__ import annotations

import pytest

from devcem.methods import registry


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone after it."""
    monkeypatch.setattr(registry, "_METHODS", dict(registry._METHODS))
