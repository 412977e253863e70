"""The traps: `;` and cells left out, two boxes are two rows, names that differ, frames without a label."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from devcem.errors import UserError
from devcem.labels import Run, load_dataset, load_runs
from devcem.labels.importers import Options, import_dataset

A, B = "0123456789abcdef", "fedcba9876543210"
HEADER = "filename;video_id;frame_number;finding_category;finding_class;x1;y1;x2;y2;x3;y3;x4;y4"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    rows = [HEADER]
    for video, frame, name in [
        (A, 100, "Normal clean mucosa"),
        (A, 101, "Normal clean mucosa"),
        (A, 102, "Ileocecal valve"),
        (A, 102, "Erosion"),
        (A, 102, "Erosion"),  # a second box
        (A, 110, "Blood - hematin"),  # 7 frames without a label before it
        (A, 500, "Foreign Body"),
        (B, 0, "Erythema"),
    ]:
        rows.append(f"{video}_{frame}.jpg;{video};{frame};Some;{name};;;;;;;")
    root = tmp_path / "kvasir"
    (root / "official_splits").mkdir(parents=True)
    (root / "metadata.csv").write_text("\n".join(rows) + "\n")
    halves = {
        0: [(A, 100, "Normal"), (A, 101, "Normal"), (A, 102, "Ileo-cecal valve"), (A, 500, "Foreign Bodies")],
        1: [(A, 110, "Blood"), (B, 0, "Polyp")],
    }
    for half, frames in halves.items():
        lines = [f"{video}_{frame}.jpg,{label}" for video, frame, label in frames]
        (root / "official_splits" / f"split_{half}.csv").write_text(
            "filename,label\n" + "\n".join(lines) + "\n"
        )
    return root


def test_labelled_stretches_become_segments(tree: Path, tmp_path: Path) -> None:
    summary = import_dataset("kvasir-capsule", tree, tmp_path / "out")
    dataset = load_dataset(tmp_path / "out")
    gap, late, other = dataset.segments
    assert (gap.source, gap.start, gap.stop, gap.patient, gap.split) == (A, 100, 111, A, "")
    assert gap.labels == ("erosion", "haemorrhage", "normal", "ileocecal-valve")
    assert set(gap.unknown) == {"erythema", "foreign-body"}, (
        "7 frames have no label: they may show the others"
    )
    assert (late.start, late.stop, late.labels, late.unknown) == (500, 501, ("foreign-body",), ())
    assert (other.source, other.labels) == (B, ("erythema",))
    assert list(load_runs(dataset))[:3] == [
        Run(gap.segment, 100, 102, ("normal",)),
        Run(gap.segment, 102, 103, ("erosion", "ileocecal-valve")),
        Run(gap.segment, 110, 111, ("haemorrhage",)),
    ], "no run covers frames 103 to 109: unknown, never normal"
    assert summary.source_counts["Erosion"] == 1
    assert summary.missing == 3
    assert any("8 rows, 7 labels, 6 labelled frames" in note for note in summary.notes)
    assert any("1 labels of the official splits differ" in note for note in summary.notes)
    assert any("leak: 1 of the 1 videos" in note for note in summary.notes)


def test_official_splits_are_taken_over_on_demand(tree: Path, tmp_path: Path) -> None:
    import_dataset("kvasir-capsule", tree / "metadata.csv", tmp_path / "out", Options(official_splits=True))
    assert [s.split for s in load_dataset(tmp_path / "out").segments] == ["train", "train", "test"]


def test_pictures_are_found_below_their_classes(
    tree: Path, tmp_path: Path, picture: Callable[..., Path]
) -> None:
    for seed, (folder, frame) in enumerate(
        [("Normal clean mucosa", 100), ("Normal clean mucosa", 101), ("Erosion", 102)]
    ):
        picture(tree / "labelled_images" / folder / f"{A}_{frame}.jpg", seed)
    summary = import_dataset("kvasir-capsule", tree, tmp_path / "out", media="copy")
    assert sorted(p.name for p in (tmp_path / "out" / "media" / A).iterdir()) == [
        f"{n:06d}.jpg" for n in (100, 101, 102)
    ]
    assert summary.missing == 1, "the other video"


def test_a_broken_split_and_no_metadata(tree: Path, tmp_path: Path) -> None:
    (tree / "official_splits" / "split_0.csv").write_text("filename,label\nx.jpg,Normal\n")
    with pytest.raises(UserError, match=r"line 2: 'x.jpg' is not VIDEO_FRAME.jpg"):
        import_dataset("kvasir-capsule", tree, tmp_path / "out")
    (tree / "metadata.csv").unlink()
    with pytest.raises(UserError, match=r"0 files \*metadata.csv"):
        import_dataset("kvasir-capsule", tree, tmp_path / "out")


def test_the_real_metadata(shared_data: Path, tmp_path: Path) -> None:
    summary = import_dataset("kvasir-capsule", shared_data / "labels", tmp_path / "out")
    published = {
        "Normal clean mucosa": 34_338,
        "Ileocecal valve": 4_189,
        "Reduced Mucosal View": 2_906,
        "Pylorus": 1_529,
        "Angiectasia": 866,
        "Ulcer": 854,
        "Foreign Body": 776,
        "Lymphangiectasia": 592,
        "Erosion": 506,
        "Blood - fresh": 446,
        "Erythema": 159,
        "Polyp": 55,
        "Blood - hematin": 12,
        "Ampulla of Vater": 10,
    }
    assert summary.source_counts == published
    assert sum(published.values()) == 47_238
    assert (summary.patients, len(published)) == (43, 14)
    assert any("47,248 rows, 47,238 labels, 47,229 labelled frames" in note for note in summary.notes)
    assert any("leak: 7 of the 25 videos" in note for note in summary.notes)
    assert summary.missing == summary.segments
