"""Every table of "Five videos by hand" in docs/reference/metrics.md, read from that page."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from devcem.evaluation import mean_ap, multilabel_metrics, tune_thresholds
from devcem.evaluation.averages import averages
from devcem.evaluation.bootstrap import average_intervals, metric_differences, metric_intervals
from devcem.evaluation.guarantee import guaranteed_thresholds
from devcem.evaluation.metrics import RATIOS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
CLASSES = ["polyp", "debris", "tumour"]
COUNTS = ["tp", "fp", "fn", "tn"]


def tables() -> dict[tuple[str, str], pd.DataFrame]:
    """By the heads of the first two columns: cells as text, a row a name."""
    text = PAGE.read_text(encoding="utf-8").partition("## Five videos by hand")[2].partition("\n## ")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    found = {}
    for is_table, part in itertools.groupby(lines, lambda cells: len(cells) > 1):
        if is_table:
            head, _, *rows = part
            found[head[0], head[1]] = pd.DataFrame(
                [row[1:] for row in rows], [row[0] for row in rows], head[1:]
            )
    return found


TABLES = tables()
GIVEN = TABLES["video", "patient"]
PATIENTS = GIVEN["patient"].tolist()
KNOWN = (GIVEN[CLASSES] != "?").to_numpy()
TRUTH = (GIVEN[CLASSES] == "1").to_numpy()
SCORES = GIVEN["score"].to_numpy(float)
A, B = [0, 1], [2, 3, 4]  # rows of the two patients


def by_hand(first: str, second: str) -> pd.DataFrame:
    return TABLES[first, second].map(lambda cell: np.nan if cell == "-" else float(Fraction(cell)))


def same(found: object, wanted: object) -> None:
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(wanted, float), rtol=0, atol=1e-9)


def test_the_page_is_read_whole() -> None:
    assert len(TABLES) == 7
    assert TRUTH.shape == SCORES.shape == KNOWN.shape == (5, 3)
    assert PATIENTS == ["A", "A", "B", "B", "B"]
    assert (TRUTH.sum(), KNOWN.sum()) == (5, 14)


def test_classes() -> None:
    wanted = by_hand("class", "precision")
    found = multilabel_metrics(TRUTH, SCORES, KNOWN, classes=CLASSES)
    assert list(found.index) == list(wanted.index)
    same(found[list(RATIOS)], wanted[list(RATIOS)])
    assert mean_ap(TRUTH, SCORES, KNOWN) == pytest.approx(3 / 4, abs=1e-9)


def test_counts() -> None:
    wanted = by_hand("counts", "tp")
    for k, name in enumerate(CLASSES):
        alone = averages(TRUTH[:, [k]], SCORES[:, [k]], KNOWN[:, [k]], classes=[name])
        same(alone.loc["micro", COUNTS], wanted.loc[name, COUNTS])


def test_averages() -> None:
    wanted = by_hand("average", "precision")
    found = averages(TRUTH, SCORES, KNOWN, classes=CLASSES)
    assert list(found.index) == list(wanted.index)
    assert list(found.columns) == list(wanted.columns)
    same(found, wanted)


def test_each_video_of_the_samples() -> None:
    wanted = by_hand("video", "precision")
    for i in range(5):
        alone = averages(TRUTH[[i]], SCORES[[i]], KNOWN[[i]])
        same(alone.loc["samples", list(RATIOS)], wanted.iloc[i])


def test_thresholds() -> None:
    wanted = by_hand("threshold", "polyp")
    same(tune_thresholds(TRUTH, SCORES, KNOWN)[0], wanted.loc["tuned"])
    half = guaranteed_thresholds(TRUTH, SCORES, KNOWN, PATIENTS, 0.5)
    nine = guaranteed_thresholds(TRUTH, SCORES, KNOWN, PATIENTS, 0.9)
    same([*half, *nine], wanted.drop("tuned"))


def figures(rows: list[int]) -> list[float]:
    """In the order of the page, of a draw that holds these rows."""
    each = multilabel_metrics(TRUTH[rows], SCORES[rows], KNOWN[rows], classes=CLASSES)
    rival = multilabel_metrics(TRUTH[rows], np.ones((len(rows), 3)), KNOWN[rows], classes=CLASSES)
    return [
        each.loc["polyp", "recall"],
        each.loc["polyp", "auroc"],
        each.loc["debris", "ap"],
        each.loc["tumour", "specificity"],
        each.loc["macro", "recall"],
        each.loc["macro", "specificity"],
        averages(TRUTH[rows], SCORES[rows], KNOWN[rows]).loc["micro", "recall"],
        each.loc["macro", "recall"] - rival.loc["macro", "recall"],
    ]


def test_each_draw() -> None:
    wanted = by_hand("figure", "A twice")
    for name, rows in (("A twice", A + A), ("A and B", A + B), ("B twice", B + B)):
        same(figures(rows), wanted[name])


@pytest.mark.parametrize(("level", "low", "high"), [(0.95, "low", "high"), (0.4, "A and B", "A and B")])
def test_intervals(level: float, low: str, high: str) -> None:
    wanted = by_hand("figure", "A twice")
    if level == 0.4:  # polyp AUROC counts three quarters of the draws, of which a third is B twice
        wanted = wanted.drop("polyp auroc")
    given = (TRUTH, SCORES, KNOWN, PATIENTS)
    each = metric_intervals(*given, classes=CLASSES, level=level)
    every = average_intervals(*given, classes=CLASSES, level=level)
    less = metric_differences(TRUTH, (SCORES, np.ones((5, 3))), KNOWN, PATIENTS, classes=CLASSES, level=level)
    for name, row in wanted.iterrows():
        where, figure = str(name).split()[:2]
        table = less if "less" in str(name) else every if where == "micro" else each
        found = table.loc[where]
        same(found[[f"{figure}_low", f"{figure}_high"]], row[[low, high]])
        if "less" in str(name):
            same(found[figure], row["A and B"])
    assert 700 < each.loc["polyp", "auroc_draws"] == each.loc["polyp", "specificity_draws"] < 800
