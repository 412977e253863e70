"""What every source of frames can do, whatever lies behind it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from devcem.errors import UserError

Frames = npt.NDArray[np.uint8]  # [T,H,W,3], RGB
Ordinals = Sequence[int] | npt.NDArray[np.integer]
Size = int | tuple[int, int] | None  # a square's side, or (height, width); None keeps the source's own


@dataclass(frozen=True)
class Limits:
    """What a source may hold at most: a guard against files made to exhaust the machine."""

    pixels: int = 4096 * 4096  # a frame
    frames: int = 3_000_000
    hours: float = 24.0


@dataclass(frozen=True)
class Facts:
    """What is known of a source once it has been gone through."""

    numbers: npt.NDArray[np.int64]  # [N] ordinal -> number; equal to the ordinal for a video
    times: npt.NDArray[np.float64]  # [N] seconds, never falling; number is not time: 1 to 35 frames/s
    declared: int  # frames the container, the file names or the header promise
    damaged: int  # frames or packets that could not be read, were read with errors, or are missing at the end
    notes: tuple[str, ...] = ()  # what a reader should know about this source, in plain words


class FrameSource(ABC):
    """Frames in decoding order. An *ordinal* counts them from 0; a *number* is what files on disk speak.

    Opening is cheap. The facts are gathered when first asked for; a whole `stream` gathers them on its way,
    so ask after it where you stream anyway.
    """

    path: Path
    height: int
    width: int

    @property
    @abstractmethod
    def facts(self) -> Facts: ...

    @abstractmethod
    def read(self, ordinals: Ordinals, size: Size = None) -> Frames:
        """uint8 [T,H,W,3] at *ordinals*, in the order asked for; repeats are allowed."""

    @abstractmethod
    def stream(self, size: Size = None, batch: int = 32) -> Iterator[Frames]:
        """The whole source once, in order, as arrays of at most *batch* frames, decoded ahead in a thread."""

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        return self.facts.numbers

    @property
    def times(self) -> npt.NDArray[np.float64]:
        return self.facts.times

    @property
    def declared(self) -> int:
        return self.facts.declared

    @property
    def decoded(self) -> int:
        """Frames that can be read: len(self)."""
        return len(self.facts.numbers)

    @property
    def damaged(self) -> int:
        return self.facts.damaged

    @property
    def notes(self) -> list[str]:
        return list(self.facts.notes)

    def __len__(self) -> int:
        return self.decoded

    def close(self) -> None:  # noqa: B027  most sources hold nothing open
        """Let go of files and decoders; reading again opens them anew."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def _shape(self, size: Size) -> tuple[int, int]:
        """(height, width) of what is handed out at *size*."""
        height, width = (
            (self.height, self.width) if size is None else (size, size) if isinstance(size, int) else size
        )
        if height < 1 or width < 1:
            raise UserError(
                f"a frame cannot be {height}x{width} pixels", self.path, "ask for a size of 1 or more"
            )
        return height, width

    def _asked(self, ordinals: Ordinals) -> npt.NDArray[np.int64]:
        wanted = np.asarray(ordinals, dtype=np.int64).reshape(-1)
        outside = wanted[(wanted < 0) | (wanted >= len(self))]
        if len(outside):
            remedy = (
                f"ask for ordinals from 0 to {len(self) - 1}" if len(self) else "there is nothing to read"
            )
            raise UserError(f"there is no frame {outside[0]}: the source has {len(self)}", self.path, remedy)
        return wanted


def check_size(height: int, width: int, path: Path, limits: Limits) -> None:
    if height * width > limits.pixels:
        what = f"frames of {height}x{width} pixels, over the limit of {limits.pixels:,} pixels"
        raise UserError(what, path, "scale it down, or pass Limits(pixels=...) where this is meant")


def check_length(frames: int, seconds: float, path: Path, limits: Limits) -> None:
    if frames > limits.frames:
        what, remedy = f"{frames:,} frames or more, over the limit of {limits.frames:,}", "Limits(frames=...)"
    elif seconds > limits.hours * 3600:
        what, remedy = (
            f"{seconds / 3600:.1f} hours long, over the limit of {limits.hours:g} hours",
            "Limits(hours=...)",
        )
    else:
        return
    raise UserError(what, path, f"cut it, or pass {remedy} where this is meant")
