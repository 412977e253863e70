from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.synthetic.appearance import COARSE, appearance
from devcem.synthetic.lesions import DIFFUSE
from devcem.synthetic.scene import Path, Patient, Scene
from devcem.synthetic.tube import (
    CAPSULE,
    CLEARANCE,
    FAR,
    HALF_FIELD,
    Camera,
    beam,
    cameras,
    contraction,
    contraction_slope,
    look_along,
    refine,
    settle,
    trace,
)
from devcem.synthetic.wall import MASKS, RADIUS, TEXEL, Wall


def pipe(radius: float = 1.0) -> Wall:
    """A straight pipe of 24 radii."""
    maps = torch.zeros(MASKS + len(DIFFUSE), int(24 / TEXEL), COARSE + 1)
    maps[RADIUS] = radius
    return Wall(0, maps, ())


def camera(offset: tuple[float, float] = (0, 0), squeeze: float = 0.0) -> Camera:
    return Camera(
        position=torch.tensor([12.0]),
        origin=torch.tensor([offset]),
        axes=torch.eye(3)[None],
        bend=torch.zeros(1, 2),
        squeeze=torch.tensor([squeeze]),
        ahead=1.0,
    )


def scene(which: str, tilt: tuple[float, float] = (0, 0), roll: float = 0.0) -> Scene:
    one = np.ones(1)
    path = Path(50 * one, np.zeros((1, 2)), np.array([tilt], float), roll * one, 0 * one, one)
    return Scene(Patient("", 1), (), path, camera=which)


def test_rays_in_a_straight_pipe_end_where_trigonometry_says() -> None:
    angles = np.radians([20.0, 45.0, 70.0])
    rays = torch.tensor([[[np.sin(a), 0.0, np.cos(a)] for a in angles]]).float()
    hits = trace(camera(), pipe(), rays)
    np.testing.assert_allclose(hits.distance[0], 1 / np.sin(angles), rtol=0.02)
    np.testing.assert_allclose(hits.along[0], 1 / np.tan(angles), rtol=0.02)
    np.testing.assert_allclose(hits.radius[0], 1, rtol=0.02)


def test_off_the_axis_the_near_wall_is_near_and_far_is_cut() -> None:
    rays = torch.tensor([[[1.0, 0, 0], [-1.0, 0, 0], [0, 0, 1.0]]])
    hits = trace(camera((0.5, 0)), pipe(), rays)
    np.testing.assert_allclose(hits.distance[0, :2], [0.5, 1.5], rtol=1e-3)
    assert 5 < float(hits.distance[0, 2]) <= FAR  # no wall there at all
    assert hits.angle[0, 0] == pytest.approx(0)
    assert abs(float(hits.angle[0, 1])) == pytest.approx(np.pi)


def test_refine_mends_a_distance_that_hangs_before_the_wall() -> None:
    rays = torch.tensor([[[1.0, 0, 0]]])
    assert float(refine(camera(), pipe(), rays, torch.tensor([[0.7]])).distance) == pytest.approx(1.0)


def test_a_bend_brings_the_wall_before_the_lens() -> None:
    bent = Camera(**{**camera().__dict__, "bend": torch.tensor([[1.0, 0.0]])})
    ahead = torch.tensor([[[0, 0, 1.0]]])
    # the centre line leaves the axis by z*z/2: the wall at one radius is met at z = sqrt(2)
    assert float(trace(bent, pipe(), ahead).distance) == pytest.approx(2**0.5, rel=0.01)


def test_settle_keeps_the_lens_off_the_wall() -> None:
    assert float(settle(camera((0.95, 0)), pipe()).origin[0, 0]) == pytest.approx(1 - CLEARANCE, abs=1e-5)
    assert float(settle(camera((0.3, 0)), pipe()).origin[0, 0]) == pytest.approx(0.3)


def test_a_contraction_closes_ahead_and_nowhere_else() -> None:
    z = torch.tensor([[1.0, 6.0, -6.0]])
    left = contraction(camera(squeeze=1.0), z, torch.zeros(1, 3))
    assert float(left[0, 0]) < 0.3
    assert float(left[0, 1:].min()) > 0.999
    assert torch.equal(contraction(camera(), z, torch.zeros(1, 3)), torch.ones(1, 3))


def test_the_slope_of_a_contraction_is_that_of_the_contraction() -> None:
    squeezed = camera(squeeze=0.8)
    hits = trace(squeezed, pipe(), torch.tensor([[[0.6, 0.0, 0.8], [0.0, 0.8, 0.6]]]))
    here, by_along, by_angle = contraction_slope(squeezed, hits)
    h = 0.02
    after = contraction(squeezed, hits.along + h, hits.angle)
    turned = contraction(squeezed, hits.along, hits.angle + h)
    torch.testing.assert_close(here + h * by_along, after)
    torch.testing.assert_close(here + h * by_angle, turned)


def test_a_view_is_a_fisheye() -> None:
    n = 101
    rays = look_along(camera(), n)[0].reshape(n, n, 3)
    torch.testing.assert_close(rays.norm(dim=-1), torch.ones(n, n))
    torch.testing.assert_close(rays[n // 2, n // 2], torch.tensor([0, 0, 1.0]), atol=1e-4, rtol=0)
    rim = float(torch.acos(rays[n // 2, n - 1, 2]))
    assert rim == pytest.approx(HALF_FIELD * (n - 1) / n, rel=1e-3)
    assert float(rays[n // 2, n - 1, 0]) > 0  # right is right


@settings(max_examples=40, deadline=None)
@given(st.floats(-1.2, 1.2), st.floats(-1.2, 1.2), st.floats(-3, 3))
def test_axes_are_a_right_handed_frame(a: float, b: float, roll: float) -> None:
    look = appearance(Patient("", 1))
    axes = cameras(scene("front", (a, b), roll), look).axes[0]
    torch.testing.assert_close(axes @ axes.T, torch.eye(3), atol=1e-5, rtol=0)
    assert float(torch.linalg.det(axes)) == pytest.approx(1, abs=1e-4)
    assert float(torch.acos(axes[2, 2].clamp(-1, 1))) == pytest.approx(np.hypot(a, b), abs=2e-3)


def test_the_rear_camera_looks_back_from_the_other_end() -> None:
    look = appearance(Patient("", 1))
    front, rear = (cameras(scene(which, (0.3, 0)), look) for which in ("front", "rear"))
    torch.testing.assert_close(rear.axes[0, 2], -front.axes[0, 2])
    assert float(rear.position) == pytest.approx(50 - CAPSULE * np.cos(0.3), abs=1e-4)
    assert float(rear.origin[0, 0]) == pytest.approx(-CAPSULE * np.sin(0.3), abs=1e-4)
    assert (front.ahead, rear.ahead) == (1, -1)


def test_light_falls_with_distance() -> None:
    near, middle, far = beam(torch.tensor([0.3, 1.0, 3.0]))
    assert near > 2 * middle > 8 * far
