"""The formats that can be imported. A new one is one new file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from devcem.labels.importers import (
    capsule_vision,
    captiv8,
    class_folders,
    exam_tags,
    galar,
    kvasir_capsule,
    rare_vision,
    wcebleedgen,
)
from devcem.labels.importers.collection import Collection, Options


@dataclass(frozen=True)
class Importer:
    read: Callable[[Path, Options], Collection]
    expects: str  # what SRC is


IMPORTERS: dict[str, Importer] = {
    "tags": Importer(exam_tags.read, "an exam with --tags TABLE, or a table that names its exams"),
    "captiv8": Importer(captiv8.read, "a folder with P001.csv, ... and clips, or with frames.csv"),
    "kvasir-capsule": Importer(kvasir_capsule.read, "a folder with metadata.csv, or that file"),
    "galar": Importer(galar.read, "a folder with Labels/1.csv, ..."),
    "rare-vision": Importer(rare_vision.read, "the events JSON"),
    "wcebleedgen": Importer(wcebleedgen.read, "a folder with bleeding/ and non-bleeding/, or frames.csv"),
    "capsule-vision": Importer(capsule_vision.read, "a folder with training_data.xlsx, validation_data.xlsx"),
    "folder": Importer(class_folders.read, "a folder with one sub-folder of clips a class"),
}
