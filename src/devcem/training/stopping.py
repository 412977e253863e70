"""Ctrl-C and a scheduler's TERM end the run between two steps, with a checkpoint; a second one at once.

A launcher hands on a Ctrl-C that its processes have heard already: what comes within a second is that one.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ECHO = 1.0  # seconds


class Wish:
    """Whether somebody asked the run to stop."""

    def __init__(self) -> None:
        self.stop = False
        self._heard = 0.0

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        if self.stop and time.monotonic() - self._heard > ECHO:
            raise KeyboardInterrupt
        if not self.stop:
            self.stop, self._heard = True, time.monotonic()


@contextmanager
def listening() -> Iterator[Wish]:
    """Only the main thread may listen to signals; in others nobody asks."""
    wish = Wish()
    if threading.current_thread() is not threading.main_thread():
        yield wish
        return
    before = {number: signal.signal(number, wish) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield wish
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
