from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from devcem.labels import CLASSES
from devcem.synthetic import placing
from devcem.synthetic.lesions import DIFFUSE, FOCAL, LUMEN
from devcem.synthetic.motion import travel
from devcem.synthetic.placing import ENOUGH, SIZES, draw, place
from devcem.synthetic.scene import Patient, Scene
from devcem.synthetic.truth import truth

PATIENT = Patient("P001", 11)


def scene(seed: int, frames: int = 30) -> Scene:
    return Scene(PATIENT, (), travel(np.random.default_rng(seed), frames, position=50.0))


@pytest.mark.parametrize("kind", [*FOCAL, *DIFFUSE, *LUMEN])
def test_every_kind_is_seen_where_it_is_tagged_and_nothing_else_is(kind: str) -> None:
    placed = place(scene(1), (kind,), tag=12, seed=5)
    seen = truth(placed)
    assert seen[12, CLASSES.index(kind)]
    assert seen[:, CLASSES.index(kind)].sum() >= ENOUGH
    assert set(np.flatnonzero(seen.any(0))) <= {CLASSES.index(kind), CLASSES.index("normal")}
    assert {finding.kind for finding in placed.findings} == {kind}


def test_many_at_once() -> None:
    kinds = ("erosion", "debris", "inflammation", "oedema", "ulceration")
    seen = truth(place(scene(2, 60), kinds, tag=30, seed=1))
    columns = [CLASSES.index(kind) for kind in kinds]
    assert (seen[:, columns].sum(0) >= ENOUGH).all()
    assert seen[30, columns].any()
    assert seen.any(0).sum() <= len(kinds) + 1


def test_normal_is_nothing() -> None:
    empty = scene(3)
    assert place(empty, ("normal",), 5, 0) == empty


def test_the_same_seed_places_the_same() -> None:
    first, again, other = (place(scene(4), ("polyp", "erosion"), 9, seed).findings for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_what_cannot_be_seen_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    blind = np.zeros((30, len(CLASSES)), bool)
    monkeypatch.setattr(placing, "truth", lambda _: blind)
    monkeypatch.setattr(placing, "TRIES", 2)
    with pytest.raises(placing.OutOfSight, match="polyp cannot be seen"):
        place(scene(5), ("polyp",), 9, 0)


def test_lesions_are_alike_within_a_patient() -> None:
    rng = np.random.default_rng(0)

    def sizes(patient: Patient) -> list[float]:
        return [draw(patient, "polyp", 0.0, rng).size for _ in range(50)]

    people = [sizes(replace(PATIENT, seed=seed)) for seed in range(20)]
    within = np.mean([np.std(person) for person in people])
    between = np.std([np.mean(person) for person in people])
    assert within < between
    low, high = SIZES["polyp"]
    assert low <= min(map(min, people))
    assert max(map(max, people)) <= high
