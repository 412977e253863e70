from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from devcem.labels import PATHOLOGIES, canonical
from devcem.synthetic.events import BUSIEST, QUIET, plan_events, statistics

EXAMS = 150


@pytest.fixture(scope="module")
def planned() -> list[np.ndarray]:
    """Lengths of the events of many exams of 50,000 frames."""
    return [np.array([len(event) for event in plan_events(50_000, seed)]) for seed in range(EXAMS)]


def test_the_median_exam_is_like_galars(planned: list[np.ndarray]) -> None:
    shares = [lasts.sum() / 50_000 for lasts in planned]
    assert np.median(shares) == pytest.approx(0.06, abs=0.02)
    assert np.median([len(lasts) for lasts in planned]) == pytest.approx(57, rel=0.25)
    assert max(shares) <= BUSIEST


def test_just_over_half_of_the_events_are_short_and_some_very_long(planned: list[np.ndarray]) -> None:
    lasts = np.concatenate(planned)
    assert ((lasts >= 4) & (lasts <= 8)).mean() == pytest.approx(0.56, abs=0.03)
    assert lasts.min() == 1
    assert lasts.max() > 2000


def test_the_tail_is_that_of_the_real_exams(planned: list[np.ndarray], shared_data: Path) -> None:
    exams = json.loads((shared_data / "labels" / "galar_events.json").read_text())["videos"]
    real = np.concatenate([_runs(exam["events"]) for exam in exams])
    lasts = np.concatenate(planned)
    for percent in (50, 90, 95, 99):
        ratio = np.percentile(lasts, percent) / np.percentile(real, percent)
        assert 0.5 < ratio < 2, (percent, ratio)


def test_events_keep_apart() -> None:
    for seed in range(30):
        events = plan_events(5_000, seed)
        assert events[0].start >= QUIET
        assert events[-1].stop <= 5_000 - QUIET
        assert all(b.start - a.stop >= QUIET for a, b in pairwise(events))
        assert all(
            set(event.kinds) <= set(PATHOLOGIES) and 1 <= len(set(event.kinds)) <= 2 for event in events
        )


def test_the_same_seed_gives_the_same_events() -> None:
    assert plan_events(5_000, 1) == plan_events(5_000, 1)
    assert plan_events(5_000, 1) != plan_events(5_000, 2)


def test_statistics_by_hand() -> None:
    sick = np.zeros(100, bool)
    sick[0:4] = sick[10:18] = sick[50:51] = sick[90:100] = True
    found = statistics(sick)
    assert (found.frames, found.events, found.longest) == (100, 4, 10)
    assert found.pathological == 0.23
    assert found.four_to_eight == 0.5
    assert found.median_length == 6
    nothing = statistics(np.zeros(5, bool))
    assert (nothing.events, nothing.longest, nothing.four_to_eight) == (0, 0, 0)


def _runs(events: list[dict]) -> list[int]:  # type: ignore[type-arg]
    """Lengths of the runs of frames with any pathology, from inclusive ends."""
    lasts: list[int] = []
    end = None
    for event in events:
        if not any(
            canonical(label) in PATHOLOGIES or label == "lymphangioectasis" for label in event["label"]
        ):
            continue
        if end == event["start"] - 1:
            lasts[-1] += event["end"] - event["start"] + 1
        else:
            lasts.append(event["end"] - event["start"] + 1)
        end = event["end"]
    return lasts
