"""How often and how long exams show disease: exams with complete frame truth beside what the renderer plans.

    devcem data import rare-vision ../shared/data/labels/galar_events.json galar-events
    python benchmarks/events.py galar-events [--plans 200]

An event is a run of frames that show any disease, whichever. Shares of events are over all exams together.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from devcem.labels import load_dataset, load_runs
from devcem.synthetic.events import TYPICAL, plan_events

HEALTHY = {"normal", "bubbles", "debris", "clean", "dirt", "good-view", "reduced-view", "no-view"} | {
    "mouth", "esophagus", "z-line", "stomach", "pylorus", "small-intestine", "ampulla-of-vater",
    "ileocecal-valve", "colon", "rectum", "foreign-body",
}  # fmt: skip
Sick = npt.NDArray[np.bool_]  # [T]
QUANTILES = (0, 0.25, 0.5, 0.75, 0.9, 0.99, 1)


def filmed(folder: Path) -> Iterable[Sick]:
    dataset = load_dataset(folder)
    runs = defaultdict(list)
    for run in load_runs(dataset):
        if set(run.labels) - HEALTHY:
            runs[run.segment].append(run)
    for segment in dataset.segments:
        sick = np.zeros(len(segment), np.bool_)
        for run in runs[segment.segment]:
            sick[run.start - segment.start : run.stop - segment.start] = True
        yield sick


def planned(exams: int) -> Iterable[Sick]:
    for seed in range(exams):
        sick = np.zeros(TYPICAL, np.bool_)
        for event in plan_events(TYPICAL, seed):
            sick[event.start : event.stop] = True
        yield sick


def tell(name: str, exams: Iterable[Sick]) -> None:
    shares, counts, lasts = [], [], []
    for sick in exams:
        edges = np.flatnonzero(np.diff(np.concatenate([[0], sick.astype(np.int8), [0]])))
        shares.append(sick.mean())
        counts.append(len(edges) // 2)
        lasts.append(edges[1::2] - edges[::2])
    lengths = np.concatenate(lasts)
    short, middle = (lengths < 4).mean(), ((lengths >= 4) & (lengths <= 8)).mean()
    print(f"{name}: {len(shares)} exams, in the median {np.median(shares):.1%} of the frames sick, ", end="")
    print(
        f"{np.median(counts):g} events; events of 1 to 3 frames {short:.0%}, 4 to 8 {middle:.0%}; lengths at"
    )
    print("   " + ", ".join(f"{q:.0%}: {np.quantile(lengths, q):,.0f}" for q in QUANTILES))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("dataset", type=Path, help="exams with frame truth")
    parser.add_argument("--plans", type=int, default=200)
    options = parser.parse_args()
    tell("dataset", filmed(options.dataset))
    tell("renderer", planned(options.plans))


if __name__ == "__main__":
    main()
