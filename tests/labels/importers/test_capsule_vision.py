"""The traps: paths with backslashes, a second sheet of totals, the same videos on both sides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from openpyxl import Workbook

from devcem.errors import UserError
from devcem.labels import load_dataset
from devcem.labels.importers import import_dataset

HEADER = ["image_path", "Dataset", "Bleeding", "Foreign Body", "Normal", "Worms"]


def write(path: Path, rows: list[list[object]], header: list[str] = HEADER) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in [header, *rows]:
        sheet.append(row)
    totals = book.create_sheet("Sheet2")
    totals.append(["", "Dataset", 9, 9, 9, 9])
    book.save(path)
    return path


def test_stills_with_their_split(tmp_path: Path, picture: Callable[..., Path]) -> None:
    src = tmp_path / "Dataset"
    kvasir = "0123456789abcdef_{}.jpg"
    write(
        src / "training" / "training_data.xlsx",
        [
            ["training\\Bleeding\\KVASIR\\" + kvasir.format(5), "KVASIR", 1, 0, 0, 0],
            ["training\\Worms\\KID\\worm-P0-1.jpg", "KID", 0, 0, 0, 1],
        ],
    )
    write(
        src / "validation" / "validation_data.xlsx",
        [["validation\\Normal\\KVASIR\\" + kvasir.format(6), "KVASIR", 0, 0, 1, 0]],
    )
    picture(src / "training" / "training" / "Worms" / "KID" / "worm-P0-1.jpg")
    summary = import_dataset("capsule-vision", src, tmp_path / "out", media="link")
    dataset = load_dataset(tmp_path / "out")
    assert dataset.classes == ("haemorrhage", "normal", "foreign-body", "worms")
    assert [(s.patient, s.split, s.labels) for s in dataset.segments] == [
        ("0123456789abcdef", "train", ("haemorrhage",)),
        ("KID", "train", ("worms",)),
        ("0123456789abcdef", "val", ("normal",)),
    ]
    assert summary.missing == 2
    assert any("leak: 1 of 1 videos" in note for note in summary.notes)


def test_broken_books(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no training_data.xlsx"):
        import_dataset("capsule-vision", tmp_path, tmp_path / "out")
    write(tmp_path / "training_data.xlsx", [["a.jpg", "KID", 0, 0, 0, 2]])
    with pytest.raises(UserError, match="line 2"):
        import_dataset("capsule-vision", tmp_path, tmp_path / "out")
    write(tmp_path / "training_data.xlsx", [], ["path", "Dataset"])
    with pytest.raises(UserError, match="do not begin with image_path"):
        import_dataset("capsule-vision", tmp_path, tmp_path / "out")
    (tmp_path / "training_data.xlsx").write_text("image_path,Dataset\n")  # a CSV under another name
    with pytest.raises(UserError, match="not an Excel workbook"):
        import_dataset("capsule-vision", tmp_path, tmp_path / "out")
    with ZipFile(tmp_path / "training_data.xlsx", "w") as file:
        file.writestr("a.txt", "a")
    with pytest.raises(UserError, match="not an Excel workbook"):
        import_dataset("capsule-vision", tmp_path, tmp_path / "out")


@pytest.mark.long
def test_the_real_books(shared_data: Path, tmp_path: Path) -> None:
    summary = import_dataset("capsule-vision", shared_data / "labels", tmp_path / "out")
    assert summary.segments == 37_607 + 16_132
    assert (summary.source_counts["Normal"], summary.source_counts["Worms"]) == (40_950, 226)
    assert any("leak: 41 of 41 videos" in note for note in summary.notes)
