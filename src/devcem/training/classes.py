"""Classes solved several at a time, by threads: libsvm and BLAS let go of the interpreter, and the kernel
matrix is shared without a copy."""

from __future__ import annotations

import queue
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits

from devcem.methods.classical import Lesson, Solved
from devcem.training.stopping import Wish

LOOK = 0.2  # seconds after which a wish to stop is noticed


class Notes:
    """Warnings as words about the class that a thread is at; of each place in the code the last one."""

    def __init__(self) -> None:
        self._here = threading.local()
        self._said: dict[int | None, dict[tuple[str, int], str]] = {}

    def at(self, k: int | None) -> None:
        self._here.k = k

    def hear(self, message: Warning | str, filename: str, line: int) -> None:
        self._said.setdefault(getattr(self._here, "k", None), {})[filename, line] = str(message)

    def of(self, k: int | None) -> tuple[str, ...]:
        """Of a class; of None what concerns all of them."""
        return tuple(self._said.get(k, {}).values())


@contextmanager
def warnings_noted() -> Iterator[Notes]:
    """What methods warn of is noted, other warnings go their way."""
    notes = Notes()
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        others = warnings.showwarning

        def show(
            message: Warning | str, category: type[Warning], filename: str, lineno: int, *more: Any
        ) -> None:
            if issubclass(category, UserWarning):
                notes.hear(message, filename, lineno)
            else:
                others(message, category, filename, lineno, *more)

        warnings.showwarning = show  # type: ignore[assignment]
        yield notes


def solved_in_parallel(
    lesson: Lesson, classes: Sequence[int], workers: int, notes: Notes, wish: Wish
) -> Iterator[tuple[int, Solved]]:
    """As they come. Asked to stop, it leaves what is under way to itself: a class cannot be cut short.

    BLAS gets one thread for each class: more would wait for those of the next class, and how many there are
    would show in the last bits.
    """
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Solved | BaseException]] = queue.SimpleQueue()
    given_up = threading.Event()
    for k in classes:
        todo.put(k)

    def work() -> None:
        while not given_up.is_set():
            try:
                k = todo.get_nowait()
            except queue.Empty:
                return
            notes.at(k)
            try:
                done.put((k, lesson.solve(k)))
            except BaseException as error:  # raised again where it is waited for
                done.put((k, error))

    names = [f"devcem-class-{number}" for number in range(min(workers, len(classes)))]
    threads = [threading.Thread(target=work, name=name, daemon=True) for name in names]
    limits = threadpool_limits(1, user_api="blas")
    for thread in threads:
        thread.start()
    try:
        for _ in classes:
            k, found = _next(done, wish)
            if isinstance(found, BaseException):
                raise found
            yield k, found
        for thread in threads:
            thread.join()
    finally:
        given_up.set()
        if not any(thread.is_alive() for thread in threads):  # BLAS crashes if it is changed while it works
            limits.restore_original_limits()


def _next(
    done: queue.SimpleQueue[tuple[int, Solved | BaseException]], wish: Wish
) -> tuple[int, Solved | BaseException]:
    while not wish.stop:
        try:
            return done.get(timeout=LOOK)
        except queue.Empty:
            continue
    raise KeyboardInterrupt
