from __future__ import annotations

import os
import pickle
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from videos import decode_all, ordinal_in, picture, write_video

from devcem.errors import UserError
from devcem.frames import FrameSource, Limits, open_source
from devcem.frames.index import Index, index_file
from devcem.frames.video import VideoSource


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write_video(tmp_path / "clip.mp4", "libx264", 40, b_frames=2)


def _decodes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts passes over whole videos."""
    passes: list[int] = []
    developed = VideoSource._developed

    def counted(self: VideoSource, height: int, width: int):  # type: ignore[no-untyped-def]
        passes.append(height)
        return developed(self, height, width)

    monkeypatch.setattr(VideoSource, "_developed", counted)
    return passes


def test_opening_decodes_nothing_and_a_stream_leaves_the_index(
    clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes = _decodes(monkeypatch)
    source = open_source(clip)
    assert (source.height, source.width, source.declared) == (64, 96, 40)
    assert passes == []
    for _ in source.stream(32):
        pass
    assert (len(source), source.damaged, len(source.times)) == (40, 0, 40)
    assert passes == [32]
    assert len(open_source(clip)) == 40  # from the file
    assert passes == [32]


def test_an_index_is_made_anew_when_the_file_changes(clip: Path) -> None:
    assert len(open_source(clip)) == 40
    kept = clip.with_name(".clip.mp4.index.npz")
    before = kept.read_bytes()
    write_video(clip, "libx264", 25)
    assert len(open_source(clip)) == 25
    assert kept.read_bytes() != before


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not a zip", b"garbage" * 100])
def test_a_broken_index_is_made_anew(clip: Path, content: bytes) -> None:
    assert len(open_source(clip)) == 40
    kept = clip.with_name(".clip.mp4.index.npz")
    kept.write_bytes(content)
    assert len(open_source(clip)) == 40
    assert len(kept.read_bytes()) > 1000


def test_a_cut_or_foreign_index_is_made_anew(clip: Path) -> None:
    assert len(open_source(clip)) == 40
    kept = clip.with_name(".clip.mp4.index.npz")
    kept.write_bytes(kept.read_bytes()[:-200])
    assert len(open_source(clip)) == 40
    with np.load(kept) as stored:
        arrays = dict(stored)
    np.savez(kept, **{**arrays, "times": arrays["times"][:-3]})
    assert Index.load(kept, str(arrays["key"])) is None
    np.savez(kept, **{**arrays, "rest": np.array("[]")})
    assert Index.load(kept, str(arrays["key"])) is None
    evil = kept.with_name("evil.npz")
    np.savez(evil, **{**arrays, "times": np.array([object()])}, allow_pickle=True)
    assert Index.load(evil, str(arrays["key"])) is None


def test_where_the_index_is_kept(clip: Path, tmp_path: Path) -> None:
    cache = tmp_path / "elsewhere"
    assert len(open_source(clip, cache=cache)) == 40
    assert [file.name for file in tmp_path.iterdir() if "index" in file.name] == []
    assert len(list(cache.iterdir())) == 1
    other = tmp_path / "other"
    other.mkdir()
    write_video(other / "clip.mp4", "libx264", 10)
    assert len(open_source(other / "clip.mp4", cache=cache)) == 10
    assert len(open_source(clip, cache=cache)) == 40
    assert len(list(cache.iterdir())) == 2


def test_nothing_is_written_into_a_folder_without_write_permission(clip: Path) -> None:
    clip.parent.chmod(0o555)
    try:
        assert index_file(clip, None) is None
        assert len(open_source(clip)) == 40
        assert sorted(file.name for file in clip.parent.iterdir()) == ["clip.mp4"]
    finally:
        clip.parent.chmod(0o755)


def test_a_full_disk_is_no_reason_to_fail(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    assert len(open_source(clip)) == 40


def test_sizes(clip: Path) -> None:
    source = open_source(clip)
    assert source.read([0]).shape == (1, 64, 96, 3)
    assert source.read([0], 16).shape == (1, 16, 16, 3)
    assert source.read([0, 1], (20, 30)).shape == (2, 20, 30, 3)
    assert source.read([], 8).shape == (0, 8, 8, 3)
    assert [batch.shape for batch in source.stream((8, 10), batch=15)] == [
        (n, 8, 10, 3) for n in (15, 15, 10)
    ]
    large = source.read([3], (128, 192))
    assert large.shape == (1, 128, 192, 3)
    assert ordinal_in(large[0]) == 3
    with pytest.raises(UserError, match="cannot be 0x5"):
        source.read([0], (0, 5))


@pytest.mark.parametrize("kind", [("a.avi", "mjpeg"), ("a.mp4", "libx264")])
def test_scaling_averages(kind: tuple[str, str], tmp_path: Path) -> None:
    """Half the size is the mean of four pixels, but for the colour's rounding: no aliasing, no shift."""
    path = write_video(tmp_path / kind[0], kind[1], 2, height=128, width=192, gop=1)
    source = open_source(path)
    half = source.read([0], (64, 96))[0].astype(float)
    full = source.read([0])[0].astype(float).reshape(64, 2, 96, 2, 3).mean(axis=(1, 3))
    assert np.abs(half - full).mean() < 2.5


def test_ordinals_out_of_range(clip: Path) -> None:
    source = open_source(clip)
    for ordinals in ([40], [-1], [0, 5, 400]):
        with pytest.raises(UserError, match="source has 40"):
            source.read(ordinals)


def test_repeats_and_order_are_kept(clip: Path) -> None:
    asked = [7, 7, 39, 0, 7, 39]
    assert [ordinal_in(image) for image in open_source(clip).read(np.array(asked))] == asked


def test_a_stream_may_be_left_early_and_begun_again(clip: Path) -> None:
    source = open_source(clip)
    stream = source.stream(16, batch=4)
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert sum(len(batch) for batch in source.stream(16, batch=4)) == 40
    assert len(source) == 40


def test_two_streams_and_reads_between_do_not_disturb_each_other(clip: Path) -> None:
    source = open_source(clip)
    for one, two in zip(source.stream(batch=5), source.stream(batch=5), strict=True):
        np.testing.assert_array_equal(one, two)
        assert ordinal_in(source.read([33])[0]) == 33


def test_a_source_travels_to_other_processes(clip: Path) -> None:
    source = open_source(clip)
    source.read([20])
    copy: FrameSource = pickle.loads(pickle.dumps(source))  # noqa: S301  our own bytes
    np.testing.assert_array_equal(copy.read([5, 30]), source.read([5, 30]))
    child = os.fork()
    if child == 0:
        good = all(ordinal_in(source.read([n])[0]) == n for n in (2, 38, 21))
        os._exit(0 if good else 1)
    assert [ordinal_in(source.read([n])[0]) for n in (31, 8, 25)] == [31, 8, 25]
    assert os.waitpid(child, 0)[1] == 0


def test_a_file_that_shrinks_after_it_was_indexed_is_told(clip: Path) -> None:
    path = write_video(clip.with_name("a.mpg"), "mpeg2video", 40)
    source = open_source(path)
    assert len(source) == 40
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])
    with pytest.raises(UserError, match="changed meanwhile"):
        source.read([39])


def test_uneven_times_are_kept(tmp_path: Path) -> None:
    steps = np.random.default_rng(0).integers(30, 900, 40)
    times = np.cumsum(steps) - steps[0]
    for name in ("a.mp4", "a.mkv"):
        path = write_video(tmp_path / name, "libx264", 40, times=times, b_frames=2)
        source = open_source(path)
        np.testing.assert_allclose(source.times, times / 1000, atol=0.0015)
        assert [ordinal_in(image) for image in source.read(range(40))] == list(range(40))
        assert source.damaged == 0


def test_times_beside_the_video_come_first(clip: Path) -> None:
    clip.with_name("clip.times.csv").write_text(
        "number,seconds\n" + "".join(f"{n},{n * 0.3:.3f}\n" for n in range(40))
    )
    np.testing.assert_allclose(open_source(clip).times, np.arange(40) * 0.3)


def test_times_beside_the_video_may_come_later_than_the_index(clip: Path) -> None:
    assert open_source(clip).times[1] == pytest.approx(0.04)
    clip.with_name("clip.times.csv").write_text("number,seconds\n0,0\n39,78\n")
    np.testing.assert_allclose(open_source(clip).times, np.arange(40) * 2.0)


def test_odd_sizes(tmp_path: Path) -> None:
    for name, codec in (("a.avi", "mjpeg"), ("a.mpg", "mpeg2video"), ("b.avi", "mpeg4")):
        path = write_video(tmp_path / name, codec, 10, height=63, width=101)
        source = open_source(path)
        assert (source.height, source.width) == (63, 101)
        assert [ordinal_in(image) for image in source.read(range(10))] == list(range(10))
        assert [ordinal_in(source.read([n])[0]) for n in (7, 2)] == [7, 2]


def test_a_size_that_changes_midway_is_brought_to_the_first(tmp_path: Path) -> None:
    parts = [write_video(tmp_path / f"{h}.h264", "libx264", 15, height=h, width=96) for h in (64, 128)]
    path = tmp_path / "both.h264"
    path.write_bytes(b"".join(part.read_bytes() for part in parts))
    source = open_source(path)
    images = np.concatenate(list(source.stream()))
    assert images.shape == (30, 64, 96, 3)
    assert [ordinal_in(image) for image in images] == [*range(15), *range(15)]
    assert any("2 sizes" in note for note in source.notes)
    np.testing.assert_array_equal(source.read([20])[0], images[20])


def test_a_wish_for_rotation_is_not_followed_but_noted(tmp_path: Path) -> None:
    path = tmp_path / "turned.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        stream.set_display_rotation(90)
        for ordinal in range(5):
            frame = av.VideoFrame.from_ndarray(picture(ordinal), format="rgb24")
            frame.pts, frame.time_base = ordinal, Fraction(1, 25)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    source = open_source(path)
    assert source.read([0]).shape == (1, 64, 96, 3)
    np.testing.assert_array_equal(source.read(range(5)), decode_all(path))
    assert any("turned" in note for note in source.notes)


def test_limits(clip: Path) -> None:
    with pytest.raises(UserError, match="over the limit of 1,000 pixels"):
        open_source(clip, limits=Limits(pixels=1000))
    with pytest.raises(UserError, match="over the limit of 39"):
        open_source(clip, limits=Limits(frames=39))
    raw = write_video(clip.with_name("a.mpg"), "mpeg2video", 40)  # nothing says beforehand how long it is
    with pytest.raises(UserError, match="over the limit of 20"):
        len(open_source(raw, limits=Limits(frames=20)))
    with pytest.raises(UserError, match="hours"):
        list(open_source(raw, limits=Limits(hours=1 / 3600)).stream())


def test_the_real_clip(shared_data: Path, tmp_path: Path) -> None:
    path = next((shared_data / "tsr_pillcam_colon_video").glob("*.wmv"))
    source = open_source(path, cache=tmp_path)
    assert (source.declared, len(source), source.damaged) == (18, 18, 0)
    assert (source.height, source.width) == (576, 576)
    np.testing.assert_allclose(np.diff(source.times), 0.2, atol=0.002)
    plain = decode_all(path)
    np.testing.assert_array_equal(np.concatenate(list(source.stream())), plain)
    for ordinal in (17, 3, 9, 0):
        np.testing.assert_array_equal(source.read([ordinal])[0], plain[ordinal])
    assert not list(path.parent.glob(".*"))
