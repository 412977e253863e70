"""A frame in, a feature out.

Enters: uint8 frames [T,H,W,3] with their overlay masked, or a dataset. Leaves: float32 features [T,D] of an
`Encoder`, with a fingerprint of all that decides them; or a `Backbone` to be trained. `extract` encodes the
segments of a dataset once and keeps the features in a `FeatureStore`. `colour` is the baseline that every
report carries.
"""

from __future__ import annotations

from devcem.encoders.backbone import Backbone, empty_backbone, load_backbone
from devcem.encoders.choosing import create_encoder, encoder_for, names
from devcem.encoders.colour import ColourEncoder
from devcem.encoders.content import SourceDigests
from devcem.encoders.encoder import Encoder, Features
from devcem.encoders.engine_openvino import OpenVinoEncoder
from devcem.encoders.engine_torch import TorchEncoder
from devcem.encoders.extract import SegmentFeatures, segment_features
from devcem.encoders.store import FeatureStore

__all__ = [
    "Backbone",
    "ColourEncoder",
    "Encoder",
    "FeatureStore",
    "Features",
    "OpenVinoEncoder",
    "SegmentFeatures",
    "SourceDigests",
    "TorchEncoder",
    "create_encoder",
    "empty_backbone",
    "encoder_for",
    "load_backbone",
    "names",
    "segment_features",
]
