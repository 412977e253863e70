"""Who carries what: videos are dealt to patients so that diseases keep together, as they do in people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from devcem.labels import PATHOLOGIES
from devcem.synthetic.scene import Patient
from devcem.synthetic.table1 import Labels
from devcem.synthetic.texture import draw_from

BOWEL_DISEASE = {"erosion", "erythema", "granularity", "inflammation", "oedema", "pseudopolyp", "ulceration"}
PROFILES = {  # (share of patients, what is common in them)
    "inflammatory": (0.35, BOWEL_DISEASE),
    "polyps": (0.25, {"polyp", "tumour", "haemorrhage"}),
    "erosive": (0.15, {"erosion", "ulceration", "haemorrhage"}),
    "diverticular": (0.15, {"diverticulosis", "polyp"}),
    "vascular": (0.10, {"angioectasia", "haemorrhage", "erythema"}),
}
AT_HOME = 8.0  # how many times likelier a finding is in a patient whose profile holds it


def people(count: int, seed: int) -> list[Patient]:
    seeds = draw_from(seed, "patients").integers(2**31, size=count)
    return [Patient(f"P{number:03d}", int(own)) for number, own in enumerate(seeds, 1)]


def deal(videos: Sequence[Labels], patients: int, seed: int) -> list[int]:
    """A patient's index for each video: one at least for each, and a label of two videos in two."""
    if len(videos) < patients:
        raise ValueError(f"{len(videos)} videos cannot come from {patients} patients")
    rng = draw_from(seed, "deal")
    homes = _profiles(patients, rng)
    room = 1 + rng.multinomial(len(videos) - patients, rng.dirichlet(np.full(patients, 4.0)))
    dealt = np.zeros(len(videos), dtype=int)
    for video in rng.permutation(len(videos)):
        likely = [AT_HOME ** len(home & set(videos[video])) for home in homes]
        odds = room * np.array(likely)
        dealt[video] = rng.choice(patients, p=odds / odds.sum())
        room[dealt[video]] -= 1
    for name in PATHOLOGIES:
        _spread(name, videos, dealt, rng)
    return [int(patient) for patient in dealt]


def _profiles(patients: int, rng: np.random.Generator) -> list[set[str]]:
    shares = np.array([share for share, _ in PROFILES.values()])
    kinds = [kinds for _, kinds in PROFILES.values()]
    return [kinds[rng.choice(len(kinds), p=shares / shares.sum())] for _ in range(patients)]


def _spread(
    name: str, videos: Sequence[Labels], dealt: npt.NDArray[np.int64], rng: np.random.Generator
) -> None:
    """Swap a video with another patient's where one patient alone would show *name*."""
    carriers = [i for i, labels in enumerate(videos) if name in labels]
    if len(carriers) < 2 or len({int(dealt[i]) for i in carriers}) > 1:
        return
    others = [i for i, labels in enumerate(videos) if name not in labels and dealt[i] != dealt[carriers[0]]]
    if others:
        mine, yours = carriers[0], int(rng.choice(others))
        dealt[mine], dealt[yours] = dealt[yours], dealt[mine]
