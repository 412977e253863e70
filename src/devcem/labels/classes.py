"""The canonical classes, their other names, and the headings under which a reader reports them."""

from __future__ import annotations

import re
from types import MappingProxyType

# The paper's 14 in the order of its Table 1, then `bubbles`: its label counts leave room for a fifteenth
# class, and its text names that one.
_TABLE: dict[str, tuple[str, str]] = {
    # class: (CEST heading, other names; letter case, hyphens, underscores and other signs make no difference)
    "erosion": (
        "excavated lesions",
        "erosions, erosive lesion, erosive lesions, mucosal erosion, mucosal erosions, aphtha, aphthae, "
        "aphthous lesion, aphthous lesions, aphthous erosion, aphthous erosions",
    ),
    "debris": (
        "contents",
        "dirt, residue, residues, food residue, faeces, feces, stool, faecal matter, fecal matter",
    ),
    "diverticulosis": ("excavated lesions", "diverticulum, diverticula, diverticulums, diverticular disease"),
    "erythema": (
        "mucosa",
        "erythemas, erythematous, erythematous mucosa, redness, reddened mucosa, hyperaemia, hyperemia, "
        "hyperaemic, hyperemic, hyperaemic mucosa, hyperemic mucosa",
    ),
    "granularity": (
        "mucosa",
        "granular, granular mucosa, granulation, granulated mucosa, mucosal granularity",
    ),
    "haemorrhage": (
        "contents",
        "hemorrhage, haemorrhages, hemorrhages, bleeding, bleedings, active bleeding, bleed, bleeds, blood, "
        "fresh blood, blood fresh, old blood, hematin, haematin, blood hematin, blood haematin",
    ),
    "inflammation": ("mucosa", "inflammations, inflamed, inflamed mucosa, inflammatory, inflamed lesion"),
    "normal": (
        "normal",
        "normal mucosa, clean mucosa, normal clean mucosa, normal finding, normal findings, healthy, "
        "healthy mucosa, no finding, no findings, no pathology",
    ),
    "oedema": (
        "mucosa",
        "edema, oedemas, edemas, oedematous, "
        "edematous, oedematous mucosa, edematous mucosa, swelling, swollen mucosa",
    ),
    "angioectasia": (
        "flat lesions",
        "angioectasias, angiectasia, angiectasias, angioectasis, angiodysplasia, angiodysplasias, "
        "vascular lesion, vascular lesions, vascular malformation, vascular malformations, "
        "arteriovenous malformation",
    ),
    "polyp": ("protruding lesions", "polyps, polypoid lesion, polypoid lesions, adenoma, adenomas"),
    "pseudopolyp": (
        "protruding lesions",
        "pseudopolyps, pseudo polyp, pseudo polyps, inflammatory polyp, inflammatory polyps",
    ),
    "tumour": (
        "protruding lesions",
        "tumor, tumours, tumors, cancer, cancers, carcinoma, carcinomas, neoplasm, neoplasms, malignancy",
    ),
    "ulceration": ("excavated lesions", "ulcerations, ulcer, ulcers, ulcerated, ulcerated mucosa"),
    "bubbles": ("contents", "bubble, foam, air bubble, air bubbles, foamy contents"),
}

CLASSES: tuple[str, ...] = tuple(_TABLE)
CEST = MappingProxyType({name: heading for name, (heading, _) in _TABLE.items()})  # class -> heading
CEST_HEADINGS = (
    "normal",
    "lumen",
    "contents",
    "mucosa",
    "flat lesions",
    "protruding lesions",
    "excavated lesions",
)
NOT_PATHOLOGICAL = ("normal", "debris", "bubbles")
PATHOLOGIES: tuple[str, ...] = tuple(name for name in CLASSES if name not in NOT_PATHOLOGICAL)
ALIASES = MappingProxyType(
    {alias: name for name, (_, names) in _TABLE.items() for alias in names.split(", ")}
)


def canonical(name: str) -> str | None:
    """The class that *name* means, or None: "Blood - fresh" is haemorrhage, "pylorus" is nothing."""
    plain = re.sub(r"[\W_]+", " ", name).strip().lower()
    return plain if plain in CEST else ALIASES.get(plain)
