"""A confusion matrix for videos with several labels, whose rows and columns add up to labels and calls."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from devcem.evaluation.entries import Floats, checked_entries

NONE = "none"  # the name of the last row and column


def multilabel_confusion(
    truth: npt.ArrayLike, called: npt.ArrayLike, known: npt.ArrayLike | None = None
) -> Floats:
    """[K+1,K+1] from 0/1 tables [N,K]: rows true, columns called, the last of each "none".

    A video's label that is called counts 1 on the diagonal. Of its m missed labels and f falsely called
    classes every pair (missed i, false j) counts 1 / max(m, f): a missed label is spread evenly over the
    false calls. Where there are fewer of these, the rest of it, 1 - f/m, counts in column "none"; where there
    are more, the rest of each false call, 1 - m/f, counts in row "none". An unknown entry is neither label
    nor call.

    So row i adds up to the videos with label i and column j to the calls of j: the diagonal over its row is
    recall, over its column precision. With one label and one call a video, this is the ordinary matrix.
    """
    told, given, use = checked_entries(truth, called, known)
    if not np.isin(given, (0, 1)).all():
        raise ValueError("called holds something other than 0 and 1 where it is known")
    calls = use & (given == 1)
    missed, false = (told & ~calls).astype(np.float64), (calls & ~told).astype(np.float64)  # [N,K]
    m, f = missed.sum(axis=1), false.sum(axis=1)
    share = 1 / np.maximum(np.maximum(m, f), 1)  # [N] what a pair counts
    classes = told.shape[1]
    matrix = np.zeros((classes + 1, classes + 1))
    matrix[:classes, :classes] = missed.T @ (share[:, None] * false)
    matrix[np.diag_indices(classes)] += (told & calls).sum(axis=0)
    matrix[:classes, classes] = missed.T @ (1 - f * share)
    matrix[classes, :classes] = (1 - m * share) @ false
    return matrix


def row_shares(matrix: npt.ArrayLike) -> Floats:
    """Each row over its sum: of the videos with a label, the part called so. A row of nothing is NaN."""
    counts: Floats = np.asarray(matrix, np.float64)
    total = counts.sum(axis=1, keepdims=True)
    shares = np.full(counts.shape, np.nan)
    np.divide(counts, total, out=shares, where=total > 0)
    return shares
