"""What a run of either kind settles before it learns: who trains, who judges, and the encoder."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devcem.encoders import (
    Backbone,
    ColourEncoder,
    FeatureStore,
    SegmentFeatures,
    encoder_for,
    load_backbone,
    segment_features,
)
from devcem.errors import UserError
from devcem.frames.overlay import TEMPLATES
from devcem.labels import Dataset, Segment
from devcem.model import TrainedOn
from devcem.progress import say
from devcem.training import folder
from devcem.training.bags import FeatureBags
from devcem.training.settings import EncoderSettings, TrainSettings
from devcem.training.splitting import Sides, fingerprint, media_digest, sides


@dataclass(frozen=True)
class Prepared:
    """A dataset cut in two, and the encoder that will see it."""

    data: Dataset
    parts: Sides
    fingerprint: str
    backbone: Backbone
    settings: TrainSettings
    cache: Path

    @property
    def identity(self) -> dict[str, Any]:
        """What a resumption must agree with; reads the media that were not read before."""
        same = folder.identity(self.data, self.fingerprint, self.settings, self.backbone.fingerprint)
        return same | {"media": media_digest(self.data, self.parts, FeatureStore(self.cache).sources)}

    @property
    def about(self) -> TrainedOn:
        parts = self.parts
        return TrainedOn(
            dataset=self.data.name,
            fingerprint=self.fingerprint,
            synthetic=self.data.synthetic,
            segments=len(parts.train),
            frames=sum(map(len, parts.train)),
            patients=len({segment.patient for segment in parts.train}),
            validation_segments=len(parts.validation),
            optimistic=parts.optimistic,
        )

    def features(self, segments: list[Segment], device: str, views: int = 0) -> list[SegmentFeatures]:
        """From the store, or encoded and kept there."""
        told = self.settings
        encoder = encoder_for(self.backbone, engine=told.encoder.engine, device=device)
        store = FeatureStore(self.cache)
        return segment_features(
            self.data, segments, encoder, store, view=told.data.view, views=views, seed=told.seed
        )

    def feature_bags(self, segments: list[Segment], found: Sequence[SegmentFeatures]) -> FeatureBags:
        labels, known = self.data.targets(segments)
        ids = [segment.segment for segment in segments]
        plain = [one.features for one in found]
        views = [one.views for one in found if one.views is not None] or None
        return FeatureBags(ids, plain, labels, known, self.settings.data, views, self.settings.seed)


def prepare(data: Dataset, settings: TrainSettings, cache: Path | None) -> Prepared:
    """Refuses what would be told late or in other words."""
    _check(settings)
    parts = sides(data, settings.data, settings.seed)
    backbone = _backbone(settings.encoder)
    where = cache or data.root / ".features"
    return Prepared(data, parts, fingerprint(data, parts), backbone, settings, where)


def _check(settings: TrainSettings) -> None:
    if settings.encoder.name == ColourEncoder.name:
        remedy = "set encoder.name=efficientnet-lite0, or another network"
        raise UserError("'colour' is a histogram: there is no network that a model could keep", remedy=remedy)
    views = ("auto", "frame", *(view.name for view in TEMPLATES))
    if settings.data.view not in views:
        what = f"no lens view is called '{settings.data.view}'"
        raise UserError(what, remedy=f"use one of {', '.join(views)}")


def _backbone(told: EncoderSettings) -> Backbone:
    """Where weights can't be fetched, the remedy speaks of settings; the hub's retries are not told."""
    if told.weights != "hub":
        return load_backbone(told.name, told.weights)
    logger = logging.getLogger("huggingface_hub")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    say(f"weights of {told.name}: from timm's hub, or what was fetched from there before")
    try:
        return load_backbone(told.name, told.weights)
    except UserError as error:
        if error.__cause__ is None:  # not the network's fault
            raise
        offline = "or without a network set encoder.name=resnet50-augnet encoder.weights=null"
        remedy = f"set encoder.weights to a file fetched elsewhere, {offline}"
        raise UserError(error.what, error.where, remedy) from error
    finally:
        logger.setLevel(before)
