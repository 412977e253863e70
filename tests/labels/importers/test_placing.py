"""Pixels come in masked and cut, or as they are when asked for; what cannot be had safely is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from devcem.errors import UserError
from devcem.frames import open_source
from devcem.labels import check_dataset, load_dataset
from devcem.labels.importers import Options, Policy, import_dataset
from devcem.labels.problems import errors

Make = Callable[..., Path]
CORNER = (slice(0, 10), slice(0, 24))  # where the text is burnt in


@pytest.fixture
def src(tmp_path: Path, clip: Make, picture: Make) -> Path:
    """A clip in one class, a folder of pictures with times in another."""
    root = tmp_path / "src"
    clip(root / "polyp" / "a.avi", 70)
    for number in (3, 4, 5):
        picture(root / "normal" / "b" / f"{number}.jpg", number)
    (root / "normal" / "b.times.csv").write_text("number,seconds\n3,0.1\n4,0.3\n5,0.9\n")
    return root


def test_masked_frames_carry_no_text_and_the_same_tissue(src: Path, tmp_path: Path) -> None:
    import_dataset("folder", src, tmp_path / "out")
    before = open_source(src / "polyp" / "a.avi").read([0, 69])
    assert before[:, *CORNER].max() > 200, "the text is there before"
    segments = load_dataset(tmp_path / "out").segments
    after = open_source(tmp_path / "out" / "media" / segments[0].source)
    assert after.numbers.tolist() == list(range(70))
    frames = after.read([0, 69])
    assert frames[:, *CORNER].max() < 8
    inside = (slice(None), slice(40, 56), slice(40, 56))
    assert np.abs(frames[inside].astype(int) - before[inside]).mean() < 2
    assert after.times == pytest.approx(np.arange(70) / 5)
    pictures = open_source(tmp_path / "out" / "media" / segments[1].source)
    assert pictures.numbers.tolist() == [3, 4, 5]
    assert pictures.times.tolist() == [0.1, 0.3, 0.9]
    assert not errors(check_dataset(tmp_path / "out", frames=True))


@pytest.mark.parametrize("policy", ["link", "copy"])
def test_files_come_as_they_are_when_asked_for(src: Path, tmp_path: Path, policy: Policy) -> None:
    import_dataset("folder", src, tmp_path / "out", media=policy)
    first, second = load_dataset(tmp_path / "out").segments
    media = tmp_path / "out" / "media"
    assert (media / first.source).read_bytes() == (src / "polyp" / "a.avi").read_bytes()
    assert (media / first.source).samefile(src / "polyp" / "a.avi") == (policy == "link")
    assert open_source(media / second.source).times.tolist() == [0.1, 0.3, 0.9]
    assert not errors(check_dataset(tmp_path / "out", frames=True))


def test_links_fall_back_to_copies(src: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("another disk")

    monkeypatch.setattr("os.link", refuse)
    import_dataset("folder", src, tmp_path / "out", media="link")
    first = load_dataset(tmp_path / "out").segments[0]
    assert (tmp_path / "out" / "media" / first.source).read_bytes() == (src / "polyp" / "a.avi").read_bytes()


def test_a_source_without_a_sure_view_is_left_out_and_told(tmp_path: Path, picture: Make) -> None:
    noise = np.random.default_rng(0)
    for name in ("dark", "round"):
        for number in range(3):
            path = picture(tmp_path / "src" / name / name / f"{number}.png", number)
            if name == "dark":
                Image.fromarray(noise.integers(0, 20, (96, 96, 3), np.uint8)).save(path)
    summary = import_dataset("folder", tmp_path / "src", tmp_path / "out")
    (reason,) = summary.failed.values()
    assert "no lens view was found" in reason
    assert summary.missing == 1
    assert len(load_dataset(tmp_path / "out").segments) == 2, "its labels are kept"
    named = import_dataset("folder", tmp_path / "src", tmp_path / "named", view="frame")
    assert (named.failed, named.missing) == ({}, 0)


def test_stills_share_the_view_of_their_patient(tmp_path: Path, picture: Make) -> None:
    root = tmp_path / "src"
    rows = ["file,bleeding,num,source,segment"]
    for number in range(4):
        picture(root / f"n{number}.jpg", number)
        rows.append(f"n{number}.jpg,0,{number},N1,{number}")
    (root / "bad.jpg").write_bytes(b"no picture")
    rows.append("bad.jpg,0,9,N2,9")
    (root / "frames.csv").write_text("\n".join(rows))
    summary = import_dataset("wcebleedgen", root, tmp_path / "out")
    assert summary.missing == 1
    assert "bad.jpg cannot be read" in summary.failed["N2-0009"]
    for segment in load_dataset(tmp_path / "out").segments[:4]:
        (file,) = (tmp_path / "out" / "media" / segment.source).iterdir()
        assert np.asarray(Image.open(file))[CORNER].max() < 8


def test_a_view_that_does_not_exist(tmp_path: Path, picture: Make) -> None:
    root = tmp_path / "src"
    picture(root / "thumbnail_7.jpg")
    (root / "frames.csv").write_text("file,patient,text_label\nthumbnail_7.jpg,P001,polyp\n")
    with pytest.raises(UserError, match="no lens view is called 'nope'"):
        import_dataset("captiv8", root, tmp_path / "out", Options(), view="nope")
    assert not (tmp_path / "out").exists()


def test_a_source_that_fails_halfway_leaves_nothing_behind(tmp_path: Path, picture: Make) -> None:
    root = tmp_path / "src"
    rows = ["file,bleeding,num,source,segment"]
    for number in range(60):
        picture(root / f"n{number}.jpg", number)
        rows.append(f"n{number}.jpg,0,{number},N1,{number // 30}")
    (root / "n32.jpg").write_bytes(
        (root / "n32.jpg").read_bytes()[:200]
    )  # not among those the view is found in
    (root / "frames.csv").write_text("\n".join(rows))
    summary = import_dataset("wcebleedgen", root, tmp_path / "out")
    assert "n32.jpg cannot be read" in summary.failed["N1-0001"]
    assert [p.name for p in (tmp_path / "out" / "media").iterdir()] == ["N1-0000"]
    assert summary.missing == 1


def test_a_segment_without_pictures_is_missing(tmp_path: Path, picture: Make) -> None:
    video = "0123456789abcdef"
    root = tmp_path / "src"
    lines = [f"{video}_{n}.jpg;{video};{n};Luminal;Erosion" for n in (5, 6, 900)]
    for number in (5, 6):
        picture(root / "labelled_images" / "Erosion" / f"{video}_{number}.jpg", number)
    (root / "metadata.csv").write_text(
        "\n".join(["filename;video_id;frame_number;finding_category;finding_class", *lines])
    )
    assert import_dataset("kvasir-capsule", root, tmp_path / "out").missing == 1
    assert [p.name for p in (tmp_path / "out" / "media").iterdir()] == [f"{video}-000005"]
