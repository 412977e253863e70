from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from devcem.errors import UserError
from devcem.evaluation.figures import side_by_side
from devcem.evaluation.figures.screen import CURSOR, HEAD, LEFT, RIGHT, TRACE
from devcem.evaluation.strip import attention_frames


def film(count: int, height: int = 121, width: int = 255) -> np.ndarray:
    """Soft pictures, so that a codec keeps them: [T,H,W,3]."""
    y, x, t = np.mgrid[0:height, 0:width, 0:count].astype(np.float64)
    waves = [120 + 60 * np.sin((x + 3 * t) / 30 + c) + 60 * np.cos(y / 25 + c) for c in range(3)]
    return np.stack(waves, axis=-1).transpose(2, 0, 1, 3).clip(0, 255).astype(np.uint8)


def decoded(path: Path) -> tuple[np.ndarray, Any]:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]
        return np.stack(frames), (stream.codec_context.name, stream.average_rate)


def halves(frames: np.ndarray, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The two pictures of every screen."""
    start = (frames.shape[2] - 2 * width - 8) // 2
    rows = slice(HEAD + TRACE, HEAD + TRACE + height)
    right = start + width + 8
    return frames[:, rows, start : start + width], frames[:, rows, right : right + width]


@pytest.mark.parametrize(("name", "codec"), [("a.mp4", "h264"), ("b.AVI", "mjpeg")])
def test_what_is_written_is_read_again(tmp_path: Path, name: str, codec: str) -> None:
    frames, attention = film(9), np.array([1, 2, 3, 4, 5, 4, 3, 0, 5]) / 31
    path = side_by_side(
        tmp_path / name, frames, attention, fps=7, title="P1, ps-devcem", notices=["Synthetic video."]
    )
    assert [*tmp_path.iterdir()] == [path]
    shown, (kind, rate) = decoded(path)
    assert (kind, rate) == (codec, 7)
    assert len(shown) == 9
    assert shown.shape[1] % 2 == shown.shape[2] % 2 == 0
    left, right = halves(shown, 121, 255)
    inner = (slice(None), slice(4, -4), slice(4, -4))  # a codec blends the rims
    assert np.abs(left[inner].astype(int) - frames[inner]).mean() < 3
    assert np.abs(right[inner].astype(int) - attention_frames(frames, attention)[inner]).mean() < 3
    light = right.mean(axis=(1, 2, 3)) / left.mean(axis=(1, 2, 3))
    assert light[4] == pytest.approx(1, abs=0.03) and light[8] == pytest.approx(1, abs=0.03)
    assert light[0] < light[1] < light[2] < light[3] < 0.95
    assert light[7] < 0.02


def test_the_cursor_moves_along_the_trace(tmp_path: Path) -> None:
    shown, _ = decoded(side_by_side(tmp_path / "a.avi", film(6), np.ones(6)))
    trace = shown[:, HEAD + 10 : HEAD + TRACE - 30].astype(int)
    near = np.abs(trace - CURSOR).sum(axis=3).mean(axis=1)  # [T,W]
    across = shown.shape[2] - LEFT - RIGHT
    np.testing.assert_allclose(near.argmin(axis=1), LEFT + (np.arange(6) + 0.5) / 6 * across, atol=2)


def test_the_notice_the_clock_and_the_classes_stand_in_the_picture(tmp_path: Path) -> None:
    """What differs in the pixels where these are drawn, and nowhere else."""
    frames, attention = film(3), np.ones(3)
    plain, _ = decoded(side_by_side(tmp_path / "a.avi", frames, attention))
    below = plain[0, HEAD + TRACE + 121 + 18 :]
    assert (below < 120).any() and below.mean() > 150  # the notice, dark on white
    timed, _ = decoded(side_by_side(tmp_path / "b.avi", frames, attention, [0, 0.5, 3661.5]))
    assert np.abs(timed[:, :HEAD].astype(int) - plain[:, :HEAD]).max() > 100
    assert np.abs(timed[1, :HEAD].astype(int) - timed[2, :HEAD]).max() > 100
    scored, _ = decoded(
        side_by_side(
            tmp_path / "c.avi", frames, attention, classes=[*"abcdef"], frame_scores=np.eye(3, 6) / 2
        )
    )
    assert np.abs(scored[:, HEAD : HEAD + TRACE].astype(int) - plain[:, HEAD : HEAD + TRACE]).max() > 100
    assert np.abs(scored[:, HEAD + TRACE + 8 :].astype(int) - plain[:, HEAD + TRACE + 8 :]).max() < 30


def test_frames_may_come_one_by_one_or_in_batches(tmp_path: Path) -> None:
    frames, attention = film(5), np.arange(5)

    def batches() -> Iterator[np.ndarray]:
        yield frames[:2]
        yield frames[2]
        yield frames[3:]

    one = side_by_side(tmp_path / "a.mp4", frames, attention).read_bytes()
    assert side_by_side(tmp_path / "b.mp4", batches(), attention).read_bytes() == one


def test_a_small_video_has_room_for_the_notice(tmp_path: Path) -> None:
    frames = film(2, 33, 31)
    shown, _ = decoded(side_by_side(tmp_path / "a.avi", frames, [1, 1]))
    assert shown.shape[2] == 480
    left, right = halves(shown, 33, 31)
    assert np.abs(left[:, 8:-8, 8:-8].astype(int) - frames[:, 8:-8, 8:-8]).mean() < 6
    assert np.abs(right[:, 8:-8, 8:-8].astype(int) - frames[:, 8:-8, 8:-8]).mean() < 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attention": np.ones(3)}, "more than the 3 frames"),
        ({"attention": np.ones(5)}, "4 frames for 5"),
        ({"attention": [1, 1, 1, -1]}, "not negative"),
        ({"times": [1, 2]}, "times"),
        ({"classes": ["a"], "frame_scores": np.ones((4, 2))}, "frame_scores"),
        ({"classes": ["a"], "frame_scores": np.full((4, 1), np.nan)}, "finite"),
        ({"frames": [*film(3), film(1, 20, 20)[0]]}, "among frames of"),
        ({"frames": []}, "0 frames for 4"),
    ],
)
def test_what_does_not_fit_leaves_no_file(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        side_by_side(tmp_path / "a.mp4", **({"frames": film(4), "attention": np.ones(4)} | change))
    assert not [*tmp_path.iterdir()]


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"\.mp4 or \.avi"):
        side_by_side(tmp_path / "a.gif", film(1), [1])
