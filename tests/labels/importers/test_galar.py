"""The traps: `index` is not `frame`, steps, padded and bare folders, stray spaces, a misspelt class."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from devcem.errors import UserError
from devcem.labels import Run, load_dataset, load_runs
from devcem.labels.importers import Options, import_dataset

TABLES = {
    "1": """\
bubbles,dirt,good view,stomach,polyp ,blood,lymphangioectasis,IBD,section,frame,index
0,0,1,1,0,0,0,0,stomach,100,0
0,0,1,1,1,0,0,0,stomach,105,1
1,0,1,1,1,0,0,0,stomach,110,2
1,0,1,1,1,0,0,0,stomach,115,3
0,1,0,0,0,1,1,1,small intestine,140,8
""",
    "2": """\
bubbles,dirt,stomach,polyp,blood,lymphangioectasis,CED,section,frame,index

0,0,1,0,0,0,0,stomach,8,0
0,0,1,0,0,0,0,stomach,7,0
""",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    labels = tmp_path / "galar" / "Labels"
    labels.mkdir(parents=True)
    for name, text in TABLES.items():
        (labels / f"{name}.csv").write_text(text)
    (tmp_path / "galar" / "metadata.csv").write_text("video,Gender ,age\n1,f,40\n2,m,50\n")
    return tmp_path / "galar"


def test_tables_become_exams(tree: Path, tmp_path: Path) -> None:
    summary = import_dataset("galar", tree, tmp_path / "out")
    dataset = load_dataset(tmp_path / "out")
    assert set(dataset.classes) == {
        *("debris", "haemorrhage", "polyp", "bubbles", "good-view", "ibd", "lymphangiectasia", "stomach")
    }
    first, second = dataset.segments
    assert (first.segment, first.source, first.start, first.stop) == ("galar-001", "001", 100, 141)
    assert first.labels == (
        *("debris", "haemorrhage", "polyp", "bubbles", "good-view", "ibd", "lymphangiectasia", "stomach"),
    )
    assert first.unknown == ()
    assert (second.start, second.stop, second.labels) == (7, 9, ("stomach",))
    assert set(second.unknown) == {"bubbles", "debris", "good-view"}, "no view is marked: not annotated"
    unknown = second.unknown
    assert list(load_runs(dataset)) == [
        Run("galar-001", 100, 101, ("good-view", "stomach")),
        Run("galar-001", 105, 106, ("polyp", "good-view", "stomach")),
        Run("galar-001", 110, 116, ("polyp", "bubbles", "good-view", "stomach")),
        Run("galar-001", 140, 141, ("debris", "haemorrhage", "ibd", "lymphangiectasia")),
        Run("galar-002", 7, 9, ("stomach",), unknown),
    ]
    assert summary.source_counts["polyp"] == 3
    assert any("not annotated in 1 exams" in note for note in summary.notes)
    assert summary.missing == 2


def test_frames_lie_in_padded_or_bare_folders(
    tree: Path, tmp_path: Path, picture: Callable[..., Path]
) -> None:
    for seed, number in enumerate((100, 105, 110, 115, 140)):
        picture(tree / "Frames" / "001" / f"frame_{number:06d}.PNG", seed)
    for number in (7, 8):
        picture(tmp_path / "elsewhere" / "part" / "2" / f"frame_{number:06d}.PNG", number)
    summary = import_dataset("galar", tree, tmp_path / "a", media="link")
    assert summary.missing == 1
    linked = tmp_path / "a" / "media" / "001" / "frame_000105.PNG"
    assert linked.samefile(tree / "Frames" / "001" / "frame_000105.PNG")
    masked = import_dataset("galar", tree, tmp_path / "b", Options(frames=tmp_path / "elsewhere"))
    assert masked.missing == 1
    assert [s.source for s in load_dataset(tmp_path / "b").segments] == ["001", "galar-002"]
    assert sorted(p.name for p in (tmp_path / "b" / "media" / "galar-002").iterdir()) == [
        "000007.jpg",
        "000008.jpg",
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "0,0,1,1,1,0,0,0,stomach,105",
            "0,0,1,1,2,0,0,0,stomach,105",
            "line 3: '2' in column polyp is neither",
        ),
        ("stomach,105,1", "stomach,100,1", "line 3: '100' in column frame .* stands twice"),
        ("stomach,105,1", "stomach,,1", "line 3: 'nan' in column frame is no frame number"),
        ("stomach,105,1", "stomach,12.5,1", "line 3: '12.5' in column frame is no frame number"),
        ("stomach,105,1", "stomach,1e30,1", "line 3: .* in column frame is no frame number"),
        ("stomach,105,1", "stomach,105,1,7", "cannot be read: .*line 3"),
        (",frame,index", ",frames,index", "no column frame"),
    ],
)
def test_a_broken_table_is_told_with_its_line(
    tree: Path, tmp_path: Path, old: str, new: str, told: str
) -> None:
    path = tree / "Labels" / "1.csv"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(UserError, match=told):
        import_dataset("galar", tree, tmp_path / "out")


def test_a_cell_too_many_in_the_first_row_shifts_no_column(tree: Path, tmp_path: Path) -> None:
    path = tree / "Labels" / "1.csv"
    path.write_text(path.read_text().replace("stomach,100,0", "stomach,100,0,7"))
    with pytest.raises(UserError, match="cannot be read: Length of header"):
        import_dataset("galar", tree, tmp_path / "out")


def test_lines_count_blank_ones(tree: Path, tmp_path: Path) -> None:
    path = tree / "Labels" / "2.csv"
    path.write_text(path.read_text().replace("stomach,7", "stomach,x"))
    with pytest.raises(UserError, match="line 4: 'x'"):
        import_dataset("galar", tree, tmp_path / "out")


def test_no_tables(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no tables"):
        import_dataset("galar", tmp_path, tmp_path / "out")
