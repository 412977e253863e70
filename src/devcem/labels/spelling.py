"""The nearest valid name to one that is not valid."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from devcem.labels.classes import canonical


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """The valid name that *name* most likely stands for, letter case ignored; None where nothing is near."""
    by_lower = {v.lower(): v for v in valid if v}
    lower = name.strip().lower()
    meant = canonical(name)  # "tumor" is far from "tumour" in letters no more than in meaning
    if meant in by_lower:
        return by_lower[meant]
    close = get_close_matches(lower, by_lower, n=1, cutoff=0.6)
    if close:
        return by_lower[close[0]]
    starts = [v for v in by_lower if len(lower) >= 3 and (lower.startswith(v) or v.startswith(lower))]
    return by_lower[starts[0]] if starts else None
