"""Free text to labels: terms, negation and uncertainty with scope. Nothing is guessed silently.

docs/explanation/tag-rules.md explains the language, tag_rules.yaml holds the words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from devcem.labels.classes import CLASSES, PATHOLOGIES
from devcem.labels.tag_rules import Meaning, Rules, standard_rules

_TOKEN = re.compile(r"\n|\d+(?:[.,:]\d+)*|[^\W\d_]+|[.,;:?/&+()]")
_NEAR = 0.84  # difflib's ratio from which on a word may be a misspelt one
_SHORTEST = 5  # letters; shorter words lie near too many others


@dataclass(frozen=True)
class Mention:
    """A phrase of the tag that a rule knows as a finding."""

    term: str
    label: str | None  # its class; None for what is understood but is none of our classes
    negated: bool
    uncertain: bool
    span: tuple[int, int]  # characters of the text


@dataclass(frozen=True)
class TagOutcome:
    """What a tag says of each class, and what a human should look at."""

    text: str
    labels: tuple[str, ...]
    unknown: tuple[str, ...]
    negated: tuple[str, ...]
    mentions: tuple[Mention, ...]
    unmatched: tuple[str, ...]  # words that no rule knows, as written
    review: tuple[str, ...]  # reasons; they quote the rule table alone, never the text

    def target(self, absent: str = "absent") -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(labels, unknown) over the canonical classes.

        *absent* is what a class without mention becomes: "absent" as in the paper, or "unknown". A tag that
        asserts no class at all says nothing of those it does not mention: they are unknown either way.
        """
        if absent == "absent" and self.labels:
            return self.labels, self.unknown
        settled = {*self.labels, *self.negated}
        if "normal" in self.labels:
            settled |= set(PATHOLOGIES)
        elif settled_pathology(self.labels):
            settled.add("normal")
        return self.labels, tuple(c for c in CLASSES if c in self.unknown or c not in settled)


@dataclass(frozen=True)
class _Piece:
    text: str
    span: tuple[int, int]
    meaning: Meaning


def settled_pathology(labels: Sequence[str]) -> bool:
    """Whether a pathology is among the labels: `normal` cannot stand beside it."""
    return any(label in PATHOLOGIES for label in labels)


def parse_tag(text: str, rules: Rules | None = None) -> TagOutcome:
    """Read one tag."""
    rules = rules or standard_rules()
    review: list[str] = []
    pieces, misspelt = _correct(_pieces(text, rules), rules, review)
    mentions = list(_mentions(pieces, review))
    said = {m.label for m in mentions if m.label and not m.negated and not m.uncertain}
    negated = {m.label for m in mentions if m.label and m.negated and not m.uncertain}
    unsure = {m.label for m in mentions if m.label and m.uncertain} | misspelt
    for label in sorted(said & negated):
        review.append(f"{label} is both said and denied")
    unknown = (unsure - said) | (said & negated)
    labels = said - negated
    if settled_pathology([*labels]) and "normal" in labels | unknown:
        labels, unknown, negated = labels - {"normal"}, unknown - {"normal"}, negated | {"normal"}
        review.append("normal stands beside a pathology and is dropped")
    for mention in mentions:
        if mention.label is None:
            review.append(f"no class for '{mention.term}'")
    unmatched = tuple(p.text for p in pieces if p.meaning.kind == "word")
    if unmatched:
        review.append("words without a rule")
    if not labels:
        review.append("asserts no class")
    return TagOutcome(
        text,
        labels=_ordered(labels),
        unknown=_ordered(unknown),
        negated=_ordered(negated - unknown),
        mentions=tuple(mentions),
        unmatched=unmatched,
        review=tuple(dict.fromkeys(review)),
    )


def join(outcomes: Iterable[TagOutcome]) -> TagOutcome:
    """What several tags of one segment say together: what one of them asserts, the segment shows."""
    tags = list(outcomes)
    labels = {c for t in tags for c in t.labels}
    unknown = {c for t in tags for c in t.unknown} - labels
    if settled_pathology([*labels]):
        labels, unknown = labels - {"normal"}, unknown - {"normal"}
    return TagOutcome(
        " | ".join(t.text for t in tags),
        labels=_ordered(labels),
        unknown=_ordered(unknown),
        negated=_ordered({c for t in tags for c in t.negated} - labels - unknown),
        mentions=(),
        unmatched=tuple(word for t in tags for word in t.unmatched),
        review=tuple(dict.fromkeys(reason for t in tags for reason in t.review)),
    )


def _ordered(labels: set[str]) -> tuple[str, ...]:
    return tuple(c for c in CLASSES if c in labels)


def _pieces(text: str, rules: Rules) -> list[_Piece]:
    """The text cut into phrases of the table, the longest first, and words it does not know."""
    found = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    words = ["newline" if w == "\n" else unicodedata.normalize("NFKC", w).lower() for w, _, _ in found]
    pieces, i = [], 0
    while i < len(found):
        for length in range(min(rules.longest, len(found) - i), 0, -1):
            meaning = _look_up(words[i : i + length], rules)
            if meaning is not None or length == 1:
                break
        span = (found[i][1], found[i + length - 1][2])
        if meaning is None:
            meaning = Meaning("neutral" if words[i][0].isdigit() else "word")
        pieces.append(_Piece(text[slice(*span)], span, meaning))
        i += length
    return pieces


def _look_up(words: list[str], rules: Rules) -> Meaning | None:
    *head, last = words
    singular = [last[: -len(end)] for end in ("s", "es") if last.endswith(end) and len(last) > len(end) + 2]
    return next((m for w in (last, *singular) if (m := rules.meanings.get((*head, w)))), None)


def _correct(pieces: list[_Piece], rules: Rules, review: list[str]) -> tuple[list[_Piece], set[str]]:
    """Words that may be misspelt: near a cue they cast doubt, near a term they leave its class unknown."""
    vocabulary = {p[0]: m for p, m in rules.meanings.items() if len(p) == 1 and m.kind in ("term", "cue")}
    result, labels = [], set()
    for piece in pieces:
        near: list[str] = []
        if piece.meaning.kind == "word" and len(piece.text) >= _SHORTEST:
            near = get_close_matches(piece.text.lower(), vocabulary, n=1, cutoff=_NEAR)
        if near:
            review.append(f"'{near[0]}' may be meant")
            meant = vocabulary[near[0]]
            if meant.kind == "cue":
                piece = _Piece(piece.text, piece.span, Meaning("cue", reach=frozenset({"before", "after"})))
            else:
                labels.add(meant.label)
        result.append(piece)
    return result, labels


def _mentions(pieces: list[_Piece], review: list[str]) -> Iterator[Mention]:
    reached: dict[int, list[tuple[bool, bool]]] = {}  # piece -> (negates, certain) a cue
    for i, piece in enumerate(pieces):
        if piece.meaning.kind == "cue":
            for j, certain in _reach(pieces, i):
                reached.setdefault(j, []).append((piece.meaning.negates, certain))
    for i, piece in enumerate(pieces):
        meaning = piece.meaning
        if meaning.kind == "no class":
            yield Mention(_plain(piece), None, False, False, piece.span)
        if meaning.kind != "term":
            continue
        sure = [negates for negates, certain in reached.get(i, []) if certain]
        doubted = i in reached and not sure  # where one cue surely reaches the term, it alone counts
        uncertain = bool(meaning.reason) or doubted or not all(sure)
        if meaning.reason:
            review.append(f"{meaning.label} is unknown: {meaning.reason}")
        elif doubted:
            review.append(f"{meaning.label} is unknown: the cue before or behind may not reach it")
        elif uncertain:
            review.append(f"{meaning.label} is unknown: said to be uncertain")
        elif meaning.label == "normal" and not sure and _qualified(pieces, i):
            uncertain = True
            review.append("normal is unknown: something else may be what is normal")
        yield Mention(_plain(piece), meaning.label, not uncertain and bool(sure), uncertain, piece.span)


def _plain(piece: _Piece) -> str:
    return " ".join(piece.text.lower().split())


def _reach(pieces: list[_Piece], cue: int) -> Iterator[tuple[int, bool]]:
    """The terms that a cue reaches, and whether it surely does."""
    reach = pieces[cue].meaning.reach
    if "next" in reach and cue + 1 < len(pieces) and pieces[cue + 1].meaning.kind == "term":
        yield cue + 1, True
    last = cue + 1 == len(pieces) or pieces[cue + 1].meaning.kind == "ends" or pieces[cue + 1].text == ","
    twice = (
        bool(cue) and pieces[cue - 1].meaning.kind == "cue" and pieces[cue - 1].meaning.negates
    )  # "not without"
    if "before" in reach and not last:
        yield from _walk(pieces, range(cue + 1, len(pieces)), certain=not twice)
    if "after" in reach or ("before" in reach and last):  # "polyp, probably": a last cue reaches back
        yield from _walk(pieces, range(cue - 1, -1, -1), certain=True)


def _walk(pieces: list[_Piece], way: range, certain: bool) -> Iterator[tuple[int, bool]]:
    for i in way:
        kind = pieces[i].meaning.kind
        if kind in ("cue", "ends"):
            return
        if kind == "doubtful" and not _in_list(pieces, i):
            certain = False
        if kind == "term":
            yield i, certain


def _in_list(pieces: list[_Piece], comma: int) -> bool:
    """Whether a comma is one of "A, B or C"."""
    for piece in pieces[comma:]:
        if piece.meaning.kind in ("carries", "ends", "cue"):
            return piece.meaning.kind == "carries"
        if piece.meaning.kind == "doubtful" and piece.text != ",":
            return False
    return False


def _qualified(pieces: list[_Piece], normal: int) -> bool:
    """Whether the nearest words beside `normal` name something that may be what is normal."""
    for way in (range(normal + 1, len(pieces)), range(normal - 1, -1, -1)):
        kinds = (pieces[i].meaning.kind for i in way)
        if next((kind for kind in kinds if kind != "neutral"), "") in ("word", "no class"):
            return True
    return False
