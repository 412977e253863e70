"""The rule table that turns tag text into labels: read, checked and laid out for lookup."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

from devcem.config import Settings, checked, read_yaml
from devcem.errors import UserError
from devcem.labels.classes import ALIASES, CLASSES

Kind = Literal["term", "no class", "cue", "carries", "doubtful", "ends", "neutral", "word"]
Phrase = tuple[str, ...]


@dataclass(frozen=True)
class Meaning:
    """What a phrase does in a tag."""

    kind: Kind
    label: str = ""  # of a term: its class
    negates: bool = False  # a cue negates or makes uncertain
    reach: frozenset[str] = frozenset()  # of a cue: before, after, next
    reason: str = ""  # why a term is always doubtful, or why there is no class for it


@dataclass(frozen=True)
class Rules:
    """Every phrase, and the single words near which a misspelt one may lie."""

    meanings: dict[Phrase, Meaning]
    longest: int

    def __hash__(self) -> int:
        return id(self)


class _Cues(Settings):
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    next: tuple[str, ...] = ()


class _Separators(Settings):
    carries: list[str]
    doubtful: list[str]
    ends: list[str]


class _Table(Settings):
    terms: dict[str, list[str]]
    doubtful: dict[str, tuple[str, str]]
    no_class: dict[str, str]
    negation: _Cues
    uncertainty: _Cues
    separators: _Separators
    neutral: list[str]


@cache
def standard_rules() -> Rules:
    """The rules that come with DeVCEM."""
    with as_file(files("devcem.labels") / "tag_rules.yaml") as path:
        return load_rules(path)


def load_rules(path: Path) -> Rules:
    """Read a rule table; a class that does not exist or a phrase with two meanings is an error."""
    try:
        table = checked(_Table, read_yaml(path), path)
    except UserError as error:
        remedy = f"start from a copy of {files('devcem.labels') / 'tag_rules.yaml'}"
        raise UserError(f"not a rule table: {error.what}", error.where, remedy) from error
    meanings: dict[Phrase, Meaning] = {}
    for name in CLASSES:
        meanings[phrase(name)] = Meaning("term", name)
    for alias, name in ALIASES.items():
        meanings[phrase(alias)] = Meaning("term", name)
    own: dict[Phrase, Meaning] = {}  # the table's; they stand above the aliases

    def add(text: str, meaning: Meaning) -> None:
        if own.setdefault(phrase(text), meaning) != meaning:
            raise UserError(f"'{text}' has two meanings", path, "keep one of them")

    for name in [*table.terms, *(label for label, _ in table.doubtful.values())]:
        if name not in CLASSES:
            raise UserError(f"'{name}' is no class", path, f"one of {', '.join(CLASSES)}")
    for name, texts in table.terms.items():
        for text in texts:
            add(text, Meaning("term", name))
    for text, (name, reason) in table.doubtful.items():
        add(text, Meaning("term", name, reason=reason))
    for text, reason in table.no_class.items():
        add(text, Meaning("no class", reason=reason))
    for negates, cues in ((True, table.negation), (False, table.uncertainty)):
        reach: dict[str, set[str]] = {}
        for way in ("before", "after", "next"):
            for text in getattr(cues, way):
                reach.setdefault(text, set()).add(way)
        for text, ways in reach.items():
            add(text, Meaning("cue", negates=negates, reach=frozenset(ways)))
    for text in table.separators.carries:
        add(text, Meaning("carries"))
    for text in table.separators.doubtful:
        add(text, Meaning("doubtful"))
    for text in table.separators.ends:
        add(text, Meaning("ends"))
    for text in table.neutral:
        add(text, Meaning("neutral"))
    meanings |= own
    return Rules(meanings, max(map(len, meanings)))


def phrase(text: str) -> Phrase:
    """The words of a phrase, as the tokeniser would cut them."""
    return tuple(text.lower().replace("-", " ").split())
