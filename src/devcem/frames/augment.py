"""Flips and zoom, drawn once a segment and the same for all its frames. Labels stay what they are."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torchvision import tv_tensors
from torchvision.transforms.v2 import functional

ZOOM = (0.6, 1.0)  # share of the frame's area that is kept


@dataclass(frozen=True)
class Augmentation:
    """One draw. The crop is a region of the frame's own shape, in shares of its height and width."""

    horizontal: bool = False
    vertical: bool = False
    top: float = 0.0
    left: float = 0.0
    side: float = 1.0

    @classmethod
    def draw(cls, generator: torch.Generator, zoom: tuple[float, float] = ZOOM) -> Augmentation:
        """Each flip with probability 1/2, area uniform in *zoom*, any place; only *generator* moves on."""
        horizontal, vertical, area, top, left = torch.rand(5, generator=generator).tolist()
        side = (zoom[0] + (zoom[1] - zoom[0]) * area) ** 0.5
        return cls(horizontal < 0.5, vertical < 0.5, top * (1 - side), left * (1 - side), side)

    def __call__(self, frames: torch.Tensor) -> tv_tensors.Video:
        """[T,3,H,W] of any dtype, the same shape and dtype back."""
        video = tv_tensors.Video(frames)
        height, width = video.shape[-2:]
        if self.side < 1:
            size = [round(self.side * height), round(self.side * width)]
            place = [round(self.top * height), round(self.left * width)]
            video = functional.resized_crop(video, *place, *size, size=[height, width], antialias=True)
        if self.horizontal:
            video = functional.horizontal_flip(video)
        if self.vertical:
            video = functional.vertical_flip(video)
        return video
