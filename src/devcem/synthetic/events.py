"""When an exam shows disease: how many events, how long each, and the quiet between them.

Shaped after the fully labelled exams of Galar: in the median exam 57 events and 6% of the frames, half of all
events 4 to 8 frames long, a few of them thousands. Exams differ far more from each other than chance says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from devcem.labels import PATHOLOGIES
from devcem.synthetic.cohort import PROFILES
from devcem.synthetic.lesions import DIFFUSE
from devcem.synthetic.table1 import AFFINITY
from devcem.synthetic.texture import draw_from

Lengths = npt.NDArray[np.int64]
TYPICAL = 50_000  # frames of an exam for which the counts below hold
EVENTS, EVENTS_SPREAD = 57, 1.1  # the median, and the deviation of its logarithm between exams
FEWEST, MOST = 4, 600
DURATIONS = (  # (share of events, shortest, longest), evenly in the logarithm between
    (0.13, 1, 4),
    (0.56, 4, 9),  # more than half, since a frame too many or too few moves some out of it
    (0.212, 9, 60),
    (0.08, 60, 400),
    (0.018, 400, 6000),
)
BUSIEST = 0.6  # no exam shows disease in more of its frames than this
QUIET = 14  # frames at least between two events, in which the capsule leaves one lesion and nears the next
LONG = 60  # frames; what is in view longer is a stretch of wall rather than a spot
TWO = 0.15  # of the events show a second pathology


@dataclass(frozen=True)
class Event:
    """Frames start <= number < stop show all of *kinds*, and the frames on either side show no disease."""

    start: int
    stop: int
    kinds: tuple[str, ...]

    def __len__(self) -> int:
        return self.stop - self.start


def plan_events(frames: int, seed: int) -> list[Event]:
    """The events of one exam, in order."""
    rng = draw_from(seed, "events")
    lasts = _durations(frames, rng)
    starts = _starts(lasts, frames, rng)
    profile = _profile(rng)
    return [
        Event(int(start), int(start + length), _kinds(int(length), profile, rng))
        for start, length in zip(starts, lasts, strict=True)
    ]


def _durations(frames: int, rng: np.random.Generator) -> Lengths:
    scale = frames / TYPICAL
    wished = rng.lognormal(np.log(EVENTS * scale), EVENTS_SPREAD)
    count = int(np.clip(wished, max(1, FEWEST * scale), max(1, MOST * scale)))
    share, low, high = (np.array(column) for column in zip(*DURATIONS, strict=True))
    rows = rng.choice(len(DURATIONS), count, p=share)
    lasts: Lengths = np.exp(rng.uniform(np.log(low[rows]), np.log(high[rows]))).astype(np.int64)
    while lasts.sum() > BUSIEST * frames - QUIET * (count + 1):
        lasts[lasts.argmax()] //= 2
    return lasts


def _starts(lasts: Lengths, frames: int, rng: np.random.Generator) -> Lengths:
    """Quiet stretches are as uneven as in real exams: lesions come in clusters."""
    spare = frames - int(lasts.sum()) - QUIET * (len(lasts) + 1)
    parts = rng.lognormal(0, 2.0, len(lasts) + 1)
    quiet = QUIET + np.floor(parts / parts.sum() * spare).astype(np.int64)
    return np.cumsum(quiet[:-1]) + np.cumsum(lasts) - lasts


def _profile(rng: np.random.Generator) -> list[str]:
    """The diseases of one patient: those of one profile, and now and then one more."""
    share = np.array([share for share, _ in PROFILES.values()])
    kinds = sorted([kinds for _, kinds in PROFILES.values()][rng.choice(len(share), p=share / share.sum())])
    others = [name for name in PATHOLOGIES if name not in kinds]
    return [*kinds, str(rng.choice(others))]


def _kinds(length: int, profile: list[str], rng: np.random.Generator) -> tuple[str, ...]:
    spread = length > LONG
    fitting = [kind for kind in profile if (kind in DIFFUSE) == spread]
    kind = str(rng.choice(fitting or (DIFFUSE if spread else profile)))
    partners = [b if a == kind else a for (a, b), odds in AFFINITY.items() if kind in (a, b) and odds > 0]
    sick = [name for name in partners if name in PATHOLOGIES]
    if sick and rng.random() < TWO:
        return (kind, str(rng.choice(sick)))
    return (kind,)


@dataclass(frozen=True)
class Statistics:
    """What an exam, planned or filmed, adds up to."""

    frames: int
    events: int
    pathological: float  # share of frames
    four_to_eight: float  # share of events
    median_length: float
    longest: int


def statistics(sick: npt.NDArray[np.bool_]) -> Statistics:
    """From [T], whether a frame shows any pathology: an event is a run of such frames."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], sick.astype(np.int8), [0]])))
    lasts = edges[1::2] - edges[::2]
    return Statistics(
        frames=len(sick),
        events=len(lasts),
        pathological=float(sick.mean()),
        four_to_eight=float(((lasts >= 4) & (lasts <= 8)).mean()) if len(lasts) else 0.0,
        median_length=float(np.median(lasts)) if len(lasts) else 0.0,
        longest=int(lasts.max(initial=0)),
    )
