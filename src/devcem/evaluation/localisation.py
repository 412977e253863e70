"""How well frame scores point at the frames that show a class, a class a row, over known frames alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from devcem.evaluation.entries import checked_entries, class_names
from devcem.evaluation.ranking import auroc, average_precision


def localisation_metrics(
    truth: Sequence[npt.ArrayLike],
    scores: Sequence[npt.ArrayLike],
    known: Sequence[npt.ArrayLike] | None = None,
    *,
    classes: Sequence[str] | None = None,
) -> pd.DataFrame:
    """A row a class and "macro", indexed by `class`, from one table [T,K] a segment; T may differ.

    - `auroc`, `ap` rank all known frames of all segments together, which also rewards the right segment;
    - `bag_auroc` is localisation proper: the AUROC within a segment, averaged over the `bags` in which known
      frames with and without the class both occur.

    A figure without the frames it needs is NaN and left out of the macro mean, as in `multilabel_metrics`.
    The counts of "macro" are sums over classes.
    """
    if len(truth) != len(scores) or (known is not None and len(known) != len(truth)):
        raise ValueError("truth, scores and known must list the same segments")
    if not truth:
        raise ValueError("no segment to judge")
    masks: Sequence[npt.ArrayLike | None] = [None] * len(truth) if known is None else known
    bags = [checked_entries(*bag) for bag in zip(truth, scores, masks, strict=True)]
    told, given, use = (np.concatenate(part) for part in zip(*bags, strict=True))
    rows = []
    for k in range(told.shape[1]):
        side, ranked = told[use[:, k], k], given[use[:, k], k]
        within = [auroc(t[u[:, k], k], s[u[:, k], k]) for t, s, u in bags if _mixed(t[u[:, k], k])]
        rows.append(
            {
                "positives": int(side.sum()),
                "negatives": int((~side).sum()),
                "auroc": auroc(side, ranked),
                "ap": average_precision(side, ranked),
                "bags": len(within),
                "bag_auroc": float(np.mean(within)) if within else np.nan,
            }
        )
    names = class_names(classes, told.shape[1])
    table = pd.DataFrame(rows, index=pd.Index(names, dtype=object, name="class"))
    counts = ["positives", "negatives", "bags"]
    table.loc["macro"] = [table[name].sum() if name in counts else table[name].mean() for name in table]
    return table.astype(dict.fromkeys(counts, int))


def _mixed(truth: npt.NDArray[np.bool_]) -> bool:
    return bool(truth.any() and not truth.all())
