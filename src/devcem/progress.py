"""Progress of long work: a live bar on a terminal, a plain line now and then elsewhere. Always on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

T = TypeVar("T")
LINE_EVERY = 5.0  # seconds between plain lines
WORTH_A_WORD = 2.0  # seconds after which the end is told


def track(items: Iterable[T], title: str, total: int | None = None) -> Iterator[T]:
    """Hand the items on and tell how far we are. Work that is over at once is not worth a word."""
    if total is None and hasattr(items, "__len__"):
        total = len(items)  # type: ignore[arg-type]
    console = Console(file=sys.stderr)
    of = f"/{total}" if total is not None else ""
    start, done = time.monotonic(), 0
    for item in _bar(items, title, total, console) if console.is_terminal else _lines(items, title, of):
        yield item
        done += 1
    if (seconds := time.monotonic() - start) > WORTH_A_WORD:
        say(f"{title}: {done}{of} done in {seconds:.1f} s")


def say(text: str) -> None:
    """One plain line about what is happening, where progress goes."""
    print(text, file=sys.stderr, flush=True)


def _bar(items: Iterable[T], title: str, total: int | None, console: Console) -> Iterator[T]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=total)
        for item in items:
            yield item
            progress.advance(task)


def _lines(items: Iterable[T], title: str, of: str) -> Iterator[T]:
    start = last = time.monotonic()
    for done, item in enumerate(items):
        if time.monotonic() - last > LINE_EVERY:
            last = time.monotonic()
            say(f"{title}: {done}{of} after {last - start:.0f} s")
        yield item
