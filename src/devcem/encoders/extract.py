"""Features of a dataset's segments: every frame of each, from the store, or computed and kept there."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import torch

from devcem.encoders.encoder import Encoder, Features
from devcem.encoders.feeding import Draw, Job, encoded
from devcem.encoders.store import FeatureStore
from devcem.errors import UserError
from devcem.files import contained
from devcem.frames.augment import Augmentation
from devcem.labels.dataset import Dataset, Segment
from devcem.progress import track

DECODERS = ("av", "pillow", "simplejpeg", "torchvision")  # where pixels come from beside our own code


@dataclass(frozen=True)
class SegmentFeatures:
    """Of every frame of a segment, in order; in *views* those of its augmented copies."""

    segment: str
    features: Features  # [T,D]
    views: tuple[Features, ...] | None = None  # V of [T,D]


def segment_features(
    data: Dataset,
    segments: Sequence[Segment],
    encoder: Encoder,
    store: FeatureStore,
    *,
    view: str = "auto",
    views: int = 0,
    seed: int = 0,
) -> list[SegmentFeatures]:
    """Features of the segments, in their order, mapped into memory.

    *view* is "auto" to find the lens view, "frame" where nothing is burnt in, or a device template's name.
    With *views*, so many augmented copies of each segment beside it: what is drawn for them follows from
    *seed*, the segment's id and the copy's number alone. What a kill interrupts is the segment at hand.
    """
    plan = _Plan(data, encoder, store, view)
    wanted: list[dict[str, Draw]] = []  # a segment: key in the store -> what is drawn, plain frames first
    found: dict[str, Features] = {}
    jobs: list[Job] = []
    asked: set[str] = set()
    for segment in segments:
        draws = [None, *(_drawn(seed, segment, copy) for copy in range(views))]
        keys = {plan.key(segment, draw): draw for draw in draws}
        wanted.append(keys)
        for key in keys.keys() - found.keys() - asked:
            if (known := store.get(key, encoder.dim)) is not None:
                found[key] = known
        if missing := {key: draw for key, draw in keys.items() if key not in found.keys() | asked}:
            jobs.append(Job(segment, plan.media(segment), missing))
            asked |= missing.keys()
    if jobs:
        name = None if view == "auto" else view
        with closing(encoded(jobs, encoder, name)) as done:
            for job, features in track(done, "features: segments", total=len(jobs)):
                plan.check_unchanged(job.segment)
                found |= {key: store.put(key, features[row]) for row, key in enumerate(job.wanted)}
    answers = []
    for segment, keys in zip(segments, wanted, strict=True):
        plain, *copies = (found[key] for key in keys)
        answers.append(SegmentFeatures(segment.segment, plain, tuple(copies) if views else None))
    return answers


class _Plan:
    """Under which key the features of a segment lie."""

    def __init__(self, data: Dataset, encoder: Encoder, store: FeatureStore, view: str) -> None:
        self._data, self._store = data, store
        self._recipe = {
            "view": view,
            "size": encoder.size,
            "encoder": encoder.fingerprint,
            "decoders": {name: version(name) for name in DECODERS},
        }
        self._digests: dict[str, str] = {}

    def media(self, segment: Segment) -> Path:
        return contained(self._data.root / "media", segment.source)

    def key(self, segment: Segment, draw: Draw) -> str:
        if segment.source not in self._digests:
            self._digests[segment.source] = self._store.sources.of(self.media(segment))
        about = {"source": self._digests[segment.source], "numbers": [segment.start, segment.stop]}
        return self._store.key(self._recipe | about | {"augmented": asdict(draw) if draw else None})

    def check_unchanged(self, segment: Segment) -> None:
        """Nothing is kept under the digest of what a source held before."""
        path = self.media(segment)
        if self._store.sources.of(path) != self._digests[segment.source]:
            remedy = "run the same command again once it is written"
            raise UserError("the source was changed while its frames were read", path, remedy)


def _drawn(seed: int, segment: Segment, copy: int) -> Augmentation:
    told = hashlib.sha256(f"{seed} {copy} {segment.segment}".encode()).digest()
    return Augmentation.draw(torch.Generator().manual_seed(int.from_bytes(told[:7], "little")))
