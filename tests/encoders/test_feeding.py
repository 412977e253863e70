from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from devcem.encoders import feeding
from devcem.encoders.encoder import Features
from devcem.encoders.feeding import BATCHES, DEPTH, Draw, Job, Part, encoded
from devcem.errors import UserError
from devcem.frames.augment import Augmentation
from devcem.frames.clip import CHUNK
from devcem.frames.folder import FolderSource
from devcem.frames.source import Frames
from devcem.labels import Segment

SIDE = 8
FLIPPED, TURNED = Augmentation(horizontal=True), Augmentation(horizontal=True, vertical=True)


class Corners:
    """Three corners of a frame: they tell its source, its number and how it was flipped."""

    name, dim = "corners", 9
    fingerprint: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, batch: int = 4, size: int = SIDE) -> None:
        self.batch, self.size = batch, size
        self.seen: list[int] = []  # frames of each call

    def encode(self, frames: Frames) -> Features:
        self.seen.append(len(frames))
        return np.concatenate([frames[:, 0, 0], frames[:, 0, -1], frames[:, -1, 0]], 1).astype(np.float32)


def frame(source: int, number: int, side: int = SIDE) -> Frames:
    """[side,side,3] with another colour in each corner."""
    image = np.zeros((side, side, 3), np.uint8)
    for corner, (y, x) in enumerate([(0, 0), (0, -1), (-1, 0), (-1, -1)]):
        image[y, x] = (10 + source, number, 50 * corner)
    return image


def expected(source: int, numbers: Sequence[int], draw: Draw = None) -> Features:
    """[T,9], written down by hand: the corners in which a flip leaves what was top left, and so on."""
    order = {None: (0, 1, 2), FLIPPED: (1, 0, 3), TURNED: (3, 2, 1)}[draw]
    rows = [[value for k in order for value in (10 + source, number, 50 * k)] for number in numbers]
    return np.array(rows, np.float32).reshape(-1, 9)


@pytest.fixture
def media(tmp_path: Path) -> Path:
    """Three sources of 40, 7 and 75 frames; the second is numbered 3, 6, ... 21."""
    for source, numbers in enumerate([range(40), range(3, 24, 3), range(75)]):
        write(tmp_path / f"p{source}", source, numbers)
    return tmp_path


def write(folder: Path, source: int, numbers: Sequence[int], side: int = SIDE) -> None:
    folder.mkdir()
    for number in numbers:
        Image.fromarray(frame(source, number, side)).save(folder / f"f{number}.png")


def job(media: Path, source: int, start: int, stop: int, *draws: Draw) -> Job:
    segment = Segment(f"p{source}s{start}", f"p{source}", start, stop, f"p{source}")
    wanted = {f"{segment.segment} {n}": draw for n, draw in enumerate(draws or (None,))}
    return Job(segment, media / f"p{source}", wanted)


def many(media: Path) -> dict[int, tuple[Job, Features]]:
    """Jobs in no order of their own, overlapping ones among them, and what must come out: by identity."""
    told = [
        (2, range(33, 75), (None, TURNED)),
        (0, range(35, 40), (None,)),
        (1, range(5, 20), (FLIPPED, None, TURNED)),
        (2, range(40), (FLIPPED,)),
        (0, range(30), (None, FLIPPED)),
        (2, range(10, 43), (None,)),
    ]
    jobs = {}
    for source, numbers, draws in told:
        one = job(media, source, numbers.start, numbers.stop, *draws)
        there = [n for n in numbers if source != 1 or n % 3 == 0]
        jobs[id(one)] = one, np.stack([expected(source, there, draw) for draw in draws])
    return jobs


def running() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("devcem-")]


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What was opened and closed, in order."""
    told: list[tuple[str, str]] = []
    opens, closes = feeding.open_source, FolderSource.close

    def opening(path: Path) -> Any:
        told.append(("opened", path.name))
        return opens(path)

    def close(source: FolderSource) -> None:
        told.append(("closed", source.path.name))
        closes(source)

    monkeypatch.setattr(feeding, "open_source", opening)
    monkeypatch.setattr(FolderSource, "close", close)
    return told


@pytest.fixture(params=[1, 2, 3, 16, None], ids=lambda count: f"{count} processors")
def processors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int | None:
    monkeypatch.setattr(feeding.os, "cpu_count", lambda: request.param)
    count: int | None = request.param
    return count


@pytest.mark.parametrize("batch", [1, 3, 8, 16, 500])
@pytest.mark.usefixtures("processors")
def test_every_feature_finds_its_job_its_draw_and_its_frame(media: Path, batch: int) -> None:
    jobs, encoder = many(media), Corners(batch)
    done = list(encoded([one for one, _ in jobs.values()], encoder, "frame"))
    assert sorted(id(one) for one, _ in done) == sorted(jobs)
    for one, features in done:
        assert features.dtype == np.float32
        np.testing.assert_array_equal(features, jobs[id(one)][1])
    frames = sum(features.shape[0] * features.shape[1] for _, features in jobs.values())
    full, last = divmod(frames, BATCHES * batch)
    assert encoder.seen == [BATCHES * batch] * full + [last] * (last > 0)
    assert running() == []


@pytest.mark.usefixtures("processors")
def test_each_source_is_opened_once_and_closed(media: Path, sources: list[tuple[str, str]]) -> None:
    list(encoded([one for one, _ in many(media).values()], Corners(), "frame"))
    assert sorted(sources) == [(what, f"p{n}") for what in ("closed", "opened") for n in range(3)]


@pytest.mark.parametrize(("processors", "readers"), [(None, 1), (1, 1), (2, 1), (4, 2), (64, 3)])
def test_half_as_many_readers_as_processors_and_no_more_than_sources(
    media: Path, monkeypatch: pytest.MonkeyPatch, processors: int | None, readers: int
) -> None:
    monkeypatch.setattr(feeding.os, "cpu_count", lambda: processors)
    depths: list[int] = []
    starts = feeding.ahead

    def starting(items: Iterator[Part], depth: int) -> Iterator[Part]:
        depths.append(depth)
        return starts(items, depth)

    monkeypatch.setattr(feeding, "ahead", starting)
    list(encoded([one for one, _ in many(media).values()], Corners(), "frame"))
    assert depths == [DEPTH] * readers


def test_a_job_is_handed_over_as_soon_as_it_is_done_and_readers_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "p0", 0, range(7 * CHUNK))
    jobs = [job(tmp_path, 0, CHUNK * n, CHUNK * (n + 1)) for n in range(7)]
    made: list[int] = []
    read = feeding.read_view

    def reading(source: Any, ordinals: Any, *more: Any) -> Frames:
        made.append(len(ordinals))
        return read(source, ordinals, *more)

    monkeypatch.setattr(feeding, "read_view", reading)
    encoder = Corners(CHUNK // BATCHES)
    with closing(encoded(jobs, encoder, "frame")) as done:
        one, features = next(done)
        assert one is jobs[0]
        np.testing.assert_array_equal(features[0], expected(0, range(CHUNK)))
        time.sleep(0.3)
        assert encoder.seen == [CHUNK]
        assert len(made) <= 1 + DEPTH + 1  # taken, waiting, and in the reader's hand
    assert running() == []


def test_frames_of_several_shapes_share_no_batch(tmp_path: Path) -> None:
    """An encoder that takes frames as they come gets them as they are."""
    for source, side in enumerate([8, 12, 12, 9]):
        write(tmp_path / f"p{source}", source, range(10), side)
    jobs = [job(tmp_path, source, 0, 10, None, FLIPPED) for source in range(4)]
    encoder = Corners(4, size=0)
    for one, features in encoded(jobs, encoder, "frame"):
        for row, draw in zip(features, (None, FLIPPED), strict=True):
            np.testing.assert_array_equal(row, expected(jobs.index(one), range(10), draw))
    assert max(encoder.seen) == 4 * BATCHES
    assert sum(encoder.seen) == 80


def test_no_jobs() -> None:
    assert list(encoded([], Corners(), "frame")) == []


@pytest.mark.parametrize(("start", "stop"), [(4, 6), (22, 90), (6, 6)])
def test_a_segment_without_frames_is_named_and_what_was_done_before_is_kept(
    media: Path,
    sources: list[tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    start: int,
    stop: int,
) -> None:
    monkeypatch.setattr(feeding.os, "cpu_count", lambda: 1)
    jobs = [job(media, 0, 0, 40), job(media, 1, start, stop)]
    done = encoded(jobs, Corners(4), "frame")
    assert next(done)[0] is jobs[0]
    named = rf"p1: segment p1s{start} has no frames in its source.*Remedy: .*segments\.csv"
    with pytest.raises(UserError, match=named):
        next(done)
    assert running() == []
    assert len(sources) == 4


@pytest.mark.usefixtures("processors")
def test_closing_early_stops_the_readers_and_closes_the_sources(
    media: Path, sources: list[tuple[str, str]]
) -> None:
    with closing(encoded([one for one, _ in many(media).values()], Corners(1), "frame")) as done:
        next(done)
        assert sources
    assert running() == []
    assert sorted(name for what, name in sources if what == "opened") == sorted(
        name for what, name in sources if what == "closed"
    )


@pytest.mark.usefixtures("processors")
def test_a_picture_that_vanishes_is_told(
    media: Path, sources: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    opens = feeding.open_source

    def opening(path: Path) -> Any:
        source = opens(path)
        (path / "f70.png").unlink(missing_ok=True)
        return source

    monkeypatch.setattr(feeding, "open_source", opening)
    with pytest.raises(UserError, match=r"f70\.png: cannot be read"):
        list(encoded([one for one, _ in many(media).values()], Corners(), "frame"))
    assert running() == []
    assert ("closed", "p2") in sources


@pytest.mark.usefixtures("processors")
@pytest.mark.parametrize("at", ["the reader", "the encoder", "the consumer"])
def test_an_error_comes_out_and_leaves_nothing_running(
    media: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    def fails(*_: object) -> Any:
        raise OSError("the cable came off")

    encoder = Corners(2)
    if at == "the reader":
        monkeypatch.setattr(feeding, "read_view", fails)
    elif at == "the encoder":
        monkeypatch.setattr(encoder, "encode", fails)
    with (
        pytest.raises(OSError, match="cable"),
        closing(encoded([one for one, _ in many(media).values()], encoder, "frame")) as done,
    ):
        for _ in done:
            fails()
    assert running() == []


@settings(deadline=None, max_examples=200)
@given(
    lengths=st.lists(st.tuples(st.integers(1, 50), st.sampled_from([(2, 2), (2, 3)])), max_size=12),
    count=st.integers(1, 40),
)
def test_gathering_keeps_every_frame_in_its_place(
    lengths: list[tuple[int, tuple[int, int]]], count: int
) -> None:
    parts, told = [], []
    for k, (length, shape) in enumerate(lengths):
        frames = np.random.default_rng(k).integers(0, 256, (length, *shape, 3), dtype=np.uint8)
        parts.append(Part(k, 1000 + k, k % 3, 100 * k, frames))
        told += [(k, 1000 + k, k % 3, 100 * k + n, one.tobytes()) for n, one in enumerate(frames)]
    batches = list(feeding._gathered(iter(parts), count))
    assert [
        (part.job, part.count, part.draw, part.first + n, one.tobytes())
        for batch in batches
        for part in batch
        for n, one in enumerate(part.frames)
    ] == told
    sizes = [sum(len(part.frames) for part in batch) for batch in batches]
    shapes = [{part.frames.shape[1:] for part in batch} for batch in batches]
    assert all(len(part.frames) for batch in batches for part in batch)
    assert all(len(kinds) == 1 for kinds in shapes)
    for n, size in enumerate(sizes):
        assert size == count or (size < count and shapes[n] != (shapes[n + 1 :] or [None])[0])


def test_gathering_by_hand_and_without_looking_further() -> None:
    def parts() -> Iterator[Part]:
        for k, length in enumerate([3, 1, 7]):
            asked.append(k)
            yield Part(k, length, 0, 0, np.full((length, 1, 1, 3), k, np.uint8))

    asked: list[int] = []
    batches = feeding._gathered(parts(), 4)
    seen = []
    for batch in batches:
        seen.append([(part.job, part.first, len(part.frames)) for part in batch])
        if len(seen) == 1:
            assert asked == [0, 1]
    assert seen == [[(0, 0, 3), (1, 0, 1)], [(2, 0, 4)], [(2, 4, 3)]]


def test_readers_take_turns() -> None:
    readers: list[Iterator[Any]] = [iter([1, 2, 3]), iter([4]), iter([]), iter([5, 6])]
    assert list(feeding._taken_in_turn(readers)) == [1, 4, 5, 2, 6, 3]
