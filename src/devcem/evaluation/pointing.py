"""The pointing game: does the frame that scores highest show the class?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from devcem.evaluation.entries import Bools, Floats, class_names
from devcem.evaluation.segments import Tables, checked_segments, known_columns


def pointing_game(
    truth: Tables, scores: Tables, known: Tables | None = None, *, classes: Sequence[str] | None = None
) -> pd.DataFrame:
    """A row a class and "macro": `bags` that have a known frame with the class, and the share `pointing` at
    one.

    Where several known frames share the highest score, the bag counts by the share of them that shows the
    class: what drawing one of them gives on average. A class that no bag has is NaN and not in the macro
    mean.
    """
    tables = checked_segments(truth, scores, known)
    rows = []
    for k in range(tables[0][0].shape[1]):
        hits = hits_of(known_columns(tables, k))
        rows.append({"bags": len(hits), "pointing": float(np.mean(hits)) if hits else np.nan})
    names = class_names(classes, len(rows))
    table = pd.DataFrame(
        rows, index=pd.Index(names, dtype=object, name="class"), columns=["bags", "pointing"]
    )
    table.loc["macro"] = [table["bags"].sum(), table["pointing"].mean()]
    return table.astype({"bags": int})


def hits_of(bags: Sequence[tuple[Bools, Floats]]) -> list[float]:
    """One figure a bag that has a true frame, from truth and scores [T] of its known frames."""
    return [float(told[given == given.max()].mean()) for told, given in bags if told.any()]
