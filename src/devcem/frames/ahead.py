"""Work done ahead of its consumer: in a thread, in order, and never further ahead than stated."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar, cast

S = TypeVar("S")
T = TypeVar("T")
WAIT = 0.1  # seconds after which a full queue looks whether anybody still wants it


def ahead(items: Iterator[T], depth: int = 2) -> Generator[T]:
    """The same items, made in a thread that is at most *depth* of them ahead.

    Closing it early stops the thread and closes *items*; an error in the thread comes out here.
    """
    ready: queue.Queue[tuple[str, object]] = queue.Queue(depth)
    stopped = threading.Event()

    def put(kind: str, what: object) -> bool:
        while not stopped.is_set():
            try:
                ready.put((kind, what), timeout=WAIT)
            except queue.Full:
                continue
            return True
        return False

    def work() -> None:
        try:
            for item in items:
                if not put("item", item):
                    break
            else:
                put("end", None)
        except BaseException as error:
            put("error", error)
        finally:
            _close(items)

    thread = threading.Thread(target=work, name="devcem-decode-ahead", daemon=True)
    thread.start()
    try:
        while True:
            kind, what = ready.get()
            if kind == "end":
                return
            if kind == "error":
                raise cast(BaseException, what)
            yield cast(T, what)
    finally:
        stopped.set()
        thread.join()


def in_parallel(function: Callable[[S], T], items: Iterable[S], workers: int) -> Generator[T]:
    """function(item) of every item in order, worked out by *workers* threads, a few items ahead."""
    pending: deque[Future[T]] = deque()
    with ThreadPoolExecutor(workers, "devcem-pictures") as pool, closing(_generator(items)) as source:
        try:
            for item in source:
                pending.append(pool.submit(function, item))
                if len(pending) > 4 * workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def _generator(items: Iterable[S]) -> Generator[S]:
    yield from items


def _close(items: Iterator[T]) -> None:
    if isinstance(items, Generator):
        items.close()
