from __future__ import annotations

import pytest
import torch
from torchvision import tv_tensors

from devcem.frames.augment import Augmentation


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def video(length: int = 4, size: int = 32) -> torch.Tensor:
    return torch.randint(0, 256, (length, 3, size, size), generator=seeded(0), dtype=torch.uint8)


def test_flips_by_hand() -> None:
    frames = video()
    assert torch.equal(Augmentation(horizontal=True)(frames), frames.flip(-1))
    assert torch.equal(Augmentation(vertical=True)(frames), frames.flip(-2))
    assert torch.equal(Augmentation(True, True)(frames), frames.flip(-1, -2))
    assert torch.equal(Augmentation()(frames), frames)


def test_zoom_by_hand() -> None:
    frames = torch.zeros(2, 3, 40, 40, dtype=torch.uint8)
    frames[..., :20, 20:] = 200  # the upper right quarter
    seen = Augmentation(top=0.0, left=0.5, side=0.5)(frames)
    assert torch.equal(seen, torch.full_like(frames, 200))


@pytest.mark.parametrize("seed", range(5))
def test_all_frames_get_the_same(seed: int) -> None:
    frames = video(1).expand(6, -1, -1, -1)
    seen = Augmentation.draw(seeded(seed))(frames)
    assert isinstance(seen, tv_tensors.Video)
    assert (seen == seen[:1]).all()
    assert seen.shape == frames.shape
    assert seen.dtype == torch.uint8


def test_a_segment_in_parts_is_the_segment() -> None:
    frames, augment = video(6), Augmentation.draw(seeded(3))
    assert torch.equal(torch.cat([augment(frames[:2]), augment(frames[2:])]), augment(frames))


def test_the_seed_decides_and_nobody_elses_dice_are_touched() -> None:
    state = torch.get_rng_state()
    first = [Augmentation.draw(generator) for generator in [seeded(1)] for _ in range(5)]
    again = [Augmentation.draw(generator) for generator in [seeded(1)] for _ in range(5)]
    assert first == again
    assert len(set(first)) == 5
    assert torch.equal(torch.get_rng_state(), state)


def test_draws_cover_what_they_promise() -> None:
    generator = seeded(0)
    draws = [Augmentation.draw(generator, zoom=(0.5, 1.0)) for _ in range(2000)]
    for name in ("horizontal", "vertical"):
        assert sum(getattr(draw, name) for draw in draws) / 2000 == pytest.approx(0.5, abs=0.05)
    areas = torch.tensor([draw.side**2 for draw in draws])
    assert 0.5 <= areas.min() < 0.51
    assert 0.99 < areas.max() <= 1.0
    assert areas.mean() == pytest.approx(0.75, abs=0.015)
    assert all(draw.top + draw.side <= 1 + 1e-9 and draw.left + draw.side <= 1 + 1e-9 for draw in draws)


def test_floats_and_frames_that_are_not_square() -> None:
    frames = torch.rand(3, 3, 30, 50, generator=seeded(0))
    seen = Augmentation.draw(seeded(2))(frames)
    assert seen.shape == frames.shape
    assert seen.dtype == torch.float32
