"""The traps: a segment's number in two sources, stills that follow each other, a tree without sources."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from devcem.errors import UserError
from devcem.labels import Run, load_dataset, load_runs
from devcem.labels.importers import import_dataset

HEADER = "file,bleeding,num,source,segment,boxes\n"
ROWS = """\
b0600.jpg,1,600,P05,71,0.5 0.5 1 1
b0601.jpg,1,601,P06,71,0.5 0.5 1 1;0.2 0.2 0.1 0.1
b0602.jpg,1,602,P06,71,
n0134.jpg,0,134,N02,406,
n0136.jpg,0,136,N02,406,
"""


def write(folder: Path, rows: str = ROWS) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "frames.csv").write_text(HEADER + rows)
    return folder


def test_stills_are_grouped_by_source_and_segment(tmp_path: Path, picture: Callable[..., Path]) -> None:
    src = write(tmp_path / "src")
    for seed, name in enumerate(["b0601", "b0602", "n0134", "n0136"]):
        picture(src / "frames" / f"{name}.jpg", seed)
    summary = import_dataset("wcebleedgen", src, tmp_path / "out", media="copy")
    dataset = load_dataset(tmp_path / "out")
    assert dataset.classes == ("haemorrhage",), "not bleeding is not normal"
    assert [(s.segment, s.patient, s.start, s.stop, s.labels) for s in dataset.segments] == [
        ("P05-0071", "P05", 600, 601, ("haemorrhage",)),
        ("P06-0071", "P06", 601, 603, ("haemorrhage",)),
        ("N02-0406", "N02", 134, 137, ()),
    ]
    assert list(load_runs(dataset))[2:] == [Run("N02-0406", 134, 135), Run("N02-0406", 136, 137)]
    assert sorted(p.name for p in (tmp_path / "out" / "media" / "N02-0406").iterdir()) == [
        "000134.jpg",
        "000136.jpg",
    ]
    assert summary.source_counts == {"bleeding": 3, "non-bleeding": 2}
    assert summary.missing == 1


def test_the_tree_does_not_tell_its_sources(tmp_path: Path, picture: Callable[..., Path]) -> None:
    root = tmp_path / "WCEBleedGen"
    for kind in ("bleeding", "non-bleeding"):
        for i in (1, 2):
            picture(root / kind / "Images" / f"img- ({i}).png", i)
        (root / kind / "Annotations").mkdir()
        (root / kind / "Bounding boxes").mkdir()
    summary = import_dataset("wcebleedgen", root, tmp_path / "out", media="link")
    segments = load_dataset(tmp_path / "out").segments
    assert [(s.segment, s.patient, s.labels) for s in segments[1:3]] == [
        ("bleeding-0002", "unknown-bleeding", ("haemorrhage",)),
        ("non-bleeding-0001", "unknown-non-bleeding", ()),
    ]
    assert any("no split" in note for note in summary.notes)
    assert summary.missing == 0


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("a.jpg,yes,1,P,1,\n", "line 2: 'yes' in column bleeding"),
        ("a.jpg,1,1,P,1,\nb.jpg,1,1,P,1,\n", "line 3: frame 1 stands twice"),
    ],
)
def test_a_broken_table(tmp_path: Path, rows: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        import_dataset("wcebleedgen", write(tmp_path / "src", rows), tmp_path / "out")


def test_neither_table_nor_tree(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no frames.csv and no bleeding/Images"):
        import_dataset("wcebleedgen", tmp_path, tmp_path / "out")


def test_the_real_table(shared_data: Path, tmp_path: Path) -> None:
    table = shared_data / "wcebleedgen224" / "frames.csv"
    summary = import_dataset("wcebleedgen", table, tmp_path / "out", media="none")
    assert summary.source_counts == {"bleeding": 809, "non-bleeding": 766}
    assert (summary.patients, summary.segments, summary.labelled_frames) == (14, 585, 1575)
