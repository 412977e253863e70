"""A video file as a source of frames."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from devcem.frames.ahead import ahead, in_parallel
from devcem.frames.cursor import Cursor
from devcem.frames.index import Index, index_file, index_key
from devcem.frames.pictures import Image, fingerprint, jpeg_is_sound, rgb
from devcem.frames.promise import Promise, promise
from devcem.frames.recorder import Recorder
from devcem.frames.reel import THREADS, Log, Reel, Step
from devcem.frames.source import Facts, Frames, FrameSource, Limits, Ordinals, Size, check_length, check_size
from devcem.progress import track

USUAL_RATE = 25.0  # frames a second where nothing says it
HEVC_IS_SILENT = "bytes damaged within a picture of HEVC may go unnoticed: its decoder does not tell"
HELD_BACK = 40  # pictures: more than any decoder reorders, so that none which damage could touch gets out


class Developed(NamedTuple):
    step: Step
    check: int  # fingerprint, 0 where nobody wants it
    sound: bool
    image: Image | None


class VideoSource(FrameSource):
    """Any container and codec that FFmpeg decodes, in a local file or in memory.

    The first full pass, be it `stream` or one asked for by `len` and the like, is kept as the index; from
    then on `read` seeks. *content* stands for the file's bytes where the video lies inside another file; then
    *times* and *frames* are what that file says of it.
    """

    def __init__(
        self,
        path: Path,
        cache: Path | None = None,
        limits: Limits | None = None,
        *,
        content: bytes | None = None,
        times: Sequence[float] | None = None,
        frames: int | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.path, self.limits = path, limits or Limits()
        self._content, self._given_times, self._given_notes = content, times, list(notes)
        reel = Reel(path, content)
        with closing(reel):
            decoder: Any = reel.decoder
            self.height, self.width = int(decoder.height), int(decoder.width)
            self.rate = float(reel.stream.average_rate or reel.stream.guessed_rate or USUAL_RATE)
            size = path.stat().st_size if content is None else len(content)
            self._promise = promise(reel.container, reel.stream, reel.file, size)
            check_size(self.height, self.width, path, self.limits)
            check_length(self._promise.frames or 0, self._promise.seconds or 0.0, path, self.limits)
            if frames is not None:
                self._promise = Promise(frames, cut=self._promise.cut)
            self._given_notes += [self._promise.note] if self._promise.note else []
            if decoder.name == "hevc":
                self._given_notes.append(HEVC_IS_SILENT)
        with closing(Reel(path, content)) as reel:
            self._is_jpeg = reel.look_for_jpeg()
        self._file = index_file(path, cache)
        self._key = index_key(path, {"frames": frames, "times": _brief(times)})
        self._index = Index.load(self._file, self._key) if self._file else None
        self._cursor: Cursor | None = None
        self._inherited: Cursor | None = None
        self._process = os.getpid()
        self._lock = threading.RLock()

    @property
    def facts(self) -> Facts:
        index = self._indexed()
        numbers = np.arange(len(index.times), dtype=np.int64)
        return Facts(numbers, index.times, index.declared, index.damaged, index.notes)

    @property
    def declared(self) -> int:
        """Told by the header where that counts frames: it costs nothing before a stream."""
        if self._index is None and self._promise.frames is not None:
            return self._promise.frames
        return self._indexed().declared

    def read(self, ordinals: Ordinals, size: Size = None) -> Frames:
        height, width = self._shape(size)
        wanted = self._asked(ordinals)
        out = np.empty((len(wanted), height, width, 3), np.uint8)
        with self._lock:
            cursor = self._own_cursor()
            last, image = -1, None
            for place in np.argsort(wanted, kind="stable"):
                if wanted[place] != last or image is None:
                    last = int(wanted[place])
                    image = rgb(cursor.picture(last), height, width)
                out[place] = image
        return out

    def stream(self, size: Size = None, batch: int = 32) -> Iterator[Frames]:
        height, width = self._shape(size)
        return ahead(self._batches(height, width, batch))

    def close(self) -> None:
        with self._lock:
            if self._cursor is not None:
                self._cursor.close()
            self._cursor = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_cursor": None, "_inherited": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    def _reel(self, careful: bool, watchful: bool = False) -> Reel:
        pixels = self.limits.pixels
        reel = Reel(self.path, self._content, careful=careful, watchful=watchful, pixels=pixels)
        reel.is_jpeg = self._is_jpeg
        return reel

    def _own_cursor(self) -> Cursor:
        if self._process != os.getpid():  # a forked worker shares its parent's place in the file: open anew
            self._inherited = (
                self._cursor
            )  # and do not free it: its decoder's threads are not here to be ended
            self._cursor, self._process = None, os.getpid()
        if self._cursor is None:
            index = self._indexed()
            self._cursor = Cursor(index, lambda: self._reel(index.careful))
        return self._cursor

    def _indexed(self) -> Index:
        with self._lock:
            if self._index is None:
                for _ in track(self._developed(0, 0), f"indexing {self.path.name}", self._promise.frames):
                    pass
            assert self._index is not None
            return self._index

    def _batches(self, height: int, width: int, batch: int) -> Generator[Frames]:
        images: list[Image] = []
        with closing(self._developed(height, width)) as developed:
            for one in developed:
                if one.image is None:
                    continue
                images.append(one.image)
                if len(images) == batch:
                    yield np.stack(images)
                    images = []
        if images:
            yield np.stack(images)

    def _developed(self, height: int, width: int) -> Generator[Developed]:
        """Every step in order with its image (none at height 0); leaves an index behind if there was none."""
        known = self._index is not None

        def develop(step: Step) -> Developed:
            if step.picture is None:
                return Developed(step, 0, False, None)
            check = 0 if known else fingerprint(step.picture)
            sound = step.sound
            if not known and isinstance(step.picture, bytes):
                sound = jpeg_is_sound(step.picture)
            return Developed(step, check, sound, rgb(step.picture, height, width) if height else None)

        recorder = Recorder(self.path, self._promise, self.rate, self.limits)
        with (
            closing(_Sequence(self, recorder.log)) as steps,
            closing(in_parallel(develop, steps, THREADS)) as all,
        ):
            for one in all:
                if not known:
                    recorder.add(one.step, one.check, one.sound)
                yield one
        if not known:
            self._keep(recorder.index(steps.careful, self._given_times, self._given_notes))

    def _keep(self, index: Index) -> None:
        if self._index is None:
            self._index = index
            if self._file:
                index.save(self._file, self._key)


class _Sequence:
    """All steps from the first, once. At the first sign of damage it is decoded anew, in one thread."""

    def __init__(self, source: VideoSource, log: Log) -> None:
        self.source, self.log = source, log
        self.careful = source._index is not None and source._index.careful
        self.reel = source._reel(self.careful, watchful=source._index is None)

    def __iter__(self) -> Iterator[Step]:
        if self.careful or self.source._is_jpeg:
            yield from self.reel.from_start(self.log)
            return
        held: deque[Step] = deque()
        passed = 0
        for step in self.reel.from_start(self.log):
            if not step.sound:
                break
            held.append(step)
            if len(held) > HELD_BACK:
                yield held.popleft()
                passed += 1
        else:
            yield from held
            return
        self.close()
        self.careful, self.reel = True, self.source._reel(careful=True)
        self.log.clear()
        yield from islice(self.reel.from_start(self.log), passed, None)

    def close(self) -> None:
        self.reel.close()


def _brief(times: Sequence[float] | None) -> list[float] | None:
    return None if times is None else [len(times), float(sum(times))]
