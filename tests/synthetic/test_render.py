from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from devcem.labels import CLASSES
from devcem.synthetic.appearance import appearance
from devcem.synthetic.lesions import DIFFUSE, EXTENT, FOCAL, LUMEN
from devcem.synthetic.render import VISIBLE, coverage, render, visible
from devcem.synthetic.scene import Finding, Path, Patient, Scene
from devcem.synthetic.tube import cameras, look_along, settle, trace
from devcem.synthetic.wall import bake

T = 6


def path(start: float = 50.0, frames: int = T, pace: float = 0.03) -> Path:
    t = np.arange(frames, dtype=float)
    wave = np.stack([np.sin(t / 9), np.cos(t / 7)], -1)
    return Path(start + pace * t, 0.25 * wave, 0.2 * wave, t / 20, 0.1 * np.ones(frames), 100 + t / 5)


def scene(*findings: Finding, **changes: object) -> Scene:
    made = Scene(Patient("", 11), findings, path(), overlay=False)
    return replace(made, **changes)  # type: ignore[arg-type]


def crowd() -> tuple[Finding, ...]:
    """One of every kind within sight."""
    focal = [Finding(kind, 50.5, 0.8 * i, 0.25, 1.2, i) for i, kind in enumerate(FOCAL)]
    diffuse = [Finding(kind, 50.6, 0, 1.0, 1.0, i) for i, kind in enumerate(DIFFUSE)]
    return (*focal, *diffuse, *(Finding(kind, 50.6, 0, 1.0, 1.5, i) for i, kind in enumerate(LUMEN)))


def filmed(made: Scene, size: int = 128, batch: int = 8) -> tuple[np.ndarray, np.ndarray]:
    frames, shares = zip(*render(made, size, batch), strict=True)
    return np.concatenate(frames), np.concatenate(shares)


def share(table: np.ndarray, kind: str) -> np.ndarray:
    return table[:, CLASSES.index(kind)]


def test_the_same_scene_gives_the_same_bytes() -> None:
    (one, a), (again, b) = filmed(scene(*crowd())), filmed(scene(*crowd()))
    assert one.shape == (T, 128, 128, 3)
    assert one.dtype == np.uint8
    assert a.shape == (T, len(CLASSES))
    assert np.array_equal(one, again)
    assert np.array_equal(a, b)


def test_batches_and_parts_do_not_change_what_is_filmed() -> None:
    made = scene(*crowd())
    whole, shares = filmed(made)
    single, singly = filmed(made, batch=1)
    part, partly = filmed(replace(made, path=made.path.part(2, 5)))
    assert np.abs(whole.astype(int) - single).mean() < 0.05
    assert np.abs(whole[2:5].astype(int) - part).mean() < 0.05
    np.testing.assert_allclose(singly, shares, atol=2e-3)
    np.testing.assert_allclose(partly, shares[2:5], atol=2e-3)


def test_a_scene_changes_with_patient_finding_and_time() -> None:
    well, _ = filmed(scene())
    other, _ = filmed(scene(patient=Patient("", 12)))
    sick, _ = filmed(scene(Finding("ulceration", 50.5, 0.5, 0.4, 1.2, 3)))
    for frames in (other, sick):
        assert np.abs(frames.astype(int) - well).max() > 40
    assert np.abs(np.diff(well.astype(int), axis=0)).mean() > 0.3


def test_the_view_is_lit_and_black_outside() -> None:
    frames, _ = filmed(scene())
    assert not frames[:, :5].any()
    assert not frames[:, 8:12, 8:12].any()
    red, green, blue = frames[:, 30:98, 30:98].reshape(-1, 3).mean(0)
    assert 20 < blue < green < red < 230


def test_a_healthy_gut_is_normal_and_nothing_else() -> None:
    made = scene()
    truth = visible(coverage(made))
    assert truth.sum() == T
    assert share(truth, "normal").all()
    assert np.array_equal(visible(filmed(made)[1]), truth)


@pytest.mark.parametrize("kind", [*FOCAL, *DIFFUSE, *LUMEN])
def test_each_kind_is_seen_where_it_lies_and_nowhere_else(kind: str) -> None:
    best = 0.0
    for angle in (0.0, 1.5, 3.0, 4.5):
        near = Finding(kind, 50.6, angle, 0.3 if kind in FOCAL else 1.0, 1.2, 5)
        shares = coverage(scene(near))
        best = max(best, float(share(shares, kind).max()))
        others = [i for i, name in enumerate(CLASSES) if name != kind]
        assert not shares[:, others].any()
    assert best > VISIBLE[kind]
    assert not coverage(scene(Finding(kind, 80.0, 0, 0.3, 1.2, 5))).any()


@pytest.mark.parametrize("kind", FOCAL)
def test_no_lesion_is_framed(kind: str) -> None:
    """A seam where its square of wall ends would tell a lesion from a healthy wall."""
    lesion, still = Finding(kind, 50.7, 1.0, 0.35, 1.2, 5), path(frames=1)
    sick, well = scene(lesion, path=still), scene(path=still)
    look = appearance(sick.patient)
    wall = bake(look, sick.findings, 45, 60, pixels=False)
    camera = settle(cameras(sick, look), wall)
    hits = trace(camera, wall, look_along(camera, 228))
    u, v = wall.patches[0].local(camera.position[:, None] + hits.along, hits.angle)
    away = (torch.maximum(u.abs(), v.abs()) / EXTENT).view(228, 228).numpy()
    away[(hits.distance > 2).view(228, 228).numpy()] = 9
    change = np.abs(filmed(sick, 256)[0][0].astype(int) - filmed(well, 256)[0][0]).max(-1)[14:-14, 14:-14]
    seam, beyond = (change[(away > a) & (away < b)] for a, b in ((0.98, 1.005), (1.03, 1.15)))
    assert len(seam) > 60
    assert np.percentile(seam, 90) < np.percentile(beyond, 90) + 8


def test_planning_and_rendering_see_the_same() -> None:
    made = scene(*crowd(), path=path(frames=12))
    planned, seen = coverage(made), filmed(made, 256)[1]
    assert (seen.max(0)[[CLASSES.index(k) for k in VISIBLE]] > 0).sum() >= 12
    # a coarse grid knows a share to about a ray in its 1,900
    np.testing.assert_allclose(planned, seen, atol=0.03)
    assert np.abs(planned - seen).mean() < 0.004


def test_nearer_is_larger() -> None:
    far, near = (
        coverage(scene(Finding("haemorrhage", 50.0 + z, 0.6, 0.3, 1, 5), path=path(frames=1)))
        for z in (1.6, 0.5)
    )
    assert share(near, "haemorrhage")[0] > 2 * share(far, "haemorrhage")[0]


def test_the_cameras_look_in_opposite_directions() -> None:
    ahead = tuple(Finding("erythema", 51.5, 0, 0.4, 1, s) for s in (1, 2))
    behind = tuple(Finding("oedema", 46.5, 0, 0.4, 1, s) for s in (1, 2))
    still = Path(50 * np.ones(1), np.zeros((1, 2)), np.zeros((1, 2)), np.zeros(1), np.zeros(1), np.ones(1))
    front, rear = (coverage(scene(*ahead, *behind, path=still, camera=c)) for c in ("front", "rear"))
    assert share(front, "erythema")[0] > 0.01
    assert share(front, "oedema")[0] == 0
    assert share(rear, "oedema")[0] > 0.01
    assert share(rear, "erythema")[0] == 0


def test_visible_goes_by_each_class_share() -> None:
    shares = np.zeros((4, len(CLASSES)), np.float32)
    shares[0, CLASSES.index("polyp")] = VISIBLE["polyp"] * 1.01
    shares[1, CLASSES.index("polyp")] = VISIBLE["polyp"] * 0.99
    shares[2, CLASSES.index("debris")] = 0.5
    truth = visible(shares)
    assert list(share(truth, "polyp")) == [True, False, False, False]
    assert list(share(truth, "normal")) == [False, True, True, True]  # debris is no pathology
    assert list(share(truth, "debris")) == [False, False, True, False]


def test_octagon_and_overlay_show() -> None:
    plain, _ = filmed(scene())
    cut, _ = filmed(scene(view="octagon"))
    text, _ = filmed(scene(overlay=True))
    row = 128 * 28 // 256
    assert not np.array_equal(plain[:, row] > 0, cut[:, row] > 0)
    assert text[:, :5].any()
    assert np.array_equal(text[:, 20:108], plain[:, 20:108])


def test_sizes_and_empty_scenes() -> None:
    frames, _ = filmed(scene(path=path(frames=1)), 64)
    assert frames.shape == (1, 64, 64, 3)
    assert coverage(scene(path=path(frames=0))).shape == (0, len(CLASSES))
    assert list(render(scene(path=path(frames=0)))) == []


def test_the_callers_threads_are_left_alone() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    for _ in render(scene(path=path(frames=2)), 64, batch=1):
        assert torch.get_num_threads() == 2
    coverage(scene(path=path(frames=1)))
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


def test_a_jump_far_along_the_gut_is_rendered() -> None:
    jump = path(frames=4)
    jump.position[2:] += 60
    frames, _ = filmed(scene(path=jump), 64, batch=2)
    assert frames[:, 20:44, 20:44].mean((1, 2, 3)).min() > 15
