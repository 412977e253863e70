"""What is written can be read back by somebody else's decoder, frame by frame."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from devcem.errors import UserError
from devcem.frames import open_source
from devcem.synthetic.encode import Format, concatenate, is_recorded, media_path, record, write_times


@pytest.fixture
def frames() -> np.ndarray:
    """30 frames 48x64 whose brightness counts them."""
    ramp = np.linspace(0, 40, 64).astype(np.uint8)
    return np.stack([np.broadcast_to((7 * n + ramp)[None, :, None], (48, 64, 3)) for n in range(30)])


def decoded(path: Path) -> np.ndarray:
    with av.open(str(path)) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


def difference(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a.astype(int) - b).mean(axis=(1, 2, 3)).max())


@pytest.mark.parametrize("format", ["avi", "mp4"])
def test_videos(tmp_path: Path, frames: np.ndarray, format: Format) -> None:
    path = media_path(tmp_path / "deep" / "er", "clip", format)
    assert not is_recorded(path, format, 0, 30)
    record([frames[:8], frames[8:9], frames[9:]], path, format)
    assert is_recorded(path, format, 0, 30)
    assert difference(decoded(path), frames) < 3
    source = open_source(path)
    assert (source.declared, source.decoded, source.damaged) == (30, 30, 0)
    again = path.with_name(f"again.{format}")
    record([frames], again, format)
    assert again.read_bytes() == path.read_bytes()


def test_pictures(tmp_path: Path, frames: np.ndarray) -> None:
    path = media_path(tmp_path, "clip", "jpg")
    record([frames[:20]], path, "jpg", first=100)
    assert is_recorded(path, "jpg", 100, 20)
    assert not is_recorded(path, "jpg", 100, 21)
    names = sorted(picture.name for picture in path.iterdir())
    assert names[0] == "frame_000100.jpg"
    assert names[-1] == "frame_000119.jpg"
    read = np.stack([np.asarray(Image.open(path / name)) for name in names])
    assert difference(read, frames[:20]) < 3


@pytest.mark.parametrize("format", ["avi", "mp4"])
def test_concatenation_loses_nothing(tmp_path: Path, frames: np.ndarray, format: Format) -> None:
    chunks = []
    for number, part in enumerate((frames[:11], frames[11:12], frames[12:])):
        chunks.append(media_path(tmp_path, str(number), format))
        record([part], chunks[-1], format)
    whole = media_path(tmp_path / "media", "whole", format)
    concatenate(chunks, whole)
    assert np.array_equal(decoded(whole), np.concatenate([decoded(chunk) for chunk in chunks]))
    assert open_source(whole).declared == 30
    with av.open(str(whole)) as container:
        stamps = [frame.time for frame in container.decode(video=0)]
    assert stamps == pytest.approx([n / 10 for n in range(30)])


def test_times(tmp_path: Path) -> None:
    write_times(tmp_path / "clip.avi", np.array([0.0, 0.25, 0.2786]))
    text = (tmp_path / "clip.times.csv").read_text()
    assert text == "number,seconds\n0,0.000\n1,0.250\n2,0.279\n"
    write_times(tmp_path / "pictures", np.array([1.0]))
    assert (tmp_path / "pictures.times.csv").exists()


def test_a_file_that_could_not_be_written_is_not_there(
    tmp_path: Path, frames: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("devcem.files.os.fsync", full)
    with pytest.raises(UserError, match="disk is full"):
        record([frames], tmp_path / "clip.avi", "avi")
    assert list(tmp_path.iterdir()) == []
