from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from devcem.synthetic.appearance import appearance
from devcem.synthetic.lesions import DIFFUSE
from devcem.synthetic.scene import Finding, Patient
from devcem.synthetic.wall import ALONG, MASKS, RADIUS, RESIDUE, TEXEL, TIGHTEST, TINT, Wall, bake

LOOK = appearance(Patient("", 1))


def at(wall: Wall, position: float, angle: float) -> torch.Tensor:
    """All channels at one place."""
    one = torch.zeros(1, 1)
    return wall.look_up(torch.tensor([position]), one, one + angle)[:, 0, 0]


def test_a_texel_is_the_same_whatever_the_stretch() -> None:
    findings = (
        Finding("polyp", 14.0, 0.5, 0.3, 1, 7),
        Finding("inflammation", 15.0, 0, 1.0, 1, 8),
        Finding("debris", 16.0, 0, 1.0, 1, 9),
    )
    one, other = bake(LOOK, findings, 5, 25, True), bake(LOOK, findings, 9, 22, True)
    shift = other.first - one.first
    margin = 60  # hollows look at their surroundings, gradients at their neighbours
    inner = other.maps[:, margin:-margin]
    same = one.maps[:, shift + margin : shift + margin + inner.shape[1]]
    torch.testing.assert_close(same, inner, atol=1e-6, rtol=1e-6)


def test_look_up_finds_the_texel_and_wraps_round() -> None:
    wall = bake(LOOK, (), 5, 10, True)
    row, column = 40, 17
    found = at(wall, (wall.first + row) * TEXEL, column * TEXEL - np.pi)
    torch.testing.assert_close(found, wall.maps[:, row, column], atol=2e-4, rtol=1e-3)
    torch.testing.assert_close(at(wall, 7, np.pi), at(wall, 7, -np.pi))


def test_planning_sees_the_same_geometry_as_rendering() -> None:
    findings = (Finding("erythema", 8.0, 0, 1.0, 1, 3), Finding("tumour", 7.0, 2.0, 0.5, 1, 4))
    full, plan = bake(LOOK, findings, 5, 12, True), bake(LOOK, findings, 5, 12, False)
    for channels in (RADIUS, RESIDUE, slice(MASKS, None)):
        assert torch.equal(full.maps[channels], plan.maps[channels])
    assert not plan.maps[ALONG].any()


@pytest.mark.parametrize(("kind", "inward"), [("polyp", True), ("tumour", True), ("diverticulosis", False)])
def test_raised_lesions_stand_in_the_lumen_and_pouches_leave_it(kind: str, inward: bool) -> None:
    look = replace(LOOK, lumps=0.0)
    finding = Finding(kind, 8.0, 1.0, 0.3, 1.0, 5)
    change = bake(look, (finding,), 5, 12, False).maps[RADIUS] - bake(look, (), 5, 12, False).maps[RADIUS]
    assert float(change.abs().max()) > 0.08
    largest = change.flatten()[change.abs().argmax()]
    assert (float(largest) < 0) == inward
    rows = torch.nonzero(change.abs().amax(1) > 1e-4)[:, 0] * TEXEL + 5
    assert 7.3 < float(rows.min()) < float(rows.max()) < 8.7  # nowhere but there


def test_nothing_closes_the_lumen() -> None:
    crowd = tuple(Finding("tumour", 8.0, angle, 0.9, 1.5, 5) for angle in (0, 1, 2, 3))
    assert float(bake(LOOK, crowd, 5, 12, False).maps[RADIUS].min()) >= TIGHTEST


def test_a_diffuse_finding_fills_its_stretch_and_no_more() -> None:
    wall = bake(LOOK, (Finding("granularity", 10.0, 0, 1.0, 1, 3),), 5, 15, True)
    mask = wall.maps[MASKS + DIFFUSE.index("granularity")]
    middle, outside = int((10 - 5) / TEXEL), int((13 - 5) / TEXEL)
    assert float(mask[middle].mean()) > 0.9
    assert not mask[outside:].any()
    others = [MASKS + i for i, kind in enumerate(DIFFUSE) if kind != "granularity"]
    assert not wall.maps[others].any()


def test_oedema_swells_the_wall_and_pales_it() -> None:
    sick = bake(LOOK, (Finding("oedema", 10.0, 0, 2.0, 1, 3),), 5, 15, True)
    well = bake(LOOK, (), 5, 15, True)
    rows = slice(int(4.5 / TEXEL), int(5.5 / TEXEL))
    assert float(sick.maps[RADIUS, rows].mean()) < float(well.maps[RADIUS, rows].mean()) - 0.03
    assert float(sick.maps[TINT][2, rows].mean()) > float(well.maps[TINT][2, rows].mean())


def test_covers_says_how_far_it_reaches() -> None:
    wall = bake(LOOK, (), 5, 10, False)
    assert wall.covers(5, 10)
    assert not wall.covers(4.9, 10)
    assert not wall.covers(5, 10.1)
