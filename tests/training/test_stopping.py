"""The first Ctrl-C is a wish, the second is an order, and the handlers that were there come back."""

from __future__ import annotations

import signal
import threading

import pytest

from devcem.training.stopping import listening


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_wish_then_an_order(number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("devcem.training.stopping.ECHO", -1.0)
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with listening() as wish:
        assert not wish.stop
        signal.raise_signal(number)
        assert wish.stop
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_what_a_launcher_hands_on_at_once_is_the_same_wish() -> None:
    with listening() as wish:
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
            signal.raise_signal(number)
        assert wish.stop


def test_handlers_come_back_after_an_error() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="x"), listening():
        raise ValueError("x")
    assert signal.getsignal(signal.SIGINT) == before


def test_other_threads_listen_to_nobody() -> None:
    seen: list[bool] = []

    def work() -> None:
        with listening() as wish:
            seen.append(wish.stop)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]
