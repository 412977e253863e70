from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.errors import UserError
from devcem.methods import Bag, collate

LABELS, KNOWN = torch.tensor([1.0, 0.0]), torch.tensor([True, False])


def bag(name: str, frames: int, width: int = 3, start: float = 1.0) -> Bag:
    features = start + torch.arange(frames * width, dtype=torch.float32).reshape(frames, width)
    return Bag(name, LABELS, KNOWN, features)


def test_by_hand() -> None:
    batch = collate([bag("a", 1), bag("b", 2, start=10)])
    assert batch.ids == ["a", "b"] and len(batch) == 2
    assert batch.mask.tolist() == [[True, False], [True, True]]
    assert batch.labels.tolist() == [[1, 0], [1, 0]] and batch.known.tolist() == [[True, False]] * 2
    assert batch.features is not None
    assert batch.features.tolist() == [[[1, 2, 3], [0, 0, 0]], [[10, 11, 12], [13, 14, 15]]]
    assert batch.frames is None


@settings(deadline=None)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=6), st.booleans(), st.booleans())
def test_every_real_frame_is_kept_and_no_other(lengths: list[int], pixels: bool, half: bool) -> None:
    drawn = [torch.randn(n, 4).to(torch.float16 if half else torch.float32) for n in lengths]
    films = [torch.randint(256, (n, 3, 2, 2), dtype=torch.uint8) for n in lengths] if pixels else None
    bags = [
        Bag(str(i), LABELS, KNOWN, features, None if films is None else films[i])
        for i, features in enumerate(drawn)
    ]
    batch = collate(bags)
    assert batch.mask.sum(1).tolist() == lengths and batch.mask.shape == (len(bags), max(lengths))
    assert (batch.mask.int().diff(dim=1) <= 0).all()  # real frames first
    assert batch.features is not None and batch.features.dtype == torch.float32
    assert torch.equal(batch.features[batch.mask], torch.cat(drawn).float())
    assert not batch.features[~batch.mask].any()
    if films is not None:
        assert batch.frames is not None and batch.frames.dtype == torch.uint8
        assert torch.equal(batch.frames, torch.cat(films))


def test_encoded_frames_find_their_place_with_their_gradient() -> None:
    films = [torch.zeros(n, 3, 2, 2, dtype=torch.uint8) for n in (2, 1, 3)]
    batch = collate([Bag(str(i), LABELS, KNOWN, frames=film) for i, film in enumerate(films)])
    encoded = torch.arange(6.0)[:, None].requires_grad_()
    filled = batch.with_features(encoded)
    assert filled.features is not None and filled.frames is None
    assert filled.features[..., 0].tolist() == [[0, 1, 0], [2, 0, 0], [3, 4, 5]]
    (filled.features * torch.tensor([1.0, 10, 100])[:, None]).sum().backward()
    assert encoded.grad is not None
    # what stands in the first column of a bag is times 1, the second times 10, the third times 100
    assert encoded.grad[:, 0].tolist() == [1, 10, 1, 1, 10, 100]
    assert batch.with_features(torch.ones(6, 1, dtype=torch.bfloat16)).features.dtype == torch.float32  # type: ignore[union-attr]


def test_to_moves_every_tensor() -> None:
    batch = collate([replace(bag("a", 2), frames=torch.zeros(2, 3, 4, 4, dtype=torch.uint8))])
    moved = batch.to("meta")
    tensors = (moved.mask, moved.labels, moved.known, moved.features, moved.frames)
    assert all(t is not None and t.device.type == "meta" for t in tensors)
    assert moved.ids == batch.ids


def test_length_is_of_features_or_frames() -> None:
    assert len(bag("a", 3)) == 3
    assert len(Bag("a", LABELS, KNOWN, frames=torch.zeros(4, 3, 2, 2, dtype=torch.uint8))) == 4
    assert len(Bag("a", LABELS, KNOWN)) == 0


@pytest.mark.parametrize(
    ("wrong", "where", "what"),
    [
        (bag("short", 0), "short", "no frames"),
        (Bag("bare", LABELS, KNOWN), "bare", "no frames"),
        (bag("wide", 2, width=4), "wide", "features of 4.*first holds.*features of 3"),
        (replace(bag("more", 2), labels=torch.zeros(3)), "more", "3 labels.*first holds 2 labels"),
        (replace(bag("known", 2), known=torch.ones(1).bool()), "known", "1 known"),
        (Bag("film", LABELS, KNOWN, frames=torch.zeros(2, 3, 8, 8)), "film", "frames of 3x8x8"),
        (replace(bag("odd", 2), frames=torch.zeros(3, 3, 8, 8)), "odd", "2 features do not go with 3 frames"),
    ],
)
def test_a_bag_that_does_not_fit_is_named(wrong: Bag, where: str, what: str) -> None:
    with pytest.raises(UserError, match=what) as error:
        collate([bag("first", 2), wrong])
    assert where in str(error.value) and "Remedy" in str(error.value)


def test_a_batch_needs_a_bag() -> None:
    with pytest.raises(ValueError, match="at least one bag"):
        collate([])
