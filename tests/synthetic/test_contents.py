from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from devcem.synthetic import contents
from devcem.synthetic.appearance import appearance
from devcem.synthetic.contents import Floating, Pool, floating, pool
from devcem.synthetic.scene import Finding, Patient
from devcem.synthetic.splats import draw
from devcem.synthetic.tube import Camera, Hits

N = 65


def camera(x: float = 0.0) -> Camera:
    return Camera(
        torch.tensor([50.0]),
        torch.tensor([[x, 0.0]]),
        torch.eye(3)[None],
        torch.zeros(1, 2),
        torch.zeros(1),
        1.0,
    )


def cut(direction: tuple[float, float, float], distance: float, x: float = 0.0, depth: float = 0.3) -> Pool:
    """A ray in a gut that lies level, its pool *depth* deep on the side of +x."""
    look = replace(appearance(Patient("", 1)), fluid_level=depth)
    nothing = torch.zeros(1, 1)
    hits = Hits(torch.full((1, 1), distance), nothing, nothing, nothing, nothing, nothing)
    return pool(camera(x), look, torch.tensor([[direction]]), hits)


@pytest.fixture
def level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "wave", lambda _look, position, *_: np.zeros_like(position))


@pytest.mark.usefixtures("level")
def test_a_ray_straight_down_meets_the_pool() -> None:
    water = cut((1.0, 0, 0), 1.0)
    assert float(water.surface) == pytest.approx(0.7)
    assert float(water.path) == pytest.approx(0.3)
    assert float(water.facing) == pytest.approx(1.0)


@pytest.mark.usefixtures("level")
def test_a_slanting_ray_runs_further_through_it() -> None:
    water = cut((0.6, 0, 0.8), 1 / 0.6)
    assert float(water.surface) == pytest.approx(0.7 / 0.6)
    assert float(water.path) == pytest.approx(0.3 / 0.6)


@pytest.mark.usefixtures("level")
def test_rays_that_look_up_or_end_above_stay_dry() -> None:
    for direction, distance in (((-1.0, 0, 0), 1.0), ((1.0, 0, 0), 0.6), ((0, 0, 1.0), 5.0)):
        water = cut(direction, distance)
        assert float(water.path) == 0
        assert float(water.surface) == 0


@pytest.mark.usefixtures("level")
def test_under_water_all_is_fluid_up_to_the_surface() -> None:
    down, up = cut((1.0, 0, 0), 0.15, x=0.85), cut((-1.0, 0, 0), 1.85, x=0.85)
    assert float(down.path) == pytest.approx(0.15)
    assert float(up.path) == pytest.approx(0.15)  # the surface is as far above
    assert float(down.surface) == float(up.surface) == 0


def test_debris_floats_in_its_stretch_and_thickens_with_contrast() -> None:
    few, many = (floating(Finding("debris", 10.0, 0, 1.5, c, 4)) for c in (0.5, 1.5))
    assert len(many.size) == pytest.approx(3 * len(few.size), rel=0.05)
    for items in (few, many):
        assert np.abs(items.place[:, 2] - 10).max() <= 1.5
        assert np.hypot(items.place[:, 0], items.place[:, 1]).max() <= 0.85


def test_bubbles_lie_on_the_wall_and_not_in_each_other() -> None:
    items = floating(Finding("bubbles", 10.0, 0, 0.8, 1.0, 4))
    assert len(items.size) > 20
    away = np.hypot(items.place[:, 0], items.place[:, 1])
    np.testing.assert_allclose(away + items.size, 0.88)
    gaps = np.linalg.norm(items.place[:, None] - items.place[None], axis=2)
    touching = gaps < 0.5 * (items.size[:, None] + items.size[None])
    assert (
        touching.sum() - len(items.size) < 0.05 * touching.size
    )  # clusters may overlap, within one none does


def stamped(kind: str, away: float, wall: float = 3.0) -> tuple[torch.Tensor, torch.Tensor]:
    one = np.ones(1)
    items = Floating(kind, np.array([[0, 0, 50 + away]]), 0.1 * one, one, one)
    image, claimed = torch.full((3, 1, N, N), 0.2), torch.zeros(1, N, N, dtype=torch.bool)
    draw(image, claimed, items, camera(), torch.full((1, N, N), wall))
    return image, claimed


@pytest.mark.parametrize("kind", ["debris", "bubbles"])
def test_what_floats_ahead_is_in_the_middle_and_as_large_as_its_distance_says(kind: str) -> None:
    image, claimed = stamped(kind, 0.8)
    y, x = torch.nonzero(claimed[0], as_tuple=True)
    assert float(y.float().mean()) == pytest.approx(N // 2, abs=1.0)
    assert float(x.float().mean()) == pytest.approx(N // 2, abs=1.0)
    assert not torch.equal(image, torch.full_like(image, 0.2))
    further = stamped(kind, 1.6)[1]
    assert float(claimed.sum()) / float(further.sum()) == pytest.approx(4, rel=0.6)  # twice as near


def test_a_bubble_has_a_rim_and_is_clear_inside() -> None:
    image, _ = stamped("bubbles", 0.8)
    middle, rim = image[0, 0, N // 2, N // 2], image[0, 0].max()
    assert float(middle) < 0.2
    assert float(rim) > 0.25


def test_the_wall_hides_what_is_behind_it() -> None:
    assert not stamped("debris", 1.5, wall=1.0)[1].any()
    assert not stamped("debris", 5.0, wall=9.0)[1].any()  # too far
