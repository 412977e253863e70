from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import simplejpeg
from burning import seen_through, tissue
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from videos import ordinal_in, picture, write_video

from devcem.errors import UserError
from devcem.frames import clip, open_source
from devcem.frames.clip import CHUNK, lens_view, read_clip, read_view, stretch
from devcem.frames.overlay import View, template
from devcem.frames.source import Frames, FrameSource

CIRCLE = View(256, 256, (12, 14, 244, 246), circle=(128.0, 130.0, 118.0))
SMALL = View(256, 256, (40, 40, 216, 216), circle=(128.0, 128.0, 88.0))
OCTAGON = View(240, 240, (20, 20, 220, 220), cuts=(40.0, 40.0, 40.0, 40.0))
WIDE = View(300, 400, (10, 60, 290, 340), circle=(150.0, 200.0, 140.0))
FLAT = View(120, 200, (0, 0, 120, 200), name="frame")
PILLCAM = template("pillcam-colon-2", 576, 576)
VIEWS = [CIRCLE, OCTAGON, WIDE, FLAT, PILLCAM]
NAMES = ["circle", "octagon", "wide", "flat", "pillcam"]
SIZES = [24, 31, 64, 97, 128, 160, 224, 256, 299, 400]


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clip, "_found", {})


def write_folder(folder: Path, frames: Frames, step: int = 1, quality: int = 0) -> FrameSource:
    """A folder of PNG pictures, or JPEG at *quality*, numbered from *step* in steps of it."""
    folder.mkdir()
    for place, frame in enumerate(frames):
        name = f"{(place + 1) * step}"
        if quality:
            (folder / f"{name}.jpg").write_bytes(
                simplejpeg.encode_jpeg(np.ascontiguousarray(frame), quality, colorsubsampling="420")
            )
        else:
            Image.fromarray(frame).save(folder / f"{name}.png")
    return open_source(folder)


def told(source: FrameSource, monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The ordinals of every call of `read` from now on."""
    asked: list[list[int]] = []
    read = source.read

    def reading(ordinals: Any, size: Any = None) -> Frames:
        asked.append([int(n) for n in ordinals])
        return read(ordinals, size)

    monkeypatch.setattr(source, "read", reading)
    return asked


@pytest.fixture
def stepping(tmp_path: Path) -> FrameSource:
    """Numbers 5, 10, 15, 20 and the seconds 1, 2, 4, 8."""
    (tmp_path / "exam.times.csv").write_text("number,seconds\n5,1\n10,2\n15,4\n20,8\n")
    return write_folder(tmp_path / "exam", np.stack([picture(5 * (n + 1)) for n in range(4)]), step=5)


@pytest.mark.parametrize(
    ("start", "stop", "ordinals"),
    [
        (None, None, [0, 1, 2, 3]),
        (10, 20, [1, 2]),
        (6, 21, [1, 2, 3]),
        (None, 15, [0, 1]),
        (11, None, [2, 3]),
        (-3, 6, [0]),
        (5, 5, []),
        (6, 10, []),
        (21, 99, []),
        (20, 10, []),
    ],
)
def test_a_stretch_is_half_open_and_counts_in_numbers(
    stepping: FrameSource, start: int | None, stop: int | None, ordinals: list[int]
) -> None:
    assert stretch(stepping, start, stop).tolist() == ordinals
    seen = read_clip(stepping, 0, start, stop, view="frame")
    assert [ordinal_in(frame) for frame in seen.frames] == [5 * (n + 1) for n in ordinals]
    assert seen.numbers.tolist() == [5 * (n + 1) for n in ordinals]
    assert seen.times.tolist() == [float(2**n) for n in ordinals]


@pytest.mark.parametrize("size", [0, 20])
def test_frames_in_any_order_with_repeats_or_none(stepping: FrameSource, size: int) -> None:
    for ordinals in ([3, 0, 3, 1], np.array([2]), []):
        seen = read_clip(stepping, size, ordinals=ordinals, view="frame")
        assert seen.numbers.tolist() == [5 * (n + 1) for n in ordinals]
        assert seen.times.tolist() == [float(2**n) for n in ordinals]
        assert seen.frames.shape == (len(ordinals), *((size, size) if size else (64, 96)), 3)
        assert seen.frames.dtype == np.uint8
        for frame, ordinal in zip(seen.frames, ordinals, strict=True):
            assert ordinal_in(frame) == 5 * (ordinal + 1)


def test_frames_that_are_not_there(stepping: FrameSource) -> None:
    for ordinals in ([4], [-1]):
        with pytest.raises(UserError, match=r"there is no frame (4|-1)"):
            read_clip(stepping, 20, ordinals=ordinals, view="frame")


@pytest.mark.parametrize("count", [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 6])
def test_long_clips_are_read_in_chunks_and_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (count, 6, 6, 3), dtype=np.uint8)
    source = write_folder(tmp_path / "exam", frames)
    asked = told(source, monkeypatch)
    np.testing.assert_array_equal(read_clip(source, 6, view="frame").frames, frames)
    assert [n for chunk in asked for n in chunk] == list(range(count))
    assert max(map(len, asked)) <= CHUNK


def test_a_video_by_number_and_second(tmp_path: Path) -> None:
    times = np.array([0, 200, 300, 1000, 1100, 1900, 2000, 2500])
    source = open_source(write_video(tmp_path / "exam.mp4", "libx264", 8, times=times))
    seen = read_clip(source, 48, 2, 6, view="frame")
    assert [ordinal_in(frame) for frame in seen.frames] == [2, 3, 4, 5] == seen.numbers.tolist()
    np.testing.assert_allclose(seen.times - source.times[0], times[2:6] / 1000, atol=1e-3)
    assert seen.frames.shape == (4, 48, 48, 3)


def test_the_view_as_large_as_it_was_filmed(tmp_path: Path) -> None:
    frames = np.random.default_rng(0).integers(1, 256, (2, 300, 400, 3), dtype=np.uint8)
    source = write_folder(tmp_path / "exam", frames)
    y, x = np.mgrid[:300, :400] + 0.5
    lit = (y - 150) ** 2 + (x - 200) ** 2 < 138**2  # two pixels of margin
    lit &= (y > 12) & (y < 288) & (x > 62) & (x < 338)
    expected = np.where(lit[..., None], frames, 0)[:, 10:290, 60:340]
    np.testing.assert_array_equal(read_clip(source, 0, view=WIDE).frames, expected)
    np.testing.assert_array_equal(read_clip(source, 280, view=WIDE).frames, expected)


def gradient(view: View) -> Frames:
    """[1,H,W,3]: red grows from left to right, green from top to bottom, 0 to 255 across the frame."""
    y, x = np.mgrid[: view.height, : view.width] + 0.5
    channels = [x * 255 / view.width, y * 255 / view.height, np.full_like(x, 128)]
    return np.round(np.stack(channels, -1))[None].astype(np.uint8)


@pytest.mark.parametrize("quality", [0, 98], ids=["png", "jpeg"])
@pytest.mark.parametrize("view", VIEWS, ids=NAMES)
def test_every_size_shows_the_same_box_of_the_frame(view: View, quality: int, tmp_path: Path) -> None:
    source = write_folder(tmp_path / "exam", gradient(view), quality=quality)
    top, left, bottom, right = view.box
    for size in SIZES:
        (seen,) = read_view(source, [0], size, view).astype(float)
        assert seen.shape == (size, size, 3)
        middle = (np.arange(size) + 0.5) / size
        y, x = top + middle * (bottom - top), left + middle * (right - left)  # where its pixels lie
        expected = np.stack(np.broadcast_arrays(x[None] * 255 / view.width, y[:, None] * 255 / view.height))
        step = 255 / size  # what a pixel of the result spans, at most
        off = np.abs(np.moveaxis(seen[..., :2], -1, 0) - expected)
        far = np.hypot(*np.meshgrid(middle - 0.5, middle - 0.5)) < 0.4  # inside any view
        assert off[:, far].size
        assert off[:, far].max() < 4 + 1.01 * step, size


@pytest.mark.parametrize("quality", [0, 85], ids=["png", "jpeg"])
@pytest.mark.parametrize(
    "view", [view for view in VIEWS if view.kind != "frame"], ids=["circle", "octagon", "wide", "pillcam"]
)
def test_what_stands_beside_the_view_leaks_into_no_size(view: View, quality: int, tmp_path: Path) -> None:
    """All white outside and black inside: whatever is light afterwards was burnt in."""
    frames = np.where(view.mask(margin=0), np.uint8(0), np.uint8(255))[None, ..., None].repeat(3, -1)
    source = write_folder(tmp_path / "exam", frames, quality=quality)
    for size in [0, *SIZES]:
        seen = read_view(source, [0], size, view)
        assert seen.max() <= (0 if not quality else 40), size  # JPEG rings all over a block of 8 pixels


def test_tissue_survives_where_the_lens_sees(tmp_path: Path) -> None:
    """The other side of the test above: what is masked is little more than what lies outside."""
    for place, view in enumerate(VIEWS):
        white = np.full((1, view.height, view.width, 3), 255, np.uint8)
        source = write_folder(tmp_path / f"{place}", white)
        for size in (64, 160, 224):
            (seen,) = read_view(source, [0], size, view)
            top, left, bottom, right = view.box
            share = view.mask(margin=0).sum() / ((bottom - top) * (right - left))
            lost = share - seen.mean() / 255
            assert -0.005 < lost < 4 * (2 + 1) / size, (view, size)  # a margin all around, twice over


def test_scaling_down_averages(tmp_path: Path) -> None:
    """Noise halved in size has half the deviation; picking every other pixel would keep it."""
    noise = np.random.default_rng(0).integers(0, 256, (1, 128, 128, 1), dtype=np.uint8).repeat(3, -1)
    source = write_folder(tmp_path / "exam", noise)
    (seen,) = read_view(source, [0], 64, template("frame", 128, 128)).astype(float)
    blocks = noise[0].reshape(64, 2, 64, 2, 3).mean((1, 3))
    assert np.abs(seen - blocks).mean() < 3
    assert np.corrcoef(seen.ravel(), blocks.ravel())[0, 1] > 0.99


@settings(deadline=None, max_examples=200)
@given(
    height=st.integers(40, 800),
    width=st.integers(40, 800),
    share=st.tuples(*[st.floats(0, 0.3)] * 4),
    size=st.integers(0, 500),
    whole=st.booleans(),
)
def test_what_is_decoded_is_no_coarser_than_what_is_wanted(
    height: int, width: int, share: tuple[float, ...], size: int, whole: bool
) -> None:
    a, b, c, d = (0.0,) * 4 if whole else share
    box = (a * height, b * width, (1 - c) * height, (1 - d) * width)
    view = View(height, width, box, circle=None if whole else (height / 2, width / 2, 10.0))
    decoded = clip._decoded_size(view, size)
    if decoded is None:
        return
    small = view.at(*decoded)  # a shape in which it can't be found again would raise
    assert decoded[0] <= height and decoded[1] <= width
    frames = np.zeros((1, *decoded, 3), np.uint8)
    assert min(small.crop(frames).shape[1:3]) >= size - 1


def test_a_view_is_given_by_itself_or_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_folder(tmp_path / "exam", np.zeros((1, 288, 288, 3), np.uint8))
    asked = told(source, monkeypatch)
    assert lens_view(source, View(288, 288, CIRCLE.box)) == View(288, 288, CIRCLE.box)
    assert lens_view(source, PILLCAM) == PILLCAM.at(288, 288)
    assert lens_view(source, "frame").box == (0, 0, 288, 288)
    assert lens_view(source, "pillcam-colon-2").box == (16, 16, 272, 272)  # at this source's scale
    assert asked == []
    with pytest.raises(UserError, match=r"no view template is called 'pilcam'.*use one of"):
        read_clip(source, 20, view="pilcam")


@pytest.mark.parametrize("size", [0, 20, 100, 500])
def test_a_view_of_another_shape_is_refused_at_any_size(tmp_path: Path, size: int) -> None:
    source = write_folder(tmp_path / "exam", np.full((1, 300, 400, 3), 200, np.uint8))
    for view in (CIRCLE, "pillcam-colon-2"):
        with pytest.raises(UserError, match="400x300 are not a scaled"):
            read_clip(source, size, view=view)


def near(view: View, true: View) -> bool:
    a, b = view.mask(margin=0), true.mask(margin=0)
    return bool((a & b).sum() / (a | b).sum() > 0.95)


def test_a_view_is_found_once_until_the_files_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "exam"
    source = write_folder(folder, seen_through(tissue(12, 256, 256), CIRCLE))
    asked = told(source, monkeypatch)
    found = lens_view(source)
    assert near(found, CIRCLE)
    assert len(asked) == 1
    assert lens_view(source) is found
    again = open_source(folder)
    asked_again = told(again, monkeypatch)
    assert lens_view(again) is found
    assert (len(asked), len(asked_again)) == (1, 0)
    for place, frame in enumerate(seen_through(tissue(12, 256, 256), SMALL)):
        Image.fromarray(frame).save(folder / f"{place + 1}.png")
        os.utime(folder / f"{place + 1}.png", (1, 1))
    assert near(lens_view(open_source(folder)), SMALL)


def write_pictures(path: Path, frames: Frames) -> Path:
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("mjpeg", rate=5)
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = "yuvj420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def test_a_rewritten_video_is_looked_at_again(tmp_path: Path) -> None:
    for true in (CIRCLE, SMALL):
        video = write_pictures(tmp_path / "exam.avi", seen_through(tissue(12, 256, 256), true))
        assert near(lens_view(open_source(video)), true)


def test_a_view_that_can_not_be_found_is_said_with_the_source(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "exam", np.zeros((3, 100, 100, 3), np.uint8))
    with pytest.raises(UserError, match=r"exam: no lens view was found.*'frame' if nothing is burnt in"):
        read_clip(source, 20)


def test_real_frames_against_pillow(shared_data: Path) -> None:
    folder = shared_data / "captiv8_pillcam_colon2" / "frames"
    source = open_source(folder)
    seen = read_clip(source, 224)
    files = sorted(folder.iterdir())
    assert seen.numbers.tolist() == [int(file.stem.removeprefix("thumbnail_")) for file in files]
    y, x = np.mgrid[:224, :224] + 0.5
    inside = np.hypot(y - 112, x - 112) < 112
    for frame, file in zip(seen.frames, files, strict=True):
        box = Image.open(file).convert("RGB").crop((32, 32, 544, 544))
        expected = np.asarray(box.resize((224, 224), Image.Resampling.BOX)).astype(float)
        assert np.abs(frame - expected)[inside].mean() < 4
        assert not frame[np.hypot(y - 112, x - 112) > 122].any()
