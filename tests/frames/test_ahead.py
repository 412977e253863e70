from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from devcem.frames.ahead import ahead, in_parallel


def _running() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("devcem-")]


def test_same_items_in_order() -> None:
    assert list(ahead(iter(range(100)))) == list(range(100))
    assert list(in_parallel(lambda n: n * n, range(100), 4)) == [n * n for n in range(100)]
    assert list(ahead(iter([]))) == []
    assert _running() == []


def test_it_is_never_further_ahead_than_stated() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for n in range(1000):
            made.append(n)
            yield n

    stream = ahead(items(), depth=3)
    next(stream)
    time.sleep(0.3)
    assert len(made) <= 1 + 3 + 1
    stream.close()
    assert _running() == []


def test_in_parallel_takes_few_items_ahead() -> None:
    taken: list[int] = []
    results = in_parallel(lambda n: n, (taken.append(n) or n for n in range(1000)), 2)
    next(results)
    assert len(taken) <= 4 * 2 + 1
    results.close()
    assert _running() == []


def test_leaving_early_closes_what_is_behind() -> None:
    closed: list[bool] = []

    def items() -> Iterator[int]:
        try:
            yield from range(1000)
        finally:
            closed.append(True)

    stream = ahead(in_parallel(lambda n: n, items(), 2))
    assert [next(stream), next(stream)] == [0, 1]
    stream.close()
    assert closed == [True]
    assert _running() == []


def test_errors_come_out_at_the_consumer() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("the cable came off")

    stream = ahead(items())
    assert next(stream) == 1
    with pytest.raises(OSError, match="cable"):
        next(stream)
    with pytest.raises(ZeroDivisionError):
        list(in_parallel(lambda n: 1 // (n - 5), range(10), 2))
    assert _running() == []
