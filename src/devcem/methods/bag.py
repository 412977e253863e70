"""A bag of frames under one set of labels, and several of them padded to one length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from devcem.errors import UserError


@dataclass(frozen=True)
class Bag:
    """The frames of one segment, as features, as pixels, or both, and what its tag says."""

    id: str
    labels: Tensor  # [K] float32, 0 or 1
    known: Tensor  # [K] bool; a class that is not known enters no loss
    features: Tensor | None = None  # [T,D] float32
    frames: Tensor | None = None  # uint8 [T,3,H,W]

    def __len__(self) -> int:
        content = self.features if self.features is not None else self.frames
        return 0 if content is None else len(content)


@dataclass(frozen=True)
class Batch:
    """B bags, each one's real frames first, then padding."""

    ids: list[str]
    mask: Tensor  # [B,T] bool, True on real frames
    labels: Tensor  # [B,K] float32
    known: Tensor  # [B,K] bool
    features: Tensor | None = None  # [B,T,D] float32, zeros at padding
    frames: Tensor | None = None  # uint8 [R,3,H,W]: the R real frames alone, in the order of mask.nonzero()
    pairs: Tensor | None = None  # [P,2] bags that the loss compares, where the method asks for such
    pair_weight: float = 0.0  # of a pair in the sum over pairs that, divided by B, is a term of the loss

    def __len__(self) -> int:
        return len(self.ids)

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Batch:
        return self._each(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> Batch:
        """What a DataLoader asks for; makes `to(device, non_blocking=True)` worth its name."""
        return self._each(Tensor.pin_memory)

    def with_features(self, encoded: Tensor) -> Batch:
        """The same bags with the encoder's answer [R,D] in place of their pixels; gradients flow through."""
        features = encoded.new_zeros(*self.mask.shape, encoded.shape[1], dtype=torch.float32)
        features[self.mask] = encoded.float()
        return replace(self, features=features, frames=None)

    def _each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        return Batch(
            self.ids,
            change(self.mask),
            change(self.labels),
            change(self.known),
            None if self.features is None else change(self.features),
            None if self.frames is None else change(self.frames),
            None if self.pairs is None else change(self.pairs),
            self.pair_weight,
        )


def collate(
    bags: Sequence[Bag], pairs: Sequence[Sequence[int]] = (), pair_weight: float | None = None
) -> Batch:
    """Several bags as one batch, padded at the end to the longest.

    *pairs* are places of bags to compare. *pair_weight* makes their term a mean over pairs; it is given where
    these bags are one process's part of a step: all bags of the step / all pairs of it.
    """
    if not bags:
        raise ValueError("a batch needs at least one bag")
    for bag in bags:
        _check(bag, bags[0])
    longest = max(map(len, bags))
    lengths = torch.tensor([len(bag) for bag in bags])
    mask = torch.arange(longest) < lengths[:, None]
    features = [bag.features for bag in bags if bag.features is not None]
    frames = [bag.frames for bag in bags if bag.frames is not None]
    return Batch(
        [bag.id for bag in bags],
        mask,
        torch.stack([bag.labels for bag in bags]).float(),
        torch.stack([bag.known for bag in bags]),
        torch.nn.utils.rnn.pad_sequence(features, batch_first=True).float() if features else None,
        torch.cat(frames) if frames else None,
        torch.tensor(pairs) if len(pairs) else None,
        len(bags) / max(len(pairs), 1) if pair_weight is None else pair_weight,
    )


def _check(bag: Bag, first: Bag) -> None:
    """Refuse a bag without frames, and one that does not go with the first."""
    if len(bag) == 0:
        raise UserError("the bag has no frames", bag.id, "leave the segment out, or mend its start and stop")
    if bag.features is not None and bag.frames is not None and len(bag.features) != len(bag.frames):
        what = f"{len(bag.features)} features do not go with {len(bag.frames)} frames"
        raise UserError(what, bag.id, "compute the features again from these frames")
    shape, wanted = _shape(bag), _shape(first)
    if shape != wanted:
        what = f"the bag holds {shape}, but {first.id} holds {wanted}"
        raise UserError(what, bag.id, "give bags of one kind: same classes, same encoder, same frame size")


def _shape(bag: Bag) -> str:
    parts = [f"{len(bag.labels)} labels", f"{len(bag.known)} known"]
    if bag.features is not None:
        parts.append(f"features of {bag.features.shape[1]}")
    if bag.frames is not None:
        parts.append("frames of " + "x".join(map(str, bag.frames.shape[1:])))
    return ", ".join(parts)
