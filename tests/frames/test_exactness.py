"""Frame i is the i-th frame of a sequential decode, whatever the container's seek does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from videos import decode_all, ordinal_in, picture, write_video

from devcem.frames import open_source
from devcem.frames.cursor import Cursor
from devcem.frames.video import VideoSource

OPEN = {"options": {"x264-params": "open-gop=1:keyint=12:min-keyint=12"}}
REFRESH = {"options": {"x264-params": "intra-refresh=1:keyint=16"}}


def _hevc(params: str = "keyint=250") -> dict[str, dict[str, str]]:
    return {"options": {"x265-params": f"log-level=none:pools=1:{params}"}}


FRAMES = 50
MATRIX = {
    "avi-mjpeg": ("a.avi", "mjpeg", {"gop": 1}),
    "avi-h264": ("a.avi", "libx264", {}),
    "avi-mpeg4": ("a.avi", "mpeg4", {}),
    "avi-mpeg4-b": ("a.avi", "mpeg4", {"b_frames": 2}),
    "mp4-mjpeg": ("a.mp4", "mjpeg", {"gop": 1}),
    "mp4-mpeg4-b": ("a.mp4", "mpeg4", {"b_frames": 2}),
    "mp4-h264": ("a.mp4", "libx264", {}),
    "mp4-h264-b": ("a.mp4", "libx264", {"b_frames": 3}),
    "mp4-h264-one-gop": ("a.mp4", "libx264", {"b_frames": 2, "gop": 250}),
    "mp4-h264-intra": ("a.mp4", "libx264", {"gop": 1}),
    "mp4-h264-open-gop": ("a.mp4", "libx264", {"b_frames": 3, **OPEN}),
    "mp4-h264-refresh": ("a.mp4", "libx264", {"gop": 16, **REFRESH}),
    "mp4-hevc-b": ("a.mp4", "libx265", {"b_frames": 3, **_hevc("open-gop=0:keyint=12:min-keyint=12")}),
    "mp4-hevc-open-gop": ("a.mp4", "libx265", {"b_frames": 3, **_hevc("open-gop=1:keyint=12:min-keyint=12")}),
    "mkv-h264-b": ("a.mkv", "libx264", {"b_frames": 2}),
    "mkv-hevc": ("a.mkv", "libx265", _hevc()),
    "mkv-mjpeg": ("a.mkv", "mjpeg", {"gop": 1}),
    "mkv-mpeg2-b": ("a.mkv", "mpeg2video", {"b_frames": 2}),
    "mpg-mpeg1": ("a.mpg", "mpeg1video", {}),
    "mpg-mpeg1-b": ("a.mpg", "mpeg1video", {"b_frames": 2}),
    "mpg-mpeg2": ("a.mpg", "mpeg2video", {}),
    "mpg-mpeg2-b": ("a.mpg", "mpeg2video", {"b_frames": 2}),
    "mpg-mpeg2-intra": ("a.mpg", "mpeg2video", {"gop": 1}),
    "mpg-mpeg2-long": ("a.mpg", "mpeg2video", {"b_frames": 2, "gop": 40}),
    "wmv1": ("a.wmv", "wmv1", {}),
    "wmv2": ("a.wmv", "wmv2", {}),
    "wmv-msmpeg4": ("a.wmv", "msmpeg4", {}),
    "raw-h264": ("a.h264", "libx264", {"b_frames": 2}),
    "raw-mpeg2": ("a.m2v", "mpeg2video", {"b_frames": 2}),
    "ts-h264": ("a.ts", "libx264", {"b_frames": 2}),
}  # fmt: skip


@pytest.mark.parametrize("kind", MATRIX)
def test_every_frame_is_the_one_of_a_sequential_decode(kind: str, tmp_path: Path) -> None:
    name, codec, options = MATRIX[kind]
    path = write_video(tmp_path / name, codec, FRAMES, **options)
    plain = decode_all(path)
    assert [ordinal_in(image) for image in plain] == list(range(FRAMES))  # or else the test proves nothing
    with open_source(path) as source:
        assert (len(source), source.decoded, source.damaged) == (FRAMES, FRAMES, 0)
        assert source.declared == FRAMES
        np.testing.assert_array_equal(source.numbers, np.arange(FRAMES))
        np.testing.assert_allclose(source.times, np.arange(FRAMES) / 25, atol=0.0011)
        streamed = np.concatenate(list(source.stream(batch=7)))
        if "mjpeg" in kind:  # libjpeg and FFmpeg spread colour differently
            assert np.abs(streamed.astype(int) - plain).mean() < 2
        else:
            np.testing.assert_array_equal(streamed, plain)
        assert [ordinal_in(image) for image in streamed] == list(range(FRAMES))
    order = np.random.default_rng(0).permutation(FRAMES)
    with open_source(path) as again:  # a fresh process would find the index in the same way
        one_by_one = np.concatenate([again.read([ordinal]) for ordinal in order])
        np.testing.assert_array_equal(one_by_one, streamed[order])
        np.testing.assert_array_equal(again.read(order), streamed[order])


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[VideoSource, np.ndarray]]:
    folder = tmp_path_factory.mktemp("videos")
    found = []
    for kind in ("mpg-mpeg2-b", "mp4-h264-open-gop", "avi-mjpeg", "wmv2"):
        name, codec, options = MATRIX[kind]
        path = write_video(folder / f"{kind}-{name}", codec, FRAMES, **options)
        source = VideoSource(path)
        found.append((source, np.concatenate(list(source.stream(32)))))
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(which=st.integers(0, 3), ordinals=st.lists(st.integers(0, FRAMES - 1), max_size=12))
def test_read_is_stream(
    sources: list[tuple[VideoSource, np.ndarray]], which: int, ordinals: list[int]
) -> None:
    source, streamed = sources[which]
    np.testing.assert_array_equal(source.read(ordinals, 32), streamed[np.array(ordinals, int)])


def test_seeking_is_used_and_not_the_start_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    over: list[int] = []
    start_over = Cursor._start_over
    monkeypatch.setattr(Cursor, "_start_over", lambda self: bool(over.append(1)) or start_over(self))
    for name, codec in (("a.mpg", "mpeg2video"), ("a.mp4", "libx264"), ("a.wmv", "wmv2"), ("a.avi", "mjpeg")):
        path = write_video(
            tmp_path / name, codec, 120, b_frames=2 if codec in ("mpeg2video", "libx264") else 0
        )
        source = open_source(path)
        for ordinal in np.random.default_rng(1).permutation(np.arange(24, 120))[:30]:
            assert ordinal_in(source.read([ordinal])[0]) == ordinal
        assert len(over) <= 2, f"{name}: read from the start {len(over)} times of 30"
        over.clear()


def test_frames_that_all_look_alike_are_told_apart_or_are_the_same(tmp_path: Path) -> None:
    import av

    path = tmp_path / "black.avi"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mjpeg", rate=25)
        stream.width = stream.height = 32
        stream.pix_fmt = "yuvj420p"
        for ordinal in range(30):
            frame = av.VideoFrame.from_ndarray(
                np.full((32, 32, 3), 200 * (ordinal == 17), np.uint8), format="rgb24"
            )
            frame.pts = ordinal
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with open_source(path) as source:
        assert np.flatnonzero(source.read(range(30)).mean(axis=(1, 2, 3)) > 100).tolist() == [17]
        assert [int(source.read([n]).mean() > 100) for n in (29, 17, 3, 18)] == [0, 1, 0, 0]


def test_a_lying_index_is_not_believed(tmp_path: Path) -> None:
    """Were a seek to land elsewhere unnoticed, the checksum would tell: here all entries are off by one."""
    from dataclasses import replace

    source = VideoSource(write_video(tmp_path / "a.mp4", "libx264", FRAMES))
    assert len(source) == FRAMES
    assert source._index is not None
    source._index = replace(source._index, frame_packet=np.roll(source._index.frame_packet, 1))
    for ordinal in (40, 13, 25, 12):
        assert ordinal_in(source.read([ordinal])[0]) == ordinal


def test_what_is_painted_is_what_is_read() -> None:
    assert [ordinal_in(picture(n)) for n in range(0, 4096, 37)] == list(range(0, 4096, 37))
