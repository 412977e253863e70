"""What every deep method answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class MILOutput:
    """Logits of the videos and of their frames, and how much each frame was attended to.

    *extras* holds what a method's own loss needs: a loss touches no parameters, so that everything that is
    trained is used inside `forward`, where data-parallel training and autocast see it.
    """

    video_logits: Tensor  # [B,K]
    attention: Tensor  # [B,T], sums to 1 over the real frames, 0 at padding
    frame_logits: Tensor  # [B,T,K], 0 at padding
    extras: dict[str, Tensor] = field(default_factory=dict)
