from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image
import pytest
import simplejpeg
from hypothesis import given, settings
from hypothesis import strategies as st
from videos import ordinal_in, picture

from devcem.errors import UserError
from devcem.frames import Limits, open_source
from devcem.frames.folder import number_of, numbered_files


def _write(folder: Path, names: dict[str, int]) -> Path:
    """*names*: file name -> what is painted in it."""
    folder.mkdir(exist_ok=True)
    for name, ordinal in names.items():
        if name.lower().endswith(".png"):
            PIL.Image.fromarray(picture(ordinal)).save(folder / name, "PNG")
        else:
            (folder / name).write_bytes(simplejpeg.encode_jpeg(picture(ordinal), 95))
    return folder


def test_numbers_come_from_the_names_in_natural_order(tmp_path: Path) -> None:
    folder = _write(tmp_path / "e", {"f_2.jpg": 2, "f_10.JPG": 10, "f_1.jpeg": 1, "f_100.png": 100})
    source = open_source(folder)
    assert source.numbers.tolist() == [1, 2, 10, 100]
    assert [ordinal_in(image) for image in source.read(range(4))] == [1, 2, 10, 100]
    assert [ordinal_in(image) for image in source.read([3, 0, 3])] == [100, 1, 100]
    assert (source.height, source.width, len(source), source.damaged) == (64, 96, 4, 0)
    assert source.read([]).shape == (0, 64, 96, 3)


def test_steps_are_no_gaps_and_gaps_are_told(tmp_path: Path) -> None:
    even = open_source(_write(tmp_path / "even", {f"frame_{n:06d}.jpg": n for n in range(100, 200, 5)}))
    assert (even.declared, even.decoded) == (20, 20)
    assert not any("missing" in note for note in even.notes)
    holes = open_source(_write(tmp_path / "holes", {f"{n}.jpg": n for n in (5, 10, 25, 30, 50)}))
    assert (holes.declared, holes.decoded, holes.damaged) == (10, 5, 0)
    assert "5 numbers are missing at 2 places: 15-20, 35-45" in holes.notes


def test_stream_and_read_give_the_same_at_every_size(tmp_path: Path) -> None:
    names = {f"{n}.{'png' if n % 3 else 'jpg'}": n for n in range(20)}
    source = open_source(_write(tmp_path / "e", names))
    for size in (None, 16, (40, 48), (100, 150)):
        streamed = list(source.stream(size, batch=6))
        assert [len(batch) for batch in streamed] == [6, 6, 6, 2]
        np.testing.assert_array_equal(np.concatenate(streamed), source.read(range(20), size))


def test_times(tmp_path: Path) -> None:
    folder = _write(tmp_path / "e.1", {f"{n}.jpg": n for n in (4, 5, 9)})
    assert open_source(folder).times.tolist() == [0.0, 0.2, 1.0]
    (tmp_path / "e.1.times.csv").write_text("number,seconds\n4,10.5\n9,12\n5,11\n77,99\n")
    source = open_source(folder)
    assert source.times.tolist() == [10.5, 11.0, 12.0]
    assert source.notes[0].startswith("3 numbers are missing at 1 places: 6-8")


def test_broken_pictures(tmp_path: Path) -> None:
    folder = _write(tmp_path / "e", {f"{n}.jpg": n for n in range(8)} | {"8.png": 8, "9.png": 9})
    (folder / "2.jpg").write_bytes(b"")
    (folder / "3.jpg").write_bytes(b"no picture at all")
    cut = folder / "5.jpg"
    cut.write_bytes(cut.read_bytes()[:-200])
    png = folder / "9.png"
    png.write_bytes(png.read_bytes()[:300])
    source = open_source(folder)
    assert source.numbers.tolist() == [0, 1, 4, 5, 6, 7, 8, 9]
    assert (source.declared, source.decoded, source.damaged) == (10, 8, 4)
    assert "2 pictures cannot be read: 2.jpg, 3.jpg" in source.notes
    assert "2 pictures are cut off: 5.jpg, 9.png" in source.notes
    images = source.read(range(8))
    assert ordinal_in(images[3]) == 5  # what is left of it
    assert ordinal_in(images[4]) == 6
    assert (images[7] == 128).all()
    assert source.damaged == 4


def test_what_is_broken_inside_is_found_when_read(tmp_path: Path) -> None:
    folder = _write(tmp_path / "e", {f"{n}.jpg": n for n in range(3)} | {"3.png": 3})
    for name in ("1.jpg", "3.png"):
        data = bytearray((folder / name).read_bytes())
        middle = len(data) // 2
        data[middle : middle + 40] = bytes([255, 217] * 20)
        (folder / name).write_bytes(bytes(data))
    source = open_source(folder)
    assert source.damaged == 0
    assert sum(len(batch) for batch in source.stream(batch=2)) == 4
    assert source.damaged == 2
    assert "2 pictures are broken inside: 1.jpg, 3.png" in source.notes


def test_what_is_no_picture_is_left_out_and_told(tmp_path: Path) -> None:
    folder = _write(tmp_path / "e", {"1.jpg": 1, "2.jpg": 2, "cover.jpg": 0})
    (folder / "notes.txt").write_text("x")
    (folder / "3.bmp").write_text("x")
    (folder / ".hidden_7.jpg").write_text("x")
    (folder / "4.jpg").mkdir()
    source = open_source(folder)
    assert source.numbers.tolist() == [1, 2]
    assert (
        "3 files are no numbered JPEG or PNG and were left out: 3.bmp, cover.jpg, notes.txt" in source.notes
    )


def test_kinds_of_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "e"
    folder.mkdir()
    image = PIL.Image.fromarray(picture(5))
    for number, mode in enumerate(("RGB", "L", "CMYK")):
        image.convert(mode).save(folder / f"{number}.jpg", quality=95)
    for number, mode in enumerate(("RGB", "L", "RGBA", "P", "1"), 3):
        image.convert(mode).save(folder / f"{number}.png")
    image.resize((192, 128)).save(folder / "8.jpg", quality=95)
    source = open_source(folder)
    images = source.read(range(9))
    assert [ordinal_in(image) for image in images] == [5] * 9
    assert source.damaged == 0
    assert "pictures of 2 sizes: all are brought to the first one's" in source.notes


def test_refusals(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UserError, match="no picture with a number"):
        open_source(empty)
    twice = _write(tmp_path / "twice", {"a_1.jpg": 1, "b_01.jpg": 1})
    with pytest.raises(UserError, match=r"'a_1.jpg' and 'b_01.jpg' both have the number 1"):
        open_source(twice)
    dead = tmp_path / "dead"
    dead.mkdir()
    (dead / "1.jpg").write_bytes(b"x")
    with pytest.raises(UserError, match="none of its 1 pictures"):
        open_source(dead)
    large = _write(tmp_path / "large", {"1.jpg": 1, "2.jpg": 2})
    with pytest.raises(UserError, match="over the limit of 100 pixels"):
        open_source(large, limits=Limits(pixels=100))
    with pytest.raises(UserError, match="over the limit of 1"):
        open_source(large, limits=Limits(frames=1))
    source = open_source(large)
    with pytest.raises(UserError, match="has 2"):
        source.read([2])
    (large / "2.jpg").unlink()
    with pytest.raises(UserError, match="cannot be read"):
        source.read([1])


@given(
    prefix=st.from_regex(r"[a-zA-Z_ .-]{0,8}", fullmatch=True),
    number=st.integers(0, 10**9),
    width=st.integers(0, 12),
)
def test_the_number_is_the_last_in_the_name(prefix: str, number: int, width: int) -> None:
    assert number_of(f"{prefix}{number:0{width}d}") == number
    assert number_of(f"7x{prefix}_{number:0{width}d}ab") == number


@given(st.text(alphabet=st.characters(exclude_categories=["Nd"]), max_size=20))
def test_no_digit_no_number(stem: str) -> None:
    assert number_of(stem) is None


def test_absurd_numbers_are_none() -> None:
    assert number_of("1" * 30) is None


@settings(max_examples=25, deadline=None)
@given(st.sets(st.integers(0, 100_000), min_size=1, max_size=30))
def test_order_is_that_of_the_numbers(tmp_path_factory: pytest.TempPathFactory, numbers: set[int]) -> None:
    folder = tmp_path_factory.mktemp("e")
    for number in numbers:
        (folder / f"a{number}.jpg").touch()
    found, note = numbered_files(folder)
    assert [number for number, _ in found] == sorted(numbers)
    assert note == ""
