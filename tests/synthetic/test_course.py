"""Exams before they are filmed: what was planned is what is seen."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from devcem.labels import PATHOLOGIES
from devcem.synthetic.course import Exam, plan_exam
from devcem.synthetic.events import Event, statistics
from devcem.synthetic.exam import survey
from devcem.synthetic.truth import is_sick, truth

FRAMES = 3_000


@pytest.fixture(scope="module")
def exam() -> Exam:
    return plan_exam(FRAMES, seed=5)


def planned(events: tuple[Event, ...], frames: int) -> np.ndarray:
    sick = np.zeros(frames, bool)
    for event in events:
        sick[event.start : event.stop] = True
    return sick


def test_what_was_planned_is_seen(exam: Exam) -> None:
    wished, seen = planned(exam.events, FRAMES), is_sick(survey(exam))
    assert wished.sum() > 20
    missed, extra = (wished & ~seen).sum(), (seen & ~wished).sum()
    assert missed + extra <= 3 * len(exam.events) + 0.02 * wished.sum()


def test_the_path_keeps_going(exam: Exam) -> None:
    position = exam.path.position
    assert len(exam.path) == FRAMES
    assert (np.diff(exam.path.times) > 0).all()
    for before, event in pairwise(exam.events):
        assert position[event.start] > position[before.stop - 1]
        quiet = position[before.stop : event.start]
        assert quiet.min() >= position[before.stop - 1] - 1e-9
        assert quiet.max() <= position[event.start] + 1e-9


def test_findings(exam: Exam) -> None:
    kinds = [finding.kind for finding in exam.findings]
    assert [kind for kind in kinds if kind in PATHOLOGIES] == [
        k for event in exam.events for k in event.kinds
    ]
    assert {"debris", "bubbles"} & set(kinds)


def test_a_part_knows_its_findings(exam: Exam) -> None:
    """Cutting the exam into scenes changes nothing of what is seen."""
    start = max(0, exam.events[0].start - 20)
    whole = replace(exam.scene(start, start + 60), findings=exam.findings)
    parts = [truth(exam.scene(at, at + 30)) for at in (start, start + 30)]
    assert np.array_equal(np.concatenate(parts), truth(whole))
    assert len(exam.scene(0, 60).findings) < len(exam.findings)


def test_the_same_seed_gives_the_same_exam() -> None:
    first, again, other = plan_exam(150, 1), plan_exam(150, 1), plan_exam(150, 2)
    assert first.findings == again.findings
    assert first.events == again.events
    assert np.array_equal(first.path.position, again.path.position)
    assert not np.array_equal(first.path.position, other.path.position)


@pytest.mark.long
def test_whole_exams_are_like_real_ones() -> None:
    """Six exams of 50,000 frames, looked at frame by frame."""
    found = []
    for seed in range(6):
        exam = plan_exam(50_000, seed, workers=2)
        wished = statistics(planned(exam.events, 50_000))
        seen = statistics(is_sick(survey(exam, workers=2)))
        assert seen.events == pytest.approx(wished.events, rel=0.25, abs=3)
        assert seen.pathological == pytest.approx(wished.pathological, rel=0.15)
        found.append(seen)
    events = sum(one.events for one in found)
    assert sum(one.four_to_eight * one.events for one in found) / events == pytest.approx(0.5, abs=0.1)
