"""An exam before it is filmed: a path that keeps pace with planned events, and the lesions behind them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from devcem.labels import CLASSES
from devcem.parallel import in_parallel
from devcem.synthetic.events import LONG, QUIET, Event, plan_events
from devcem.synthetic.lesions import DIFFUSE, LUMEN
from devcem.synthetic.motion import follow, steps
from devcem.synthetic.placing import draw
from devcem.synthetic.scene import Array, Finding, Path, Patient, Scene
from devcem.synthetic.texture import draw_from
from devcem.synthetic.truth import REACH, Seen, at, truth

# frames on either side of an event in which its lesion must not show: all, and farther off every STRIDE-th
AROUND, FARTHER, STRIDE = 20, 160, 4
AIMED, TRIED = 4, 12  # times a lesion is moved by what is wrong with it, then, a spot alone, by chance
FLICKER = 3  # wrong frames that are as bad as an event in two parts, or in none
CLEAR = 4  # frames at a brisk pace that bring the capsule past a lesion, or up to the next
BRISK = 0.2  # radii a frame
MOST_SPOT, MOST_STRETCH = 0.9, 3.0  # radii travelled while a spot, or a stretch of wall, is in view
CONTENTS_EVERY = 45.0  # radii along the gut from one stretch with debris or bubbles to the next


@dataclass(frozen=True)
class Exam:
    """Everything about an exam but its pixels."""

    patient: Patient
    path: Path
    findings: tuple[Finding, ...]
    events: tuple[Event, ...]  # as planned; what is seen in the end may differ by a frame here and there
    view: str

    def scene(self, start: int, stop: int) -> Scene:
        """Frames start <= number < stop, with the findings that they may show."""
        path = self.path.part(start, stop)
        low, high = path.position.min() - REACH, path.position.max() + REACH
        near = tuple(f for f in self.findings if low - 2 * f.size < f.position < high + 2 * f.size)
        return Scene(self.patient, near, path, view=self.view)


def plan_exam(frames: int, seed: int, workers: int = 1) -> Exam:
    """The exam of one patient: the same for the same frames and seed, whatever the number of workers."""
    patient = Patient("P001", int(draw_from(seed, "patient").integers(2**31)))
    events = plan_events(frames, seed)
    path = _course(events, frames, seed)
    view = "octagon" if draw_from(patient.seed, "view").random() < 0.25 else "circle"
    jobs = (
        _Sight(Scene(patient, (), at(path, around), view=view), wished, kind, seed)
        for event in events
        for around, wished in [_around(event, frames)]
        for kind in event.kinds
    )
    lesions = in_parallel(_settle, jobs, workers)
    return Exam(patient, path, (*lesions, *_contents(patient, path, seed)), tuple(events), view)


def _course(events: list[Event], frames: int, seed: int) -> Path:
    """A path that passes each lesion in as many frames as its event lasts."""
    rng = draw_from(seed, "course")
    pace = steps(rng, frames)
    edges = [0, *(edge for event in events for edge in (event.start, event.stop)), frames]
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        pace[start:stop] = _quiet(pace[start:stop])
    for event in events:
        far = MOST_STRETCH if event.kinds[0] in DIFFUSE else MOST_SPOT
        share = np.abs(pace[event.start : event.stop]) + 0.02
        pace[event.start : event.stop] = share / share.sum() * min(far, 0.2 * len(event))
    path = follow(rng, pace)
    for event in events:  # a closed lumen would end the event early
        path.squeeze[max(0, event.start - 2) : event.stop + 2] = 0
    return path


def _quiet(pace: Array) -> Array:
    """Steps between two events: never so far back or ahead that a lesion shows at the wrong time."""
    if len(pace) < QUIET:
        return pace
    at = np.cumsum(pace)
    end = max(float(at[-1]), 2 * CLEAR * BRISK + 0.3)
    inner = np.clip(at, CLEAR * BRISK, end - CLEAR * BRISK)
    inner[:CLEAR] = BRISK * np.arange(1, CLEAR + 1)
    inner[-CLEAR:] = end - BRISK * np.arange(CLEAR - 1, -1, -1)
    return np.diff(inner, prepend=0.0)


@dataclass(frozen=True)
class _Sight:
    """A lesion to be placed: the exposures around its event, and in which of them it is to be seen."""

    scene: Scene
    wished: Seen  # [T]
    kind: str
    seed: int


def _around(event: Event, frames: int) -> tuple[npt.NDArray[np.int64], Seen]:
    """The numbers of the frames to look at, and which of them belong to the event."""
    numbers = np.arange(max(0, event.start - FARTHER), min(frames, event.stop + FARTHER))
    near = (numbers >= event.start - AROUND) & (numbers < event.stop + AROUND)
    chosen = numbers[near | (numbers % STRIDE == 0)]
    return chosen, (chosen >= event.start) & (chosen < event.stop)


def _settle(sight: _Sight) -> Finding:
    """Look at the lesion, move and resize it, look again: the least wrong one is kept."""
    rng = draw_from(sight.seed, int(1000 * sight.scene.path.times[0]), sight.kind)
    path, wished = sight.scene.path, sight.wished
    lasts = int(wished.sum())
    best = finding = _guess(sight, path.position[wished], rng)
    least = np.inf
    for number in range(AIMED + (TRIED if lasts <= LONG else 0)):
        seen = truth(replace(sight.scene, findings=(finding,)))[:, CLASSES.index(sight.kind)]
        parts = np.count_nonzero(np.diff(seen, prepend=False, append=False)) / 2
        wrong = (seen != wished).sum() + FLICKER * abs(parts - 1)
        if wrong < least:
            best, least = finding, wrong
        if wrong <= lasts // 50:
            break
        if number < AIMED:
            finding = _adjusted(finding, path.position[seen], path.position[wished])
        else:
            finding = _shaken(best, rng)
    return best


def _guess(sight: _Sight, wish: Array, rng: np.random.Generator) -> Finding:
    """A finding that should be in view while the capsule is at *wish*."""
    finding = draw(sight.scene.patient, sight.kind, float(wish[-1]) + 0.4, rng)
    if sight.kind not in DIFFUSE:
        return finding
    half = float(wish[-1] - wish[0]) / 2
    return replace(finding, position=float(wish[0]) + half + 0.8, size=max(0.2, half - 0.4))


def _adjusted(finding: Finding, at: Array, wish: Array) -> Finding:
    """Nearer or larger where it is seen too late or too short, else farther or smaller.

    *at* and *wish*: positions of the capsule from which the finding is, and should be, seen.
    """
    if not len(at):
        return replace(finding, position=finding.position - 0.1, size=finding.size * 1.3)
    shift = np.clip((wish[0] + wish[-1] - at[0] - at[-1]) / 2, -0.5, 0.5)
    grow = np.clip((wish[-1] - wish[0] + 0.1) / (at[-1] - at[0] + 0.1), 0.7, 1.4)
    low, high = (0.1, 8.0) if finding.kind in DIFFUSE else (0.06, 0.7)
    size = float(np.clip(finding.size * grow, low, high))
    return replace(finding, position=finding.position + float(shift), size=size)


def _shaken(finding: Finding, rng: np.random.Generator) -> Finding:
    return replace(
        finding,
        position=finding.position + float(rng.normal(0, 0.08)),
        angle=finding.angle + float(rng.normal(0, 0.4)),
        size=finding.size * float(np.exp(rng.normal(0, 0.12))),
    )


def _contents(patient: Patient, path: Path, seed: int) -> Iterator[Finding]:
    """What lies in the lumen here and there, with lesions or without."""
    rng = draw_from(seed, "contents")
    at = float(path.position.min())
    while (at := at + rng.exponential(CONTENTS_EVERY)) < path.position.max():
        yield draw(
            patient, str(rng.choice(LUMEN, p=(0.75, 0.25))), at, rng, larger=float(rng.uniform(0.7, 2.0))
        )
