from __future__ import annotations

import numpy as np
import pytest
import torch

from devcem.labels import CLASSES
from devcem.synthetic.lesions import DIFFUSE, EXTENT, FOCAL, LUMEN, diffuse, grow, residue
from devcem.synthetic.lesions.patch import ALPHA, EDGE, GLOSS, KEEP, MASK, PAINT, TINT
from devcem.synthetic.scene import Finding
from devcem.synthetic.texture import draw_from, fractal

NOISE = np.stack([fractal(draw_from(i), (128, 64), 2.5, 1, 8) for i in range(3)])
ALONG = np.linspace(0, 4, 128)


def finding(kind: str, seed: int = 3, contrast: float = 1.0, size: float = 0.3) -> Finding:
    return Finding(kind, 2.0, 0.0, size, contrast, seed)


def test_every_class_is_drawn_by_someone() -> None:
    assert set(FOCAL + DIFFUSE + LUMEN) | {"normal"} == set(CLASSES)


@pytest.mark.parametrize("kind", FOCAL)
def test_a_patch_is_sound_reproducible_and_ends_in_healthy_wall(kind: str) -> None:
    one, again, other = grow(finding(kind)), grow(finding(kind)), grow(finding(kind, seed=4))
    assert torch.equal(one.maps, again.maps)
    assert not torch.equal(one.maps, other.maps)
    assert bool(torch.isfinite(one.maps).all())
    mask = one.maps[MASK]
    assert 0.01 < float((mask > 0.5).float().mean()) < 0.7
    assert 0 <= float(one.maps[ALPHA].min()) <= float(one.maps[ALPHA].max()) <= 1.001
    edge = torch.cat([one.maps[:, 0], one.maps[:, -1], one.maps[:, :, 0], one.maps[:, :, -1]], 1)
    assert float((edge[TINT] - 1).abs().max()) < 0.05
    assert float((edge[KEEP] - 1).abs().max()) < 0.05
    for channel in (ALPHA, MASK, GLOSS):
        assert float(edge[channel].abs().max()) < 0.05


@pytest.mark.parametrize("kind", FOCAL)
def test_a_patch_is_neutral_where_it_ends(kind: str) -> None:
    """Just inside its edge a patch changes nothing; a change there would frame the lesion."""
    edge, line = EDGE * 0.9999, torch.linspace(-EDGE, EDGE, 400) * 0.9999
    there = torch.full_like(line, edge)
    u, v = torch.cat([there, -there, line, line]), torch.cat([line, line, there, -there])
    maps = grow(finding(kind)).look_up(u, v)
    neutral = torch.zeros(len(maps))
    neutral[TINT], neutral[KEEP] = 1, 1
    torch.testing.assert_close(maps, neutral[:, None].expand_as(maps), atol=0.01, rtol=0)


@pytest.mark.parametrize("kind", FOCAL)
def test_what_is_marked_differs_from_what_is_not(kind: str) -> None:
    item = grow(finding(kind))
    mucosa = torch.tensor([0.78, 0.29, 0.12])[:, None, None]
    colour = mucosa * item.maps[TINT] * (1 - item.maps[ALPHA]) + item.maps[PAINT]
    off = (colour / mucosa - 1).abs().amax(0) + torch.from_numpy(np.abs(item.height))
    marked = item.maps[MASK] > 0.5
    assert float(off[marked].mean()) > 4 * float(off[~marked].mean())


def test_a_patch_knows_its_own_place() -> None:
    item = grow(finding("polyp"))
    u, v = item.local(torch.tensor([2.0, 2.3]), torch.tensor([0.0, -0.15]))
    torch.testing.assert_close(u, torch.tensor([0.0, 1.0]))
    torch.testing.assert_close(v, torch.tensor([0.0, -0.5]))
    far = torch.full((1,), EXTENT * 1.5)
    assert not item.look_up(far, far).any()
    assert item.reach == pytest.approx(0.48)


def test_the_confusable_differ_where_they_should() -> None:
    def marked(kind: str) -> float:
        return float(
            np.mean([(grow(finding(kind, seed)).maps[MASK] > 0.5).float().mean() for seed in range(6)])
        )

    depth = {
        kind: min(grow(finding(kind, s)).height.min() for s in range(6)) for kind in ("erosion", "ulceration")
    }
    assert marked("erosion") < marked("ulceration")
    assert depth["ulceration"] < depth["erosion"] < 0
    fingers, polyp = grow(finding("pseudopolyp")).height, grow(finding("polyp")).height
    assert polyp.max() > fingers.max() > 0.2  # many small against one large


@pytest.mark.parametrize("kind", DIFFUSE)
def test_a_diffuse_change_stays_in_its_stretch_and_grows_with_contrast(kind: str) -> None:
    subtle, plain = (diffuse(finding(kind, contrast=c, size=0.8), ALONG, NOISE) for c in (0.5, 1.5))
    outside = np.abs(ALONG - 2.0) > 0.8 + 1.2
    for change in (subtle, plain):
        assert change.mask.min() >= 0
        assert change.mask.max() <= 1
        assert not change.mask[outside].any()
        assert np.allclose(change.tint[:, outside], 1)
        assert change.mask[64].mean() > 0.4
    off = [np.abs(np.log(change.tint)).mean() for change in (subtle, plain)]
    assert off[1] > 2 * off[0] > 0


def test_each_diffuse_kind_has_its_own_mark() -> None:
    changes = {kind: diffuse(finding(kind, size=0.8), ALONG, NOISE) for kind in DIFFUSE}
    middle = {kind: change.tint[:, 60:68].mean((1, 2)) for kind, change in changes.items()}
    assert middle["erythema"][1] < 0.85  # red: green is swallowed
    assert middle["oedema"][2] > 1.1  # pale
    assert changes["granularity"].rough.max() > changes["inflammation"].rough.max() > 0
    assert changes["oedema"].swelling.max() > changes["inflammation"].swelling.max() > 0
    assert changes["inflammation"].mucus.max() > 0
    assert not changes["erythema"].swelling.any()


def test_residue_fills_its_stretch() -> None:
    amount = residue(Finding("debris", 2.0, 0, 0.8, 1.0, 3), ALONG, NOISE)
    assert 0.3 < amount[64].mean() < 0.95
    assert not amount[:10].any()
