"""Free text to labels: every decision on the real texts, and invented texts for every rule."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcem.errors import UserError
from devcem.labels.classes import ALIASES, CLASSES, PATHOLOGIES
from devcem.labels.tag_rules import load_rules, phrase, standard_rules
from devcem.labels.tags import join, parse_tag

# What was decided for each of the 28 public texts, by thumbnail: labels | unknown | denied | phrases that are
# understood but name none of our classes | words without a rule. Classes by their first letters.
EXPECTED = """
2011660|| || first cecal image|
2041070| inflammation|| ||
2041900|| || biopsy|
2043965| oedema| inflammation|| reduced vascularity| proctits
2062085|| || biopsy|
2086490| inflammation oedema|| | reduced vascularity|
2094374|| || reduced vascularity|
2094607| oedema|| | reduced vascularity|
2017570|| || first cecal image|
2029031|| || last cecal image|
2044559|| || reduced vascularity|
2044675|| || reduced vascularity|
2018961|| || normal vascularity|
2026034|| tumour|| |
2083502| oedema|| | reduced vascularity|
2084029| erythema inflammation|| | mayo|
2205294| erythema inflammation oedema|| haemorrhage| reduced vascularity, fibrin deposits, mayo|
2217081| erythema inflammation oedema|| haemorrhage| reduced vascularity, fibrin deposits, mayo|
2225040| erythema inflammation oedema pseudopolyp|| haemorrhage| reduced vascularity, fibrin deposits, mayo|
2225276|| || hemorrhoids|
2032209|| | erythema inflammation| mucus|
2055143| erosion|| ||
2059158| inflammation|| ||
2066298| polyp|| | benign|
2006581|| || | wharts
2043700| oedema|| | pale, reduced vascularity|
2129107| erosion inflammation|| | fibrin|
2129181| inflammation|| | marked veins|
"""


def expected() -> dict[str, tuple[tuple[str, ...], ...]]:
    table = {}
    for line in EXPECTED.strip().splitlines():
        name, labels, unknown, denied, without, words = (cell.strip() for cell in line.split("|"))
        phrases = tuple(p for p in without.split(", ") if p)
        table[name] = (
            *(tuple(cell.split()) for cell in (labels, unknown, denied)),
            phrases,
            tuple(words.split()),
        )
    return table


def test_every_captiv8_text_is_decided_as_written_down(shared_data: Path) -> None:
    decided = {}
    with (shared_data / "captiv8_pillcam_colon2" / "frames.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found = parse_tag(row["text_label"])
            without = tuple(m.term for m in found.mentions if m.label is None)
            name = row["file"].removeprefix("thumbnail_").removesuffix(".jpg")
            decided[name] = (found.labels, found.unknown, found.negated, without, found.unmatched)
    assert decided == expected()


def test_every_captiv8_text_that_is_not_plain_is_listed_for_review(shared_data: Path) -> None:
    with (shared_data / "captiv8_pillcam_colon2" / "frames.csv").open(encoding="utf-8", newline="") as file:
        plain = {r["text_label"] for r in csv.DictReader(file) if not parse_tag(r["text_label"]).review}
    assert plain == {"inflammation", "erosion", "inflamed  lesion probably in the ascending colon"}


@pytest.mark.parametrize(
    ("text", "labels", "unknown", "denied"),
    [
        # terms and aliases
        ("Polyps in the ileum", "polyp", "", ""),
        ("pseudo-polyp", "pseudopolyp", "", ""),
        ("inflammatory polyp", "pseudopolyp", "", ""),
        ("Hyperaemic mucosa; EDEMA.", "erythema oedema", "", ""),
        ("two erosions, 3.5 mm", "erosion", "", ""),
        ("proctitis", "inflammation", "", ""),
        ("inflammatory bowel disease", "", "", ""),
        ("granulation tissue", "", "", ""),
        # negation and how far it reaches
        ("no spontaneous bleeding", "", "", "haemorrhage"),
        ("erosion, no bleeding", "erosion", "", "haemorrhage"),
        ("no erosion or ulcer", "", "", "erosion ulceration"),
        ("no erosion/ulcer", "", "", "erosion ulceration"),
        ("no bleeding, erosion or ulcer seen", "", "", "erosion haemorrhage ulceration"),
        ("no bleeding, no erosion, polyp", "", "polyp", "erosion haemorrhage"),
        ("neither erosion nor ulcer", "", "", "erosion ulceration"),
        ("no sign of bleeding but erosion", "erosion", "", "haemorrhage"),
        ("no bleeding. Erosion.", "erosion", "", "haemorrhage"),
        ("no bleeding\nerosion", "erosion", "", "haemorrhage"),
        ("no polyp, erosion", "", "erosion", "polyp"),
        ("no polyp and erosion", "", "erosion", "polyp"),
        ("no redness around the erosion", "", "erosion", "erythema"),
        ("polyp without ulceration", "polyp", "", "ulceration"),
        ("bleeding absent", "", "", "haemorrhage"),
        ("redness or swelling not seen", "", "", "erythema oedema"),
        ("redness and swelling not seen", "", "erythema", "oedema"),
        ("non-bleeding ulcer", "ulceration", "", "haemorrhage"),
        ("non-specific inflammation", "inflammation", "", ""),
        ("not only erosion", "erosion", "", ""),
        ("not without erosion", "", "erosion", ""),
        # uncertainty
        ("probably a polyp", "", "polyp", ""),
        ("polyp, probably", "", "polyp", ""),
        ("polyp?", "", "polyp", ""),
        ("no erosion, bleeding?", "", "haemorrhage", "erosion"),
        ("no polyp, erosion absent", "", "", "erosion polyp"),
        ("polyp; normal?", "polyp", "", "normal"),
        ("? polyp", "", "polyp", ""),
        ("possible erosion or ulcer", "", "erosion ulceration", ""),
        ("bleeding cannot be excluded", "", "haemorrhage", ""),
        ("no or minimal inflammation", "", "inflammation", ""),
        ("erosion; possibly bleeding", "erosion", "haemorrhage", ""),
        ("polyp, perhaps another polyp", "polyp", "", ""),
        ("lipoma", "", "tumour", ""),
        ("no lipoma", "", "tumour", ""),
        # normal
        ("normal mucosa", "normal", "", ""),
        ("no abnormalities", "normal", "", ""),
        ("not normal", "", "", "normal"),
        ("normal vascularity", "", "", ""),
        ("normal haustra", "", "normal", ""),
        ("normal mucosa, small polyp", "polyp", "", "normal"),
        ("normal, some bubbles", "normal bubbles", "", ""),
        # contradiction and slips of the pen
        ("bleeding; no bleeding", "", "haemorrhage", ""),
        ("proctits", "", "inflammation", ""),
        ("probaly polyp", "", "polyp", ""),
        ("", "", "", ""),
    ],
)
def test_invented_texts(text: str, labels: str, unknown: str, denied: str) -> None:
    found = parse_tag(text)
    assert (" ".join(found.labels), " ".join(found.unknown), " ".join(found.negated)) == (
        labels,
        unknown,
        denied,
    )


def test_a_mention_tells_what_where_and_how() -> None:
    text = "No erosion; probably polyps"
    first, second = parse_tag(text).mentions
    assert (first.term, first.label, first.negated, first.uncertain) == ("erosion", "erosion", True, False)
    assert (second.term, second.label, second.negated, second.uncertain) == ("polyps", "polyp", False, True)
    assert [text[slice(*m.span)] for m in (first, second)] == ["erosion", "polyps"]


def test_reasons_never_quote_the_text() -> None:
    found = parse_tag("Xandria Quuxbury 1950 has a polyp? and erosin")
    assert found.unmatched == ("Xandria", "Quuxbury", "has", "erosin")
    assert not any(
        word in reason for reason in found.review for word in ("Xandria", "Quuxbury", "1950", "erosin")
    )
    assert any("erosion" in reason for reason in found.review)


@pytest.mark.parametrize("alias", sorted({*CLASSES, *ALIASES}))
def test_every_class_and_alias_is_a_term(alias: str) -> None:
    name = ALIASES.get(alias, alias)
    found = parse_tag(alias)
    assert found.labels == (name,)
    assert not found.review


def test_what_an_unmentioned_class_becomes() -> None:
    found = parse_tag("polyp, no bleeding; perhaps erosion")
    assert found.target() == (("polyp",), ("erosion",))
    labels, unknown = found.target("unknown")
    assert labels == ("polyp",)
    assert set(unknown) == set(CLASSES) - {"polyp", "haemorrhage", "normal"}  # a polyp is not normal


def test_a_tag_that_asserts_nothing_leaves_the_rest_unknown() -> None:
    assert parse_tag("biopsy").target() == ((), CLASSES)
    assert set(parse_tag("no bleeding").target()[1]) == set(CLASSES) - {"haemorrhage"}


def test_normal_settles_the_pathologies() -> None:
    assert parse_tag("normal").target("unknown") == (("normal",), ("debris", "bubbles"))


def test_tags_of_one_segment_are_joined() -> None:
    both = join([parse_tag("normal"), parse_tag("polyp, no erosion"), parse_tag("erosion; ?ulcer")])
    assert both.labels == ("erosion", "polyp")
    assert both.unknown == ("ulceration",)
    assert both.negated == ()
    assert join([parse_tag("biopsy"), parse_tag("polyp")]).target() == (("polyp",), ())
    assert join([parse_tag("normal"), parse_tag("normal")]).target() == (("normal",), ())


@given(st.text(max_size=80))
def test_any_text_is_read_and_no_word_is_lost(text: str) -> None:
    check(text)


@given(st.lists(st.sampled_from([" ".join(p) for p in sorted(standard_rules().meanings)] + ["Grunk", "\n"])))
def test_any_chain_of_phrases_is_read(phrases: list[str]) -> None:
    check(" ".join(phrases))


def check(text: str) -> None:
    found = parse_tag(text)
    groups = [set(found.labels), set(found.unknown), set(found.negated)]
    assert sum(map(len, groups)) == len(set.union(*groups)), "a class has one fate"
    assert not ("normal" in found.labels and set(found.labels) & set(PATHOLOGIES))
    assert {m.label for m in found.mentions if m.label} <= set.union(*groups)
    spans = [m.span for m in found.mentions]
    assert spans == sorted(spans)
    assert all(0 <= a < b <= len(text) for a, b in spans)
    assert found.labels or found.review, "what asserts nothing is listed"
    for absent in ("absent", "unknown"):
        labels, unknown = found.target(absent)
        assert not set(labels) & set(unknown)
        assert labels == tuple(c for c in CLASSES if c in labels)
        assert set(found.unknown) <= set(unknown)


def test_the_text_of_negation_survives_noise() -> None:
    for place in ("in the rectum", "(rectum)", ", rectum", "3 cm"):
        assert parse_tag(f"no bleeding {place}").negated == ("haemorrhage",)


def write(folder: Path, old: str, new: str) -> Path:
    from importlib.resources import files

    text = (files("devcem.labels") / "tag_rules.yaml").read_text(encoding="utf-8")
    assert old in text
    path = folder / "rules.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    rules = load_rules(
        write(tmp_path, "  polyp: [polypoid]", "  polyp: [polypoid, polypp]\n  oedema: [hevelse]")
    )
    assert parse_tag("polypp med hevelse", rules).labels == ("oedema", "polyp")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("  polyp: [polypoid]", "  polypp: [polypoid]", "'polypp' is no class"),
        ("  pale: a colour, not a class", "  swollen: a colour", "'swollen' has two meanings"),
        ("neutral: [", "neutrall: [", "not a rule table: neutral: Field required (and 1 more)"),
        ("neutral: [", "neutral: {", "not a rule table: this is not YAML"),
        ("  polyp: [polypoid]", "  polyp: polypoid", "terms.polyp: Input should be a valid list"),
    ],
)
def test_a_broken_table_is_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(UserError, match=re.escape(told)) as caught:
        load_rules(write(tmp_path, old, new))
    assert "\n" not in str(caught.value) and "pydantic" not in str(caught.value)


def test_what_is_no_table_of_rules_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "tags.csv").write_text("time,text\n1,polyp\n")
    for name, told in (("none.yaml", "no such file"), ("tags.csv", "holds no settings")):
        with pytest.raises(UserError, match=told) as caught:
            load_rules(tmp_path / name)
        assert "\n" not in str(caught.value) and "Errno" not in str(caught.value)


def test_phrases_are_cut_as_text_is() -> None:
    assert phrase("Pseudo-polyp  x") == ("pseudo", "polyp", "x")
