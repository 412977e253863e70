"""A folder of numbered pictures as a source of frames."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import PIL.Image
import simplejpeg

from devcem.errors import UserError
from devcem.frames.ahead import ahead, in_parallel
from devcem.frames.pictures import GREY, JPEG_ERRORS, Image, rgb
from devcem.frames.reel import THREADS
from devcem.frames.source import Facts, Frames, FrameSource, Limits, Ordinals, Size, check_length, check_size
from devcem.frames.stamps import known_times, mended, times_file

SUFFIXES = frozenset({".jpg", ".jpeg", ".png"})
JPEG_START, JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"
PNG_START, PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
HEAD, TAIL = 1 << 16, 64  # bytes looked at to tell whether a picture is there, and whole
USUAL_RATE = 5.0  # frames a second of capsules between their extremes, where no file says better
FEW = 5  # names told in a note


class Found(NamedTuple):
    number: int
    file: Path
    size: tuple[int, int] | None  # (height, width), nothing where it cannot be read
    whole: bool


class FolderSource(FrameSource):
    """JPEG and PNG files in the order of the numbers in their names, which may step and have gaps.

    Opening reads each file's beginning and end, not its pixels: a picture broken in between is found when it
    is read. It then counts as damaged and is handed out as far as it can be decoded, grey where it cannot.
    """

    def __init__(self, path: Path, limits: Limits | None = None) -> None:
        self.path, self.limits = path, limits or Limits()
        numbered, self._skipped = numbered_files(path)
        check_length(len(numbered), 0.0, path, self.limits)
        with closing(in_parallel(lambda one: _looked_at(*one), numbered, THREADS)) as found:
            self._all = list(found)
        self._found = [found for found in self._all if found.size is not None]
        if not self._found:
            what = f"none of its {len(numbered)} pictures can be read"
            raise UserError(what, path, "copy or export the pictures again")
        self.height, self.width = self._found[0].size or (0, 0)
        for one in self._found:
            check_size(*(one.size or (0, 0)), one.file, self.limits)
        self._broken: set[int] = set()  # ordinals of pictures found broken inside while reading

    @cached_property
    def _facts(self) -> Facts:
        numbers = np.array([found.number for found in self._found], np.int64)
        notes = [self._skipped] if self._skipped else []
        unreadable = [found.file.name for found in self._all if found.size is None]
        short = [found.file.name for found in self._found if not found.whole]
        if unreadable:
            notes.append(f"{len(unreadable)} pictures cannot be read: {_some(unreadable)}")
        if short:
            notes.append(f"{len(short)} pictures are cut off: {_some(short)}")
        if len(sizes := {found.size for found in self._found}) > 1:
            notes.append(f"pictures of {len(sizes)} sizes: all are brought to the first one's")
        declared, gaps = _expected([found.number for found in self._all])
        if gaps:
            notes.append(gaps)
        beside = known_times(self.path, numbers)
        times, mending = mended((numbers - numbers[0]) / USUAL_RATE if beside is None else beside, USUAL_RATE)
        if beside is None:
            file = times_file(self.path).name
            notes.append(f"no {file} beside it: numbers are taken as {USUAL_RATE:g} a second")
        return Facts(numbers, times, declared, len(unreadable) + len(short), tuple(notes + mending))

    @property
    def facts(self) -> Facts:
        known = self._facts
        late = [n for n in sorted(self._broken) if self._found[n].whole]
        if not late:
            return known
        note = f"{len(late)} pictures are broken inside: {_some([self._found[n].file.name for n in late])}"
        return Facts(
            known.numbers, known.times, known.declared, known.damaged + len(late), (*known.notes, note)
        )

    def read(self, ordinals: Ordinals, size: Size = None) -> Frames:
        height, width = self._shape(size)
        wanted = self._asked(ordinals)
        different, places = np.unique(wanted, return_inverse=True)
        out = np.empty((len(different), height, width, 3), np.uint8)
        with closing(
            in_parallel(lambda n: self._image(n, height, width), different.tolist(), THREADS)
        ) as images:
            for place, image in enumerate(images):
                out[place] = image
        return out[places]

    def stream(self, size: Size = None, batch: int = 32) -> Iterator[Frames]:
        height, width = self._shape(size)
        return ahead(self._batches(height, width, batch))

    def _batches(self, height: int, width: int, batch: int) -> Generator[Frames]:
        ordinals = range(len(self._found))
        with closing(in_parallel(lambda n: self._image(n, height, width), ordinals, THREADS)) as images:
            held: list[Image] = []
            for image in images:
                held.append(image)
                if len(held) == batch:
                    yield np.stack(held)
                    held = []
            if held:
                yield np.stack(held)

    def _image(self, ordinal: int, height: int, width: int) -> Image:
        file = self._found[ordinal].file
        try:
            data = file.read_bytes()
        except OSError as error:
            raise UserError(f"cannot be read ({error.strerror})", file, "open the folder again") from error
        image, whole = decoded(data, height, width)
        if not whole:
            self._broken.add(ordinal)
        return rgb(image, height, width)


def numbered_files(folder: Path) -> tuple[list[tuple[int, Path]], str]:
    """(number, file) in rising order, and a note on what was left out."""
    numbered: dict[int, Path] = {}
    skipped: list[str] = []
    for file in sorted(folder.iterdir()):
        if file.name.startswith(".") or file.is_dir():
            continue
        number = number_of(file.stem)
        if file.suffix.lower() not in SUFFIXES or number is None:
            skipped.append(file.name)
        elif number in numbered:
            what = f"'{numbered[number].name}' and '{file.name}' both have the number {number}"
            raise UserError(what, folder, "keep one exam a folder, one picture a number")
        else:
            numbered[number] = file
    if not numbered:
        what = "there is no picture with a number in its name (.jpg, .jpeg, .png)"
        raise UserError(what, folder, "name them like frame_000001.jpg")
    note = f"{len(skipped)} files are no numbered JPEG or PNG and were left out: {_some(skipped)}"
    return sorted(numbered.items()), note if skipped else ""


def number_of(stem: str) -> int | None:
    """The last number in a file's name without its suffix: 'P01_frame 0042' is 42."""
    numbers = re.findall(r"[0-9]+", stem)
    return int(numbers[-1]) if numbers and len(numbers[-1]) <= 18 else None


def decoded(data: bytes, height: int, width: int) -> tuple[Image, bool]:
    """RGB of at least that size where the picture is as large, and whether all of it could be decoded."""
    if data.startswith(JPEG_START):
        wanted = {"min_height": height, "min_width": width}
        try:
            return simplejpeg.decode_jpeg(data, "RGB", **wanted), True
        except JPEG_ERRORS:  # broken, or of a kind (CMYK) that Pillow turns into RGB
            pass
        try:
            return simplejpeg.decode_jpeg(data, "RGB", strict=False, **wanted), False
        except JPEG_ERRORS:
            pass
    try:
        with PIL.Image.open(io.BytesIO(data), formats=["JPEG", "PNG"]) as picture:
            return np.array(picture.convert("RGB"), np.uint8), True
    except (OSError, ValueError, SyntaxError):
        return np.full((height, width, 3), GREY, np.uint8), False


def _looked_at(number: int, file: Path) -> Found:
    try:
        with file.open("rb") as opened:
            head = opened.read(HEAD)
            opened.seek(max(0, opened.seek(0, io.SEEK_END) - TAIL))
            tail = opened.read(TAIL)
    except OSError:
        return Found(number, file, None, False)
    if head.startswith(PNG_START) and len(head) >= 24:
        size = (int.from_bytes(head[20:24], "big"), int.from_bytes(head[16:20], "big"))
        return Found(number, file, size if min(size) > 0 else None, tail.endswith(PNG_END))
    if head.startswith(JPEG_START):
        try:
            height, width, *_ = simplejpeg.decode_jpeg_header(head, strict=False)
        except JPEG_ERRORS:
            return Found(number, file, None, False)
        return Found(number, file, (height, width), JPEG_END in tail)
    return Found(number, file, None, False)


def _expected(numbers: list[int]) -> tuple[int, str]:
    """How many numbers there are from the first to the last at their step, and a note on those missing."""
    if len(numbers) < 2:
        return len(numbers), ""
    step = math.gcd(*np.diff(numbers).tolist())
    declared = (numbers[-1] - numbers[0]) // step + 1
    if declared == len(numbers):
        return declared, ""
    gaps = np.flatnonzero(np.diff(numbers) > step)
    where = [f"{numbers[gap] + step}-{numbers[gap + 1] - step}" for gap in gaps]
    return declared, f"{declared - len(numbers)} numbers are missing at {len(gaps)} places: {_some(where)}"


def _some(names: list[str]) -> str:
    return ", ".join(names[:FEW]) + (", ..." if len(names) > FEW else "")
