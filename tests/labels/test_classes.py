from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from devcem.labels import ALIASES, CEST, CEST_HEADINGS, CLASSES, PATHOLOGIES, canonical, nearest

PAPER = """Erosions Debris Diverticulosis Erythema Granularity Haemorrhage Inflammation
Normal Oedema Angioectasia Polyp Pseudopolyp Tumor Ulceration"""
KVASIR_CAPSULE = {  # names of both of its files
    "Angiectasia": "angioectasia",
    "Blood - fresh": "haemorrhage",
    "Blood - hematin": "haemorrhage",
    "Blood": "haemorrhage",
    "Erosion": "erosion",
    "Erythema": "erythema",
    "Erythematous": "erythema",
    "Normal clean mucosa": "normal",
    "Normal": "normal",
    "Polyp": "polyp",
    "Ulcer": "ulceration",
    "Ampulla of Vater": None,
    "Ileocecal valve": None,
    "Ileo-cecal valve": None,
    "Pylorus": None,
    "Foreign Body": None,
    "Foreign Bodies": None,
    "Lymphangiectasia": None,
    "Reduced Mucosal View": None,
}
GALAR = {
    "active bleeding": "haemorrhage",
    "blood": "haemorrhage",
    "hematin": "haemorrhage",
    "angiectasia": "angioectasia",
    "erosion": "erosion",
    "erythema": "erythema",
    "polyp": "polyp",
    "ulcer": "ulceration",
    "bubbles": "bubbles",
    "dirt": "debris",
    "cancer": "tumour",
    "lymphangioectasis": None,
    "varices": None,
    "IBD": None,
    "celiac": None,
    "foreign body": None,
}


def test_the_papers_classes_in_its_order_then_bubbles() -> None:
    assert tuple(map(canonical, PAPER.split())) == CLASSES[:14]
    assert CLASSES[14:] == ("bubbles",)


@pytest.mark.parametrize("names", [KVASIR_CAPSULE, GALAR], ids=["kvasir-capsule", "galar"])
def test_names_of_public_datasets(names: dict[str, str | None]) -> None:
    assert {name: canonical(name) for name in names} == names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("  POLYPS ", "polyp"),
        ("pseudo-polyp", "pseudopolyp"),
        ("Pseudo_polyps", "pseudopolyp"),
        ("Oedema", "oedema"),
        ("edema", "oedema"),
        ("Hemorrhage", "haemorrhage"),
        ("tumour", "tumour"),
        ("polyps.", "polyp"),
        ("", None),
        ("polyposis", None),
    ],
)
def test_spellings(name: str, expected: str | None) -> None:
    assert canonical(name) == expected


def test_aliases_are_written_as_they_are_looked_up() -> None:
    assert all(canonical(alias) == name for alias, name in ALIASES.items())
    assert not set(ALIASES) & set(CLASSES)


def test_headings() -> None:
    assert set(CEST) == set(CLASSES)
    assert set(CEST.values()) <= set(CEST_HEADINGS)
    assert [name for name in CLASSES if CEST[name] == "protruding lesions"] == [
        "polyp",
        "pseudopolyp",
        "tumour",
    ]
    assert CEST["normal"] == "normal"
    assert set(CLASSES) - set(PATHOLOGIES) == {"normal", "debris", "bubbles"}


def test_the_headings_in_the_docs_are_those_in_the_code() -> None:
    contract = Path(__file__).parents[2] / "docs" / "reference" / "data-contract.md"
    table = contract.read_text(encoding="utf-8").split("| CEST heading | classes |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.strip().splitlines()[1:]]
    assert rows == [
        [heading, ", ".join(name for name in CLASSES if CEST[name] == heading) or "none of ours"]
        for heading in CEST_HEADINGS
    ]


def test_the_nearest_name() -> None:
    assert nearest("polpy", CLASSES) == "polyp"
    assert nearest("bleeding", CLASSES) == "haemorrhage"  # by meaning
    assert nearest("bleeding", ["Bleeding here", "polyp"]) == "Bleeding here"
    assert nearest("val", ["train", "validation"]) == "validation"  # by its beginning
    assert nearest("xyz", CLASSES) is None
    assert nearest("", CLASSES) is None


def test_every_label_of_the_real_files_is_known_to_this_test(shared_data: Path) -> None:
    with (shared_data / "labels" / "kvasir_capsule_metadata.csv").open() as file:
        kvasir = {row["finding_class"] for row in csv.DictReader(file, delimiter=";")}
    assert kvasir <= set(KVASIR_CAPSULE)
    videos = json.loads((shared_data / "labels" / "galar_events.json").read_text())["videos"]
    galar = {label for video in videos for event in video["events"] for label in event["label"]}
    anatomy = {
        "mouth",
        "esophagus",
        "stomach",
        "small intestine",
        "colon",
        "z-line",
        "pylorus",
        "ileocecal valve",
    }
    assert galar - anatomy <= set(GALAR)
    assert not any(map(canonical, anatomy))
