"""DeVCEM finds disease in capsule-endoscopy video from weak labels.

Research use only, not a medical device.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from devcem.exam import analyze as analyze
    from devcem.model import load_model as load_model

__version__ = "0.1.0"
__all__ = ["__version__", "analyze", "load_model"]

_ROOMS = {
    "analyze": "devcem.exam",
    "load_model": "devcem.model",
}  # imported when first asked for: torch takes seconds


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'devcem' has no attribute '{name}'")
    return getattr(import_module(_ROOMS[name]), name)
