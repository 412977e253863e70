"""How well frame scores point at the frames that show a class, a class a row, over known frames alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from devcem.evaluation.entries import Bools, Floats, class_names
from devcem.evaluation.pointing import hits_of
from devcem.evaluation.segments import Tables, checked_segments, known_columns


def localisation_metrics(
    truth: Tables,
    scores: Tables,
    known: Tables | None = None,
    times: Sequence[npt.ArrayLike] | None = None,
    *,
    classes: Sequence[str] | None = None,
) -> pd.DataFrame:
    """A row a class and "macro", indexed by `class`, from one table [T,K] a segment; T may differ.

    - `auroc`, `ap` rank all known frames of all segments together, which also rewards the right segment;
    - `bag_auroc` is localisation proper: the AUROC within a segment, averaged over the `bags` in which known
      frames with and without the class both occur;
    - `pointing` is the share of segments with the class whose highest-scored frame shows it
      (`pointing_game`).

    A figure without the frames it needs is NaN and left out of the macro mean, as in `multilabel_metrics`.
    The counts of "macro" are sums over classes. *times*, seconds [T] a segment, change no figure here, as
    none is measured in seconds (`event_detection` has those); they are checked to fit.
    """
    bags = checked_segments(truth, scores, known)
    if times is not None and [np.shape(t) for t in times] != [t.shape[:1] for t, _, _ in bags]:
        raise ValueError("times must have one row a segment, one entry a frame")
    rows = []
    for k in range(bags[0][0].shape[1]):
        columns = known_columns(bags, k)
        side, ranked = (np.concatenate(part) for part in zip(*columns, strict=True))
        within = [areas(t, s)[0] for t, s in columns if t.any() and not t.all()]
        area, precision = areas(side, ranked)
        hits = hits_of(columns)
        rows.append(
            {
                "positives": int(side.sum()),
                "negatives": int((~side).sum()),
                "auroc": area,
                "ap": precision,
                "bags": len(within),
                "bag_auroc": float(np.mean(within)) if within else np.nan,
                "pointing": float(np.mean(hits)) if hits else np.nan,
            }
        )
    names = class_names(classes, len(rows))
    table = pd.DataFrame(rows, index=pd.Index(names, dtype=object, name="class"))
    counts = ["positives", "negatives", "bags"]
    table.loc["macro"] = [table[name].sum() if name in counts else table[name].mean() for name in table]
    return table.astype(dict.fromkeys(counts, int))


def areas(truth: Bools, scores: Floats) -> tuple[float, float]:
    """`auroc` and `average_precision` of ranking.py from one sort of values, which for the millions of frames
    of whole exams takes a tenth of the time that their sorts of places take."""
    rising, true = np.sort(scores), np.sort(scores[truth])
    if not len(true):
        return float("nan"), float("nan")
    # for each positive: how many frames, and how many positives, score less, and how many no more
    less, no_more = np.searchsorted(rising, true), np.searchsorted(rising, true, "right")
    true_less, true_no_more = np.searchsorted(true, true), np.searchsorted(true, true, "right")
    precision = float(np.mean((len(true) - true_less) / (len(rising) - less)))
    negatives = len(rising) - len(true)
    if not negatives:
        return float("nan"), precision
    won = int(np.sum(less - true_less)) + int(np.sum(no_more - true_no_more))  # twice, a tie counting half
    return won / (2 * negatives * len(true)), precision
