from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcem.errors import UserError
from devcem.frames.stamps import known_times, mended, read_times, times_file


def test_where_times_lie(tmp_path: Path) -> None:
    (tmp_path / "exam.v2").mkdir()
    assert times_file(tmp_path / "exam.v2") == tmp_path / "exam.v2.times.csv"
    assert times_file(tmp_path / "exam.v2.avi") == tmp_path / "exam.v2.times.csv"


def test_known_times(tmp_path: Path) -> None:
    assert known_times(tmp_path / "a.avi", np.arange(3)) is None
    (tmp_path / "a.times.csv").write_text("\ufeffnumber, seconds\r\n0,0.0\r\n\r\n2,0.5\r\n")
    np.testing.assert_array_equal(known_times(tmp_path / "a.avi", np.arange(3)), [0, np.nan, 0.5])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("frame,time\n0,0\n", 1),
        ("", 1),
        ("number,seconds\n0,0\nx,1\n", 3),
        ("number,seconds\n0\n", 2),
        ("number,seconds\n0,nan\n", 2),
    ],
)
def test_errors_name_the_line(text: str, line: int, tmp_path: Path) -> None:
    file = tmp_path / "a.times.csv"
    file.write_text(text)
    with pytest.raises(UserError, match=f"line {line}"):
        read_times(file)


def test_gaps_between_are_interpolated_and_ends_go_on_at_the_rate() -> None:
    nan = np.nan
    times, notes = mended(np.array([nan, 1.0, nan, 2.0, nan, nan]), 10.0)
    np.testing.assert_allclose(times, [0.9, 1.0, 1.5, 2.0, 2.1, 2.2])
    assert notes == ["4 of 6 frames have no time stamp: worked out from others"]


def test_no_times_at_all() -> None:
    times, notes = mended(np.full(3, np.nan), 4.0)
    np.testing.assert_allclose(times, [0, 0.25, 0.5])
    assert notes == ["no time stamps: taken as 4 frames a second"]
    assert mended(np.empty(0), 4.0)[0].shape == (0,)


def test_falling_times_are_held() -> None:
    times, notes = mended(np.array([0.0, 2.0, 1.0, 3.0]), 1.0)
    np.testing.assert_allclose(times, [0, 2, 2, 3])
    assert len(notes) == 1


@given(st.lists(st.one_of(st.just(float("nan")), st.floats(-1e6, 1e6)), max_size=40), st.floats(0.1, 100))
def test_mended_times_are_whole_and_never_fall(times: list[float], rate: float) -> None:
    mended_times, _ = mended(np.array(times, float), rate)
    assert len(mended_times) == len(times)
    assert np.isfinite(mended_times).all()
    assert (np.diff(mended_times) >= 0).all()
