"""Every kind of mistake, planted in one dataset, is found at its line and column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from devcem.errors import UserError
from devcem.labels import Problem, check_dataset, load_dataset, load_runs
from devcem.labels.problems import errors

Folder = Callable[..., Path]

SEGMENTS = (
    # line 1 is the header: segment,source,start,stop,patient,split,labels,unknown,note
    b's01,a.avi,0,50,p1,train,polyp,,"a note\nover two, three\nlines"\n'  # 2 to 4: sound
    b"s02,a.avi,0,50,p1,train,polpy;normal,,\n"  # 5
    b"s03,a.avi,0,50,p1,train,polyp; Tumor ,debri,\n"  # 6: Tumor is no class here
    b"s04,a.avi,zero,5O,p1,train,polyp,,\n"  # 7
    b"s05,a.avi,50,50,p1,train,polyp,,\n"  # 8
    b"s01,a.avi,100,150,p1,train,polyp,,\n"  # 9: id twice
    b"s07,a.avi,12.0,-3,p1,training,polyp,,\n"  # 10
    b"s08,../../etc/passwd,0,50,p1,train,polyp,,\n"  # 11
    b"s09,b\\c.avi,0,50,p1,train,polyp,,\n"  # 12
    b"s10,/a.avi,0,50,p1,train,polyp,,\n"  # 13
    b"s11,a.avi,0,50,p1,train,polyp,polyp;erosion,\n"  # 14
    b"s12,a.avi,200,250,p1,train,polyp,erosion;ULCUS,\n"  # 15: the alias repeats erosion
    b"s13,a.avi,200,250,p1,train,normal;polyp;debris,,\n"  # 16
    b"s14,a.avi,300,350,p1,train,,,\n"  # 17: empty labels
    b"s15,a.avi,300,350,p1,train,,normal,\n"  # 18: sound, normal is unknown
    b"s16,a.avi,400,450,p1,train,polyp,debris\n"  # 19: 8 cells
    b"s17,a.avi,400,450,p1,train,polyp,debris,,x,y\n"  # 20: 11 cells
    b's18,a.avi,400,450,p1,train,"polyp"x,debris,\n'  # 21: quotes
    b"s19,a.avi,500,550,p1,train,\xf8dem,,\n"  # 22: a Latin-1 byte
    b"s20,a.avi,0,50,p1,test,polyp,,\n"  # 23: patient and frames on both sides
    b"s21,c.avi,0,50,,train,polyp,,\n"  # 24: no patient, no file
    b"s22,a.avi,600,650,p2,train,polyp;;debris;,,\n"  # 25: another patient of a.avi, empty places
    b"s23,a.avi,700,750,p1,train,pseudopolp;polp,,\n"  # 26: the second name hides in the first
    b",,700,750,p1,train,polyp,,\n"  # 27
    b"s24,a.avi,800,850,p\t1,train,polyp,,\n"  # 28
    b's25,a.avi,900,950,p1,train,"polyp,,\n'  # 29: quotes that never close
    b"s26, a.avi ,900 , 950,p1,train, polyp ; debris ,,\r\n"  # 30: spaces and CRLF are fine
    b"\n"
    b"s28,C:\\a.avi,0,50,p1,train,polyp,,\n"  # 32
    b"s29,b\\..\\..\\..\\x.avi,0,50,p1,train,polyp,,\n"  # 33
)
RUNS = (
    # line 1 is the header: segment,start,stop,labels,unknown
    "s01,0,10,polyp,\n"  # 2
    "s01,5,12,polyp,\n"  # 3: twice, the same truth
    "s01,8,20,normal,\n"  # 4: twice, another truth; normal is no contradiction
    "s01,20,51,polyp,\n"  # 5
    "s01,60,70,polyp,\n"  # 6
    "x01,0,10,polyp,\n"  # 7
    "s04,0,10,polyp,\n"  # 8: s04 is broken, but it is there
    "s01,20,20,polyp,\n"  # 9
    "s12,200,210,ulcus,\n"  # 10: unknown in the segment, so it may be seen
    "s01,30,33,polyp;Ulcus,\n"  # 11: overlaps line 5, and erosion is absent in s01
)
S, R = "segments.csv", "frames.csv"
EXPECTED = {
    ("error", S, 5, 25, "polpy", "polyp"),
    ("error", S, 6, 32, "Tumor", None),
    ("error", S, 6, 39, "debri", "debris"),
    ("error", S, 7, 11, "zero", None),
    ("error", S, 7, 16, "5O", None),
    ("error", S, 8, 14, "50", None),
    ("error", S, 9, 1, "s01", None),
    ("error", S, 10, 11, "12.0", "12"),
    ("error", S, 10, 16, "-3", None),
    ("error", S, 10, 22, "training", "train"),
    ("error", S, 11, 5, "../../etc/passwd", None),
    ("error", S, 12, 5, "b\\c.avi", "b/c.avi"),
    ("error", S, 13, 5, "/a.avi", None),
    ("error", S, 14, 31, "polyp", None),
    ("warning", S, 15, 42, "ULCUS", None),
    ("warning", S, 16, 28, "normal;polyp;debris", None),
    ("warning", S, 17, 28, "", None),
    ("error", S, 19, 34, "s16,a.avi,400,450,p1,train,polyp,debris", None),
    ("error", S, 20, 42, "s17,a.avi,400,450,p1,train,polyp,debris,,x,y", None),
    ("error", S, 21, 34, 's18,a.avi,400,450,p1,train,"polyp"x,debris,', None),
    ("error", S, 22, 28, "byte 0xf8", None),
    ("error", S, 22, 28, "ødem", None),
    ("warning", S, 23, 16, "p1", None),
    ("warning", S, 23, 19, "test", None),
    ("warning", S, 24, 5, "c.avi", None),
    ("warning", S, 24, 16, "", None),
    ("warning", S, 25, 19, "p2", None),
    ("warning", S, 25, 34, "", None),
    ("warning", S, 25, 42, "", None),
    ("error", S, 26, 28, "pseudopolp", None),
    ("error", S, 26, 39, "polp", "polyp"),
    ("error", S, 27, 1, "", None),
    ("error", S, 27, 2, "", None),
    ("error", S, 28, 19, "p\t1", None),
    ("error", S, 29, 28, 's25,a.avi,900,950,p1,train,"polyp,,', None),
    ("error", S, 32, 5, "C:\\a.avi", None),
    ("error", S, 33, 5, "b\\..\\..\\..\\x.avi", None),
    ("warning", R, 3, 5, "5", None),
    ("error", R, 4, 5, "8", None),
    ("error", R, 5, 8, "51", None),
    ("error", R, 6, 5, "60", None),
    ("error", R, 7, 1, "x01", "s01"),
    ("error", R, 9, 8, "20", None),
    ("error", R, 11, 5, "30", None),
    ("warning", R, 11, 17, "Ulcus", None),
}


def seen(problems: list[Problem]) -> set[tuple[Any, ...]]:
    return {(p.severity, p.file, p.line, p.column, p.value, p.nearest) for p in problems}


def test_every_planted_mistake_is_found_where_it_stands(folder: Folder) -> None:
    header = "segment,source,start,stop,patient,split,labels,unknown,note\n"
    problems = check_dataset(folder(SEGMENTS, RUNS, header=header))
    assert seen(problems) == EXPECTED
    assert len(problems) == len(EXPECTED)
    places = [(p.file == R, p.line, p.column) for p in problems]
    assert places == sorted(places)


def test_a_mistake_hides_no_other(folder: Folder) -> None:
    """Neither dataset.yaml nor a broken row keeps what stands elsewhere from being looked at."""
    yaml = "name: 12\nclasses: [polyp, normal, polyp, no]\naliases: {Ulcus: polip}\nwindw: 30\n"
    segments = (
        "s1,a.avi,0,50,p1,train,polip,\n"  # 2: broken
        "s2,a.avi,50,60,p1,train,polyp,,extra\n"  # 3: a cell too many; s2 is there all the same
        "s3,a.avi,60,70,p1,train,no;Ulcus,\n"  # 4: what dataset.yaml means by these is told there
        's4,a.avi,70,80,p1,train,"polyp,\n'  # 5: quotes
        "s1,a.avi,80,90,p1,train,polyp,\n"  # 6: the id stands on the broken line 2
        "s4,a.avi,8O,90,p1,train,polyp,\n"  # 7: broken, and its id stands on the broken line 5
    )
    runs = "s1,0,10,polyp,\ns1,5,12,normal,\ns2,50,55,polyp,\ns4,70,75,polyp,\ns5,0,1,polyp,\n"
    problems = check_dataset(folder(segments, runs, yaml))
    assert [(p.file, p.line, p.column, p.value) for p in errors(problems)] == [
        ("dataset.yaml", 1, 7, "12"),
        ("dataset.yaml", 2, 26, "polyp"),
        ("dataset.yaml", 2, 33, "False"),
        ("dataset.yaml", 3, 18, "polip"),
        ("dataset.yaml", 4, 1, "windw"),
        (S, 2, 24, "polip"),
        (S, 3, 32, "s2,a.avi,50,60,p1,train,polyp,,extra"),
        (S, 5, 25, 's4,a.avi,70,80,p1,train,"polyp,'),
        (S, 6, 1, "s1"),
        (S, 7, 1, "s4"),
        (S, 7, 10, "8O"),
        (R, 3, 4, "5"),
        (R, 6, 1, "s5"),
    ]
    with pytest.raises(UserError):
        load_dataset(folder(segments, runs, yaml))


def test_a_mistake_in_one_cell_hides_none_in_the_others(folder: Folder) -> None:
    """A misspelt label or split keeps neither the source nor the truth of its row from being looked up."""
    segments = (
        "s1,b.avi,0,50,p1,train,polip,\n"  # 2: no b.avi, which is told although the label is wrong
        "s2,a.avi,0,50,p1,trian,polyp,\n"  # 3
        "s3,a.avi,0,5O,p1,train,polyp,\n"  # 4: nobody knows where it ends
    )
    runs = "s1,40,60,erosion,\ns2,50,60,polyp,\ns2,40,50,erosion,\ns3,60,70,polyp,\n"
    problems = check_dataset(folder(segments, runs))
    assert [(p.severity, p.file, p.line, p.column, p.value) for p in problems] == [
        ("warning", S, 2, 4, "b.avi"),
        ("error", S, 2, 24, "polip"),
        ("error", S, 3, 18, "trian"),
        ("error", S, 4, 12, "5O"),
        ("error", R, 2, 7, "60"),  # a broken label contradicts no truth
        ("error", R, 3, 4, "50"),
        ("warning", R, 4, 10, "erosion"),
    ]


def test_a_missing_source_is_told_with_the_file_that_differs_in_case_alone(folder: Folder) -> None:
    names = ("a.avi", "A.AVI", "b.avi", "x/y.avi")
    root = folder("".join(f"s{i},{name},0,50,p1,train,polyp,\n" for i, name in enumerate(names)))
    if (root / "media" / "A.AVI").exists():
        pytest.skip("this disk does not tell A from a")
    assert [(p.line, p.value, p.nearest) for p in check_dataset(root)] == [
        (3, "A.AVI", "a.avi"),
        (4, "b.avi", None),
        (5, "x/y.avi", None),
    ]


def test_runs_are_not_blamed_for_a_table_of_segments_that_cannot_be_read(folder: Folder) -> None:
    root = folder(runs="s1,0,60,polyp,\ns1,9,9,polip,\n", header="segment,source,begin,stop\n")
    assert {p.line for p in check_dataset(root) if p.file == R} == {3}
    (root / S).unlink()
    assert {p.line for p in check_dataset(root) if p.file == R} == {3}


def test_a_sound_dataset_has_no_problem(folder: Folder) -> None:
    assert check_dataset(folder(runs="s1,0,50,polyp,\n")) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("window: 30", "windw: 30", (6, 1, "windw", "window")),
        ("licence: CC0", "license: CC0", (3, 1, "license", "licence")),
        ("window: 30", "window: thirty", (6, 9, "thirty", None)),
        ("window: 30", "window: 0", (6, 9, "0", None)),
        ("name: hand\n", "", (1, 1, "", None)),
        ("name: hand", "name: 12", (2, 7, "12", None)),
        ("polyp, debris", "polyp, no", (4, 35, "False", None)),
        ("polyp, debris", "polyp, Erosion", (4, 35, "Erosion", None)),
        ("polyp, debris", "polyp, 'de;bris'", (4, 35, "de;bris", None)),
        ("Ulcus: erosion", "Ulcus: erosions", (5, 18, "erosions", "erosion")),
        ("Ulcus: erosion", "POLYP: erosion", (5, 11, "POLYP", None)),
        ("window: 30", "name: other", (6, 1, "name", None)),
        ("window: 30", "\twindow: 30", (6, 1, "window: 30", None)),
        ("window: 30", "window: [30", (7, 10, "synthetic: false", None)),
        ("format: 1", "format: 2", (1, 9, "2", None)),
        ("synthetic: false", "synthetic: maybe", (7, 12, "maybe", None)),
        ("window: 30", "window: \x01", (1, 1, "", None)),
    ],
)
def test_a_mistake_in_the_description(folder: Folder, old: str, new: str, expected: tuple[Any, ...]) -> None:
    root = folder()
    path = root / "dataset.yaml"
    path.write_text(path.read_text().replace(old, new))
    assert [(p.line, p.column, p.value, p.nearest) for p in check_dataset(root)] == [expected]


def test_all_mistakes_of_a_description_are_told(folder: Folder) -> None:
    yaml = "name: ''\nclasses: []\nwindow: -1\nshape: round\n"
    assert [p.line for p in check_dataset(folder(yaml=yaml))] == [1, 2, 3, 4]


@pytest.mark.parametrize("yaml", ["", "- 1\n", "text\n", "&a [*a]\n", "[" * 5000, "? [x]\n: 1\n"])
def test_what_is_no_description_is_an_error(folder: Folder, yaml: str) -> None:
    assert errors(check_dataset(folder(yaml=yaml)))


def test_anchors_are_read_and_placed(folder: Folder) -> None:
    yaml = "name: hand\nclasses: &all [polyp, normal]\naliases: {a: &x polyps, b: *x}\n"
    assert [(p.line, p.column, p.value) for p in check_dataset(folder(yaml=yaml))] == [
        (3, 14, "polyps"),
        (3, 14, "polyps"),
    ]


def test_a_source_whose_name_is_too_long(folder: Folder) -> None:
    (problem,) = errors(check_dataset(folder(f"s1,{'x' * 5000},0,50,p1,train,polyp,\n")))
    assert (problem.line, problem.column) == (2, 4)
    assert "cannot be looked up" in problem.message


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["dataset.yaml", "segments.csv", "frames.csv"]), st.data())
def test_whatever_happens_to_a_file_is_told_and_never_a_crash(
    folder: Folder, name: str, data: st.DataObject
) -> None:
    """Bytes are cut out and put in; a dataset without errors loads, one with errors is refused."""
    root = folder(runs="s1,0,50,polyp,\n")
    text = (root / name).read_bytes()
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(start + 12, len(text))))
    put = data.draw(
        st.one_of(st.binary(max_size=6), st.sampled_from([b'"', b";", b",", b"\n", b"\t", b"0", b"&a *a"]))
    )
    (root / name).write_bytes(text[:start] + put + text[stop:])
    if errors(check_dataset(root)):
        with pytest.raises(UserError):
            load_runs(load_dataset(root))
    else:
        load_runs(load_dataset(root))


def test_no_folder_no_description(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        check_dataset(tmp_path / "nowhere")
    assert [p.message for p in check_dataset(tmp_path)] == [
        "the file is missing: this is not a dataset folder"
    ]


def test_a_missing_table_is_told(folder: Folder) -> None:
    root = folder()
    (root / "segments.csv").unlink()
    assert [str(p) for p in errors(check_dataset(root))] == ["segments.csv: error: the file is missing"]


def test_no_segment_and_no_media_are_warnings(folder: Folder) -> None:
    assert [str(p) for p in check_dataset(folder(segments=""))] == [
        "segments.csv: warning: the dataset has no segments"
    ]
    root = folder()
    (root / "media" / "a.avi").unlink()
    (problem,) = check_dataset(root)
    assert (problem.severity, problem.value) == ("warning", "media/")
    assert "frames are missing: none of the 1 sources" in problem.message


def test_a_link_out_of_media_is_refused(folder: Folder, tmp_path: Path) -> None:
    root = folder("s1,link/b.avi,0,50,p1,train,polyp,\n")
    (tmp_path / "elsewhere").mkdir()
    (root / "media" / "link").symlink_to(tmp_path / "elsewhere")
    (problem,) = errors(check_dataset(root))
    assert (problem.line, problem.column, problem.value) == (2, 4, "link/b.avi")


class FakeSource:
    """Frames 100, 105, ... 195, one of them missing."""

    numbers = np.array([n for n in range(100, 200, 5) if n != 150])
    declared, decoded, damaged = 20, 19, 1


def test_media_are_opened_and_numbers_looked_up(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    def open_source(path: Path) -> FakeSource:
        if path.name == "bad.avi":
            raise UserError("not a video", path)
        return FakeSource()

    monkeypatch.setattr("devcem.frames.open_source", open_source, raising=False)
    rows = [(100, 150), (100, 200), (95, 120), (100, 205), (300, 310), (96, 120), (151, 154)]
    lines = [f"s{i},a.avi,{start},{stop},p1,train,polyp,\n" for i, (start, stop) in enumerate(rows)]
    root = folder("".join(lines) + "bad,bad.avi,0,10,p2,train,polyp,\n")
    (root / "media" / "bad.avi").touch()
    assert check_dataset(root) == []
    assert [(p.severity, p.line, p.column, p.message) for p in check_dataset(root, frames=True)] == [
        ("warning", 2, 4, "damaged: 19 of 20 frames decode, 1 are damaged"),
        ("warning", 3, 10, "1 of the frames 100 to 199 are missing in the source"),
        ("error", 4, 10, "start 95 lies before the source's first frame, 100"),
        ("error", 5, 14, "stop 205 lies beyond the source's last frame, 195"),
        ("error", 6, 14, "stop 310 lies beyond the source's last frame, 195"),
        ("error", 8, 14, "no frame from 151 to 153 is in the source"),
        ("error", 9, 5, "cannot be read: not a video"),
    ]


def test_a_source_that_fails_when_it_is_looked_into_hides_no_other(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time stamps and frames are read only when they are asked for, and fail only then."""

    class Failing:
        def __init__(self, error: Exception) -> None:
            self.error = error

        @property
        def damaged(self) -> int:
            raise self.error

    def open_source(path: Path) -> Any:
        failures = {
            "a.avi": UserError("the first line is wrong", f"{path.with_suffix('.times.csv')}, line 1"),
            "b.avi": PermissionError(13, "Permission denied", str(path)),
        }
        return Failing(failures[path.name]) if path.name in failures else FakeSource()

    monkeypatch.setattr("devcem.frames.open_source", open_source, raising=False)
    names = ("a.avi", "b.avi", "c.avi")
    root = folder("".join(f"{n},{n},100,205,p1,trian,polyp,\n" for n in names))
    for name in names:
        (root / "media" / name).touch()
    problems = [p for p in check_dataset(root, frames=True) if p.value != "trian"]
    assert [(p.severity, p.line, p.column) for p in problems] == [
        ("error", 2, 7),
        ("error", 3, 7),
        ("warning", 4, 7),
        ("error", 4, 17),
    ]
    assert problems[0].message == f"cannot be read: {root}/media/a.times.csv, line 1: the first line is wrong"
    assert problems[1].message == "cannot be read: Permission denied"


def test_a_folder_of_images_is_looked_into(folder: Folder) -> None:
    root = folder("s1,clip,3,9,p1,train,polyp,\ns2,clip,3,20,p1,train,polyp,\n")
    (root / "media" / "clip").mkdir()
    for number in range(3, 9):
        Image.new("RGB", (64, 64), (90, 40, 30)).save(root / "media" / "clip" / f"frame_{number:04}.png")
    (problem,) = check_dataset(root, frames=True)
    assert (problem.severity, problem.line, problem.column, problem.value) == ("error", 3, 11, "20")
