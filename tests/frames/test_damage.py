"""What is broken is counted, what is left is decoded, and the same each time."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from videos import decode_all, ordinal_in, overwrite, truncate, write_video

from devcem.errors import UserError
from devcem.frames import open_source

FRAMES = 120
H265 = {"options": {"x265-params": "log-level=none:pools=1:keyint=12"}}
KINDS = {
    "mpg": ("a.mpg", "mpeg2video", {"b_frames": 2}),
    "avi": ("a.avi", "libx264", {}),
    "avi-mpeg4": ("a.avi", "mpeg4", {}),
    "mjpeg": ("a.avi", "mjpeg", {"gop": 1}),
    "mp4": ("a.mp4", "libx264", {"b_frames": 2, "container_options": {"movflags": "+faststart"}}),
    "hevc": ("a.mp4", "libx265", H265),
    "mkv": ("a.mkv", "libx264", {"b_frames": 2}),
    "wmv": ("a.wmv", "wmv2", {}),
}


def test_a_truncated_avi_of_which_the_decoder_says_nothing(tmp_path: Path) -> None:
    """notes/data-formats.md: 8,244 of 20,000 declared frames and no error from PyAV."""
    path = write_video(tmp_path / "a.avi", "mjpeg", 500, gop=1)
    truncate(path, 0.41)
    silent = len(decode_all(path))  # no error
    assert silent < 250
    source = open_source(path)
    assert source.declared == 500  # at once, without a decode
    assert source.decoded == silent == len(source)
    assert source.damaged >= 500 - silent
    assert "cut off" in " ".join(source.notes)
    assert f"{500 - silent} of 500 frames are missing" in " ".join(source.notes)


def test_decoding_goes_on_after_bad_packets(tmp_path: Path) -> None:
    """notes/data-formats.md: a stock loop stops at frame 45, going on recovers 567 with 1 bad packet."""
    path = write_video(tmp_path / "a.mpg", "mpeg2video", 240, b_frames=2, texture=40)
    for seed in range(20):  # find a place where the stock loop stops early
        whole = path.read_bytes()
        overwrite(path, path.stat().st_size // 5000, seed)
        stock = _stock_loop(path)
        if stock < 120:
            break
        path.write_bytes(whole)
    assert stock < 120, "no seed stops the stock loop: the test shows nothing"
    source = open_source(path)
    assert 230 <= len(source) <= 240
    assert source.damaged > 0
    assert any("packets could not be decoded" in note for note in source.notes)
    streamed = np.concatenate(list(source.stream(48)))
    assert len(streamed) == len(source)
    np.testing.assert_array_equal(source.read(range(len(source)), 48), streamed)


@pytest.mark.long
def test_the_figures_of_the_notes_at_full_scale(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.avi", "mjpeg", 20_000, gop=1)
    truncate(path, 0.4122)
    silent = len(decode_all(path))
    source = open_source(path)
    assert (source.declared, source.decoded) == (20_000, silent)
    assert source.damaged >= 20_000 - silent

    options = {"b": "9000000", "maxrate": "9500000", "bufsize": "1835008"}
    path = write_video(
        tmp_path / "a.mpg", "mpeg2video", 600, height=576, width=576, b_frames=2, texture=60, options=options
    )
    assert path.stat().st_size > 10_000_000
    overwrite(path, 4000)
    assert _stock_loop(path) < 300
    source = open_source(path)
    assert 500 < len(source) <= 600
    assert source.damaged > 0


@pytest.mark.parametrize("kind", KINDS)
def test_overwritten_bytes(kind: str, tmp_path: Path) -> None:
    name, codec, options = KINDS[kind]
    path = write_video(tmp_path / name, codec, FRAMES, texture=20, **options)
    header = path.read_bytes()[
        :8192
    ]  # what is overwritten here makes the file another thing than a damaged video
    few = max(20, path.stat().st_size // 3000)
    overwrite(path, 200 if kind == "hevc" else few, seed=3)  # of a few, its decoder says nothing
    path.write_bytes(header + path.read_bytes()[8192:])
    source = open_source(path, cache=tmp_path / "cache")
    first = np.concatenate(list(source.stream(40)))  # decoded before anything is known of it
    assert source.damaged > 0
    assert FRAMES * 0.7 < len(source) <= source.declared <= FRAMES
    assert len(first) == len(source) == len(source.times) == len(source.numbers)
    assert (np.diff(source.times) >= 0).all()
    np.testing.assert_array_equal(np.concatenate(list(source.stream(40))), first)
    order = np.random.default_rng(0).permutation(len(source))[:12]
    np.testing.assert_array_equal(np.concatenate([source.read([n], 40) for n in order]), first[order])
    anew = open_source(path, cache=tmp_path / "other")
    assert (len(anew), anew.damaged, anew.notes) == (len(source), source.damaged, source.notes)
    np.testing.assert_array_equal(np.concatenate(list(anew.stream(40))), first)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.4, 0.9])
def test_truncation_is_noticed(kind: str, share: float, tmp_path: Path) -> None:
    name, codec, options = KINDS[kind]
    path = write_video(tmp_path / name, codec, FRAMES, texture=20, **options)
    truncate(path, share)
    if kind == "hevc":  # its table of contents is at the end
        with pytest.raises(UserError, match="moov"):
            open_source(path)
        return
    source = open_source(path)
    streamed = np.concatenate(list(source.stream()))
    notes = " ".join(source.notes)
    assert len(streamed) == len(source)
    if kind == "mpg":  # how much is missing cannot be known
        assert len(source) < FRAMES
        assert "cut off" in notes or "could not be decoded" in notes or "cannot be known" in notes
    else:
        assert "cut off" in notes
        assert abs(source.declared - FRAMES) <= 3
        assert source.damaged >= FRAMES - len(source) - 3
    if share < 0.5:  # of the rest, it may be the index alone that is lost
        assert source.damaged > 0
    told = [ordinal_in(image) for image in streamed[: len(source) - 2]]
    assert told == list(range(len(source) - 2))


def test_a_sound_file_is_called_sound(tmp_path: Path) -> None:
    for kind, (name, codec, options) in KINDS.items():
        source = open_source(write_video(tmp_path / f"{kind}-{name}", codec, 30, **options))
        assert (source.declared, source.decoded, source.damaged) == (30, 30, 0), kind
        assert not any("cut" in note for note in source.notes), kind


def _stock_loop(path: Path) -> int:
    count = 0
    with av.open(str(path)) as container:
        try:
            for _ in container.decode(video=0):
                count += 1
        except av.error.InvalidDataError:
            pass
    return count
