"""Bags for training and for judging, from cached features or from frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from devcem.encoders.encoder import Features
from devcem.errors import UserError
from devcem.frames import open_source, stratified, uniform
from devcem.frames.augment import Augmentation
from devcem.frames.clip import read_clip
from devcem.labels import Dataset, Segment
from devcem.methods.bag import Bag
from devcem.training.order import generator
from devcem.training.settings import Data

Bools = npt.NDArray[np.bool_]


class Bags(Protocol):
    """A list of bags, each of which can be drawn anew in every epoch."""

    @property
    def ids(self) -> Sequence[str]: ...

    @property
    def labels(self) -> Bools:
        """[N,K]"""

    @property
    def known(self) -> Bools:
        """[N,K]"""

    def draw(self, index: int, epoch: int) -> Bag:
        """For training: what is random depends on the seed, the epoch and the index alone."""

    def judge(self, index: int) -> Bag:
        """For validation: always the same."""


class FeatureBags:
    """Bags whose features are there already: [T,D] a bag, and in *views* the augmented ones of each bag."""

    def __init__(
        self,
        ids: Sequence[str],
        features: Sequence[Features],
        labels: Bools,
        known: Bools | None = None,
        data: Data | None = None,
        views: Sequence[Sequence[Features]] | None = None,
        seed: int = 0,
    ) -> None:
        self.ids, self.labels = list(ids), np.asarray(labels, bool)
        self.known = np.ones_like(self.labels) if known is None else np.asarray(known, bool)
        self._features, self._views, self._data, self._seed = features, views, data or Data(), seed
        if not len(self.ids) == len(features) == len(self.labels) == len(self.known):
            raise ValueError("ids, features, labels and known must be of one length")

    def draw(self, index: int, epoch: int) -> Bag:
        rng = generator(self._seed, epoch, index)
        chosen = sampled(len(self._features[index]), self._data, rng)
        features = self._features[index]
        if self._views is not None and (view := int(rng.integers(len(self._views[index]) + 1))):
            features = self._views[index][view - 1]
        return self._bag(index, features[chosen])

    def judge(self, index: int) -> Bag:
        features = self._features[index]
        return self._bag(index, features[uniform(len(features), self._data.window)])

    def _bag(self, index: int, features: Features) -> Bag:
        labels, known = torch.from_numpy(self.labels[index]).float(), torch.from_numpy(self.known[index])
        return Bag(self.ids[index], labels, known, features=torch.from_numpy(np.array(features, np.float32)))


class FrameBags:
    """Bags of frames, read from the dataset's media when they are needed, for training end to end."""

    def __init__(
        self, dataset: Dataset, segments: Sequence[Segment], size: int, data: Data, seed: int = 0
    ) -> None:
        self.ids = [segment.segment for segment in segments]
        self.labels, self.known = dataset.targets(list(segments))
        self._dataset, self._segments = dataset, segments
        self._size, self._data, self._seed = size, data, seed

    def draw(self, index: int, epoch: int) -> Bag:
        rng = generator(self._seed, epoch, index)
        augmentation = None
        if self._data.augment:
            augmentation = Augmentation.draw(torch.Generator().manual_seed(int(rng.integers(2**62))))
        return self._bag(index, rng, augmentation)

    def judge(self, index: int) -> Bag:
        return self._bag(index, None, None)

    def _bag(self, index: int, rng: np.random.Generator | None, augmentation: Augmentation | None) -> Bag:
        segment = self._segments[index]
        with open_source(self._dataset.root / "media" / segment.source) as source:
            first, stop = np.searchsorted(source.numbers, (segment.start, segment.stop))
            if first == stop:
                remedy = f"see devcem data check {self._dataset.root} --media"
                raise UserError(f"segment {segment.segment} has no frames in its source", source.path, remedy)
            chosen = first + sampled(int(stop - first), self._data, rng)
            view = None if self._data.view == "auto" else self._data.view
            clip = read_clip(source, self._size, ordinals=chosen, view=view)
        frames = torch.from_numpy(clip.frames).permute(0, 3, 1, 2)  # [T,3,S,S]
        if augmentation is not None:
            frames = augmentation(frames).as_subclass(torch.Tensor)
        labels, known = torch.from_numpy(self.labels[index]).float(), torch.from_numpy(self.known[index])
        return Bag(segment.segment, labels, known, frames=frames.contiguous())


def sampled(count: int, data: Data, rng: np.random.Generator | None) -> npt.NDArray[np.int64]:
    """Which frames of *count* a bag holds; without *rng* always the same."""
    if rng is None or data.sampling == "uniform":
        return uniform(count, data.window)
    return stratified(count, data.window, rng)
