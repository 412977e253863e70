"""Tags on an exam become segments round the tagged frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcem.errors import UserError
from devcem.labels import load_dataset
from devcem.labels.classes import CLASSES
from devcem.labels.importers import Options, import_dataset
from devcem.labels.importers.exam_table import seconds_of
from devcem.labels.importers.exam_tags import window

FRAMES = 240  # 48 seconds

Clip = Callable[..., Path]


def table(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_segments_lie_round_their_tags(tmp_path: Path, clip: Clip) -> None:
    exam = clip(tmp_path / "Anna_Jones.avi", FRAMES)
    tags = table(
        tmp_path / "tags.csv", "time;text;patient\n00:00:10.0;polyp;Jones\n40;no erosion, bleeding?;Jones\n"
    )
    summary = import_dataset("tags", exam, tmp_path / "out", Options(tags=tags))
    dataset = load_dataset(tmp_path / "out")
    first, second = dataset.segments
    assert (first.segment, second.segment) == ("exam-001-000050", "exam-001-000200")
    assert first.labels == ("polyp",)
    assert first.unknown == ()
    assert set(second.unknown) == set(CLASSES) - {"erosion"}
    for segment, tag in ((first, 50), (second, 200)):
        assert segment.start <= tag < segment.stop
        assert 50 <= len(segment) <= 100
        assert segment.patient == "P001"
    assert len(summary.tags) == 2
    assert [t.line for t in summary.to_review] == [3]
    frames = sorted((tmp_path / "out" / "media" / first.source).iterdir())
    assert [int(p.stem) for p in frames] == list(range(first.start, first.stop))
    times = (tmp_path / "out" / "media" / f"{first.source}.times.csv").read_text().splitlines()
    assert times[:2] == ["number,seconds", f"{first.start},{first.start / 5:.6f}"]


def test_no_name_reaches_the_folder(tmp_path: Path, clip: Clip) -> None:
    exam = clip(tmp_path / "Anna_Jones.avi", FRAMES)
    table(tmp_path / "Anna_Jones.csv", "frame,text,patient\n100,polyp seen by Dr Smithson,Jones\n")
    for media in ("masked", "link", "none"):
        out = tmp_path / media
        import_dataset("tags", exam, out, media=media)
        names = " ".join(str(p.relative_to(out)) for p in out.rglob("*"))
        texts = " ".join(p.read_text() for p in out.rglob("*") if p.suffix in (".csv", ".yaml", ".json"))
        assert not any(word in names + texts for word in ("Anna", "Jones", "Smithson"))
    kept = import_dataset("tags", exam, tmp_path / "kept", Options(keep_ids=True), media="none")
    assert kept.segments == 1
    segment = load_dataset(tmp_path / "kept").segments[0]
    assert (segment.segment, segment.patient) == ("Anna_Jones-000100", "Jones")


def test_a_near_tag_adds_its_labels(tmp_path: Path, clip: Clip) -> None:
    exam = clip(tmp_path / "e.avi", FRAMES)
    rows = ("100,polyp,front", "104,erosion? normal,front", "104,angioectasia,front", "230,normal,back")
    text = "\n".join(("frame,text,camera", *rows))
    table(tmp_path / "e.csv", text)
    import_dataset("tags", exam, tmp_path / "out", Options(offset="centre"), media="none")
    first, second, third = load_dataset(tmp_path / "out").segments
    assert first.labels == second.labels == ("angioectasia", "polyp")
    assert first.unknown == ("erosion",)
    assert (third.labels, third.camera, third.stop) == (("normal",), "back", FRAMES)
    assert first.start == 100 - len(first) // 2


def test_a_table_of_several_exams(tmp_path: Path, clip: Clip, picture: Clip) -> None:
    clip(tmp_path / "a.avi", 120)
    for number in range(1000, 1160, 2):
        picture(tmp_path / "b" / f"f_{number}.jpg", number)
    (tmp_path / "c.avi").write_bytes(b"")
    text = "source,frame,text\na.avi,60,polyp\nb,1100,erosion\nc.avi,1,polyp\n"
    summary = import_dataset("tags", table(tmp_path / "all.csv", text), tmp_path / "out", media="link")
    a, b = load_dataset(tmp_path / "out").segments
    assert (a.patient, b.patient) == ("P001", "P002")
    assert b.start <= 1100 < b.stop
    assert b.start % 2 == 0, "numbers step by two"
    assert 50 <= len(range(b.start, b.stop, 2)) <= 80
    assert (tmp_path / "out" / "media" / "exam-002" / "f_1100.jpg").is_file()
    assert [Path(name).name for name in summary.failed] == ["c.avi"]


def test_times_need_a_clock(tmp_path: Path, picture: Clip) -> None:
    for number in range(60):
        picture(tmp_path / "e" / f"{number:03d}.jpg", number)
    table(tmp_path / "e.csv", "time,text\n3,polyp\n")
    with pytest.raises(UserError, match="line 2: the pictures of this exam have no times"):
        import_dataset("tags", tmp_path / "e", tmp_path / "out")
    table(tmp_path / "e.times.csv", "number,seconds\n" + "".join(f"{n},{n * 2}\n" for n in range(60)))
    import_dataset("tags", tmp_path / "e", tmp_path / "out", media="copy")
    assert load_dataset(tmp_path / "out").segments[0].segment == "exam-001-000001", "3 s is nearest to 2 s"
    assert (tmp_path / "out" / "media" / "exam-001.times.csv").is_file()


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            "frame,text\n300,polyp\nx,polyp\n",
            r"(?s)2 errors.*line 2: the exam has no frame 300.*line 3: 'x' is not",
        ),
        ("time,text\n1:60:00,polyp\n", "line 2: '1:60:00' is not a time"),
        ("time,text\n00:00:61,polyp\n", "61 seconds in a minute"),
        ("time,text\n99,polyp\n", "line 2: 99 lies outside the exam, which runs from 0.0 to 47.8 seconds"),
        ("frame,text\n3,\n", "line 2: the text is empty"),
        ("frame,time,text\n3,3,polyp\n", "one of the columns time and frame"),
        ("text\npolyp\n", "one of the columns time and frame"),
        ("frame,text\n", "no tags"),
        ("frame,label\n3,polyp\n", "no column text"),
    ],
)
def test_errors_name_their_line(tmp_path: Path, clip: Clip, rows: str, told: str) -> None:
    clip(tmp_path / "e.avi", FRAMES)
    table(tmp_path / "e.csv", rows)
    with pytest.raises(UserError, match=told):
        import_dataset("tags", tmp_path / "e.avi", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_all_errors_of_a_table_are_listed_at_once(tmp_path: Path, clip: Clip) -> None:
    clip(tmp_path / "a.avi", 60)
    rows = ("a.avi,5,", "a.avi,x,polyp", "a.avi,99,polyp", "b.avi,y,polyp", "a.avi,1,polyp,,,")
    tags = table(tmp_path / "t.csv", "\n".join(("source,frame,text", *rows, "a.avi,2,polyp,P")))
    with pytest.raises(UserError, match="6 errors") as caught:
        import_dataset("tags", tags, tmp_path / "out")
    told = str(caught.value)
    for number, what in (
        (2, "the text is empty"),
        (3, "'x' is not a frame number"),
        (4, "the exam has no frame 99"),
        (5, "no exam 'b.avi'"),
        (5, "'y' is not a frame number"),
        (7, "4 cells where the header has 3"),
    ):
        assert f"{tags}, line {number}: {what}" in told
    assert told.startswith("6 errors:")


def test_two_patients_on_one_exam_are_not_merged(tmp_path: Path, clip: Clip) -> None:
    exam = clip(tmp_path / "e.avi", 120)
    tags = table(tmp_path / "e.csv", "frame,text,patient\n9,polyp,\n20,polyp,A\n30,normal,B\n40,polyp,A\n")
    with pytest.raises(UserError, match="two patients, 'A' on line 3 and 'B' on line 4") as caught:
        import_dataset("tags", exam, tmp_path / "out")
    assert str(tags) in str(caught.value)
    assert caught.value.remedy
    assert not (tmp_path / "out").exists()


def test_an_exam_is_of_the_first_patient_that_is_named(tmp_path: Path, clip: Clip) -> None:
    exam = clip(tmp_path / "e.avi", 120)
    table(tmp_path / "e.csv", "frame,text,patient\n9,polyp,\n20,polyp,A\n")
    import_dataset("tags", exam, tmp_path / "out", Options(keep_ids=True), media="none")
    assert {s.patient for s in load_dataset(tmp_path / "out").segments} == {"A"}


@pytest.mark.parametrize("keep", [False, True])
def test_exams_of_one_name_in_two_folders_are_two_patients(tmp_path: Path, clip: Clip, keep: bool) -> None:
    for folder in ("one", "two"):
        clip(tmp_path / folder / "exam.avi", 60)
    tags = table(tmp_path / "t.csv", "source,frame,text\none/exam.avi,5,polyp\ntwo/exam.avi,5,normal\n")
    import_dataset("tags", tags, tmp_path / "out", Options(keep_ids=keep), media="copy")
    segments = load_dataset(tmp_path / "out").segments
    assert len({s.patient for s in segments}) == len({s.source for s in segments}) == 2


def test_a_failed_exam_is_named_once(tmp_path: Path, clip: Clip) -> None:
    clip(tmp_path / "a.avi", 60)
    (tmp_path / "c.avi").write_bytes(b"")
    tags = table(tmp_path / "t.csv", "source,frame,text\na.avi,5,polyp\nc.avi,1,polyp\n")
    summary = import_dataset("tags", tags, tmp_path / "out")
    assert summary.failed == {str(tmp_path / "c.avi"): "the file is empty. Remedy: copy or export it again"}


def test_a_table_that_was_not_named_is_asked_for(tmp_path: Path, clip: Clip) -> None:
    exam = clip(tmp_path / "e.avi", 60)
    with pytest.raises(UserError, match=r"no table of tags.* Remedy: name it with --tags") as caught:
        import_dataset("tags", exam, tmp_path / "out")
    assert str(tmp_path / "e.csv") in str(caught.value), "what was looked for"
    with pytest.raises(UserError, match="the table cannot be read"):
        import_dataset("tags", exam, tmp_path / "out", Options(tags=tmp_path / "none.csv"))


def test_a_short_exam_gives_a_short_segment_and_a_note(tmp_path: Path, clip: Clip) -> None:
    exam = clip(tmp_path / "e.avi", 20)
    table(tmp_path / "e.csv", "frame,text\n5,polyp\n")
    summary = import_dataset("tags", exam, tmp_path / "out", media="none")
    assert len(load_dataset(tmp_path / "out").segments[0]) == 20
    assert any("20 frames, fewer than the 50 of a segment" in note for note in summary.notes)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("../e.avi", "leads out"),
        ("none.avi", "line 2: no exam 'none.avi'"),
        ("n" * 300, "line 2: (no exam|'n+' cannot be the name)"),
        ("a\0b", "line 2: .* cannot be the name of an exam"),
    ],
    ids=["outside", "absent", "long", "zero byte"],
)
def test_exams_lie_below_their_table(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "e.avi").touch()
    tags = table(tmp_path / "in" / "t.csv", f"source,frame,text\n{name},1,polyp\n")
    with pytest.raises(UserError, match=told):
        import_dataset("tags", tags, tmp_path / "out")


def test_same_seed_same_segments(tmp_path: Path, clip: Clip) -> None:
    exam = clip(tmp_path / "e.avi", FRAMES)
    table(tmp_path / "e.csv", "frame,text\n50,polyp\n150,erosion\n")
    texts = []
    for number, seed in enumerate((1, 1, 2)):
        import_dataset("tags", exam, tmp_path / str(number), Options(seed=seed), media="none")
        texts.append((tmp_path / str(number) / "segments.csv").read_text())
    assert texts[0] == texts[1] != texts[2]


@given(st.data(), st.integers(1, 400), st.sampled_from(["random", "centre"]), st.integers(0, 9))
def test_a_window_holds_its_tag_and_lies_in_the_exam(
    data: st.DataObject, frames: int, offset: str, seed: int
) -> None:
    tag = data.draw(st.integers(0, frames - 1))
    start, stop = window(
        tag, frames, "random" if offset == "random" else "centre", np.random.default_rng(seed)
    )
    assert 0 <= start <= tag < stop <= frames
    assert min(50, frames) <= stop - start <= 100


def test_a_random_offset_teaches_no_position_and_a_centred_one_does() -> None:
    random = np.random.default_rng(0)
    shares: dict[str, np.ndarray] = {}
    for offset in ("random", "centre"):
        windows = [
            window(500, 1000, "random" if offset == "random" else "centre", random) for _ in range(2000)
        ]
        shares[offset] = np.array([(500 - start) / (stop - start) for start, stop in windows])
    assert abs(shares["random"].mean() - 0.5) < 0.03
    assert abs(shares["random"].std() - 12**-0.5) < 0.02, "uniform"
    assert shares["centre"].std() < 0.01


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("12.5", 12.5),
        ("12,5", 12.5),
        ("90", 90),
        ("01:30", 90),
        ("1:00:00", 3600),
        ("07:38:37.250", 27517.25),
    ],
)
def test_clocks(text: str, seconds: float) -> None:
    assert seconds_of(text, "here") == pytest.approx(seconds)
