"""What a gastroenterologist would have typed beside the thumb-nails: input for `devcem data import tags`."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from devcem.files import writing
from devcem.labels import CLASSES

DENIALS = 0.2  # of the tags without blood say so
WORDS = {"normal": "normal mucosa", "haemorrhage": "bleeding", "oedema": "edema", "tumour": "tumor"}


@dataclass(frozen=True)
class Tag:
    source: str  # below the dataset folder
    patient: str
    frame: int
    seconds: float
    text: str


def tag_text(shown: npt.NDArray[np.bool_], rng: np.random.Generator) -> str:
    """Free text for what a frame [K] shows, with a denial now and then."""
    names = [name for name, yes in zip(CLASSES, shown, strict=True) if yes]
    text = " and ".join(WORDS.get(name, name) for name in names)
    return f"{text}; no bleeding" if "haemorrhage" not in names and rng.random() < DENIALS else text


def write_tags(folder: Path, tags: Iterable[Tag]) -> None:
    """tags.csv, as `devcem data import tags` reads it."""
    with writing(folder / "tags.csv") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["source", "patient", "frame", "seconds", "text"])
        for tag in tags:
            writer.writerow([tag.source, tag.patient, tag.frame, f"{tag.seconds:.3f}", tag.text])
