"""Pixels in: a video, a folder of numbered pictures or a DICOM file enters; frames by exact ordinal leave.

What enters: a path. What leaves: a `FrameSource`, whose frames are uint8 [T,H,W,3], RGB, with numbers and
seconds; frames without what is burnt in beside the lens view; ordinals to sample. `augment` needs torch and
is imported by its module.
"""

from devcem.frames.opening import open_source
from devcem.frames.overlay import View, mask_overlay
from devcem.frames.sampling import interleaved, stratified, uniform
from devcem.frames.source import Facts, Frames, FrameSource, Limits, Size
from devcem.frames.view import find_view, view_of

__all__ = [
    "Facts",
    "FrameSource",
    "Frames",
    "Limits",
    "Size",
    "View",
    "find_view",
    "interleaved",
    "mask_overlay",
    "open_source",
    "stratified",
    "uniform",
    "view_of",
]
