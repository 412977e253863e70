"""Which labels each video carries: the paper's Table 1 to the last count, and a small plan beside it.

The table fixes how many videos carry a class and how many videos carry 1, 2, ... labels. Its columns fall 21
and 10 labels short of its label counts: those are the unlisted 15th class, `bubbles`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from devcem.labels import CLASSES, PATHOLOGIES
from devcem.synthetic.texture import draw_from

Labels = tuple[str, ...]
SICK = frozenset(PATHOLOGIES)


@dataclass(frozen=True)
class Margins:
    """What a split must add up to."""

    videos: dict[str, int]  # class -> how many videos carry it
    sizes: tuple[int, ...]  # how many videos carry 1, 2, 3, ... labels

    def __post_init__(self) -> None:
        labels = sum(size * count for size, count in enumerate(self.sizes, 1))
        if labels != sum(self.videos.values()):
            raise ValueError(f"{labels} labels by size, {sum(self.videos.values())} by class")


@dataclass(frozen=True)
class Preset:
    name: str
    patients: int
    frames: int  # over all segments
    shortest: int
    longest: int
    shared: bool  # the same patients on both sides, as in the paper's random split over videos
    splits: dict[str, Margins]

    @property
    def classes(self) -> Labels:
        return tuple(c for c in CLASSES if any(c in margins.videos for margins in self.splits.values()))


PAPER_TRAIN = dict(zip(CLASSES, (54, 72, 17, 16, 27, 17, 22, 45, 5, 1, 32, 28, 8, 32, 21), strict=True))
PAPER_TEST = dict(zip(CLASSES, (64, 84, 16, 21, 28, 20, 24, 41, 7, 1, 30, 29, 3, 45, 10), strict=True))
DEMO = {
    "erosion": 5,
    "debris": 6,
    "erythema": 4,
    "haemorrhage": 4,
    "normal": 8,
    "polyp": 6,
    "ulceration": 4,
    "bubbles": 3,
}

PRESETS = {
    "paper": Preset(
        name="paper",
        patients=40,
        frames=28_304,
        shortest=50,
        longest=100,
        shared=True,
        splits={
            "train": Margins(PAPER_TRAIN, (107, 88, 16, 14, 2)),
            "test": Margins(PAPER_TEST, (98, 89, 21, 17, 2, 1)),
        },
    ),
    "demo": Preset(
        name="demo",
        patients=16,
        frames=5_760,
        shortest=50,
        longest=100,
        shared=False,
        splits={
            "train": Margins({name: 3 * videos for name, videos in DEMO.items()}, (33, 30, 9)),
            "test": Margins(DEMO, (11, 10, 3)),
        },
    ),
}

# Log odds that two labels stand on one video, beside chance. Not from the paper, which says nothing of it:
# inflammatory disease comes as a bundle, blood beside what bleeds, debris where diverticula hold it.
AFFINITY = {
    ("erosion", "ulceration"): 1.5,
    ("erosion", "inflammation"): 1.0,
    ("erosion", "erythema"): 1.0,
    ("erosion", "haemorrhage"): 0.5,
    ("ulceration", "inflammation"): 1.5,
    ("ulceration", "pseudopolyp"): 1.0,
    ("ulceration", "haemorrhage"): 0.7,
    ("ulceration", "oedema"): 0.7,
    ("inflammation", "oedema"): 2.0,
    ("inflammation", "erythema"): 1.5,
    ("inflammation", "granularity"): 1.5,
    ("inflammation", "pseudopolyp"): 1.5,
    ("erythema", "oedema"): 1.0,
    ("erythema", "granularity"): 1.0,
    ("granularity", "pseudopolyp"): 1.0,
    ("haemorrhage", "tumour"): 1.0,
    ("haemorrhage", "angioectasia"): 1.0,
    ("haemorrhage", "polyp"): 0.3,
    ("polyp", "tumour"): 0.5,
    ("polyp", "pseudopolyp"): -1.5,
    ("tumour", "pseudopolyp"): -1.5,
    ("diverticulosis", "debris"): 1.0,
    ("diverticulosis", "granularity"): -1.5,
    ("diverticulosis", "pseudopolyp"): -1.5,
    ("debris", "bubbles"): 0.5,
}
NEVER = -30.0  # normal beside a pathology


def label_sets(margins: Margins, seed: int) -> list[Labels]:
    """A label set a video, adding up to *margins* exactly; which labels stand together is drawn by AFFINITY.

    Gale and Ryser's construction gives one table with the wished row and column sums; swapping two labels
    between two videos keeps both sums, and Metropolis steps of such swaps draw a plausible table.
    """
    rng = draw_from(seed, "labels")
    videos = _any_table(margins)
    steps = 60 * len(videos)
    while steps > 0 or any(not plausible(labels) for labels in videos):
        _swap(videos, rng)
        steps -= 1
    shuffled = [videos[i] for i in rng.permutation(len(videos))]
    return [tuple(c for c in CLASSES if c in labels) for labels in shuffled]


def plausible(labels: set[str] | Labels) -> bool:
    """A video in which nothing is ill is `normal`, whatever lies in the lumen, and no other video is.

    So labels say what is seen: no video is tagged debris alone although its mucosa is in view and sound.
    """
    return ("normal" in labels) == SICK.isdisjoint(labels)


def lengths(frames: int, segments: int, shortest: int, longest: int, seed: int) -> list[int]:
    """How long each segment is: more short ones than long ones, all within the limits, adding up exactly."""
    if not shortest * segments <= frames <= longest * segments:
        raise ValueError(f"{frames} frames cannot be {segments} segments of {shortest} to {longest}")
    rng = draw_from(seed, "lengths")
    mean = frames / segments
    drawn = shortest + rng.exponential(max(mean - shortest, 1e-9), segments)
    counts = np.clip(np.round(drawn), shortest, longest).astype(int)
    while (missing := frames - int(counts.sum())) != 0:
        free = np.flatnonzero(counts < longest if missing > 0 else counts > shortest)
        chosen = rng.permutation(free)[: abs(missing)]
        counts[chosen] += 1 if missing > 0 else -1
    return [int(count) for count in counts]


def _any_table(margins: Margins) -> list[set[str]]:
    room = np.concatenate([np.full(n, size) for size, n in enumerate(margins.sizes, 1)])
    videos: list[set[str]] = [set() for _ in room]
    for name, count in sorted(margins.videos.items(), key=lambda item: -item[1]):
        for video in np.argsort(-room, kind="stable")[:count]:
            videos[video].add(name)
            room[video] -= 1
    if room.any():
        raise ValueError("no videos have these label counts and class counts")
    return videos


def _swap(videos: list[set[str]], rng: np.random.Generator) -> None:
    i, j = rng.integers(len(videos), size=2)
    mine, yours = sorted(videos[i] - videos[j]), sorted(videos[j] - videos[i])
    if not mine or not yours:
        return
    give, take = str(rng.choice(mine)), str(rng.choice(yours))
    first, second = videos[i] - {give} | {take}, videos[j] - {take} | {give}
    gain = _odds(first) + _odds(second) - _odds(videos[i]) - _odds(videos[j])
    if np.log(rng.uniform()) < gain:
        videos[i], videos[j] = first, second


def _odds(labels: set[str]) -> float:
    names = sorted(labels)
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    odds = sum(AFFINITY.get((a, b), AFFINITY.get((b, a), 0.0)) for a, b in pairs)
    wrong = 0 if plausible(labels) else max(len(labels & SICK), 1)  # the fewer wrong labels the better
    return odds + NEVER * wrong
