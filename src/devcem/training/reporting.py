"""What a run tells while it runs: progress, history.csv, curves.png, TensorBoard where it is asked for."""

from __future__ import annotations

import csv
import math
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Column

from devcem.errors import UserError
from devcem.files import writing
from devcem.progress import LINE_EVERY, say
from devcem.training.curves import draw_curves
from devcem.training.loop import Progress, Row
from devcem.training.settings import TrainSettings


class Reporter:
    """Listens to the loop; files are renewed after every epoch, the picture now and then and at the end."""

    def __init__(self, folder: Path, settings: TrainSettings, steps: int) -> None:
        self._folder, self._settings, self._steps = folder, settings, steps
        self._console = Console(file=sys.stderr)
        self._bar: Bar | None = None
        self._task: Any = None
        self._board = board_writer()(str(folder / "tensorboard")) if settings.tensorboard else None
        self._told = self._drawn = time.monotonic()
        self._said = 0  # epochs

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            status = Column(ratio=1, no_wrap=True, overflow="ellipsis")
            columns = (
                TextColumn("{task.description}"),
                BarColumn(bar_width=16),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[status]}", table_column=status),
            )
            self._bar = Bar(*columns, console=self._console, transient=True, expand=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=self._steps, status="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._board is not None:
            self._board.close()

    def __call__(self, progress: Progress, loss: float | None) -> None:
        if loss is None:
            self._after_epoch(progress)
        elif self._bar is not None:
            words = f"epoch {progress.epoch + 1}/{self._settings.epochs}  loss {loss:.3f}"
            status = self._words(progress)
            self._bar.update(self._task, description=words, completed=progress.step, status=status)
        elif self._steps > 1 and time.monotonic() - self._told > 6 * LINE_EVERY:
            self._told = time.monotonic()
            say(f"epoch {progress.epoch + 1}: step {progress.step} of {self._steps}, loss {loss:.3f}")

    def finish(self, progress: Progress) -> None:
        write_history(self._folder / "history.csv", progress.history)
        draw_curves(progress.history, self._folder / "curves.png", progress.best_epoch)
        self._say(progress)

    def _after_epoch(self, progress: Progress) -> None:
        row = progress.history[-1]
        write_history(self._folder / "history.csv", progress.history)
        if self._board is not None:
            for name, value in row.items():
                self._board.add_scalar(name.replace("_", "/", 1), value, int(row["epoch"]))
        now = time.monotonic()
        if now - self._drawn > 12 * LINE_EVERY:
            draw_curves(progress.history, self._folder / "curves.png", progress.best_epoch)
            self._drawn = time.monotonic()
        if self._bar is None and now - self._told > LINE_EVERY:
            self._told = now
            self._say(progress)

    def _say(self, progress: Progress) -> None:
        if progress.history and progress.epoch != self._said:
            self._said = progress.epoch
            say(f"epoch {progress.epoch}/{self._settings.epochs}: {self._words(progress)}")

    def _words(self, progress: Progress) -> str:
        """What the last whole epoch came to: losses and terms, validation, how long it may take yet."""
        if not progress.history:
            return ""
        row = progress.history[-1]
        terms = [f"{name[6:]} {row[name]:.3f}" for name in row if name.startswith("train_")]
        parts = [term for term in terms if not term.startswith("total ")]
        inner = f" ({', '.join(parts)})" if len(parts) > 1 else ""
        left = 0 if progress.ended else self._settings.epochs - progress.epoch
        seconds = [line["seconds"] for line in progress.history[-10:]]
        eta = f", {_span(left * sum(seconds) / len(seconds))} left at most" if left else ""
        return (
            f"train loss {row['train_total']:.3f}{inner}; validation loss {row['val_total']:.3f}, "
            f"mAP {row['val_map']:.3f}, F1 {row['val_f1']:.3f}; best: epoch {progress.best_epoch + 1}{eta}"
        )


def write_history(path: Path, history: list[Row]) -> None:
    """A row an epoch; the columns of all rows, in order of appearance."""
    columns = list(dict.fromkeys(name for row in history for name in row))
    with writing(path) as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        for row in history:
            table.writerow([_shown(name, row.get(name, math.nan)) for name in columns])


def _shown(name: str, value: float) -> str:
    if name == "epoch":
        return str(int(value))
    return "" if math.isnan(value) else f"{value:.8g}"


def _span(seconds: float) -> str:
    """As long as a person would say it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def board_writer() -> Any:
    """What writes for TensorBoard; it comes with the extra `tensorboard`."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        remedy = "pip install devcem[tensorboard], or leave tensorboard=true out"
        raise UserError("TensorBoard is not installed", remedy=remedy) from None
    return SummaryWriter
