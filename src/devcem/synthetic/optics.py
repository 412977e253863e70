"""Lens and sensor: the shape of the view, exposure, softness, sharpening, noise, JPEG."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import simplejpeg
import torch
from torch import Tensor

from devcem.synthetic.appearance import fitted

ROUND = 1.0625  # radius of the view, as on a PillCam COLON 2: wider than its square, so four sides are flat
CORNER = 0.5  # an octagon's cut: |x| + |y| at most 2 - CORNER


def view_mask(n: int, view: str) -> Tensor:
    """[n,n] 1 inside the lens's view, 0 outside, soft over one pixel."""
    line = ((torch.arange(n, dtype=torch.float32) + 0.5) * (2 / n) - 1).abs()
    y, x = torch.meshgrid(line, line, indexing="ij")
    reach = (2 - CORNER - (x + y)) / 2**0.5 if view == "octagon" else ROUND - torch.hypot(x, y)
    return (reach * n / 2 + 0.5).clamp(0, 1)


def expose(colour: Tensor, inside: Tensor) -> Tensor:
    """Linear colour [3,b,n,n] to what the screen shows [b,3,n,n], 0 to 1: vignette, gain, shoulder, gamma."""
    how = fitted()["exposure"]
    n = colour.shape[-1]
    line = ((torch.arange(n, dtype=torch.float32) + 0.5) * (2 / n) - 1) ** 2
    colour = colour * torch.exp(-how["vignette"] * (line[:, None] + line[None, :]) ** how["vignette_power"])
    mean = (colour[1] * inside).sum((1, 2)) / inside.sum()
    gain = (how["target"] / mean.clamp(min=1e-4)) ** how["strength"]
    scattered = torch.tensor(how["veil"])[:, None, None, None]
    veil = scattered * (colour * inside).sum((2, 3), keepdim=True) / inside.sum()
    x = (colour + veil).permute(1, 0, 2, 3) * gain[:, None, None, None]
    x = how["white"] * x / (x + how["shoulder"])
    power = torch.tensor(how["saturate"])[:, None, None] / how["gamma"]
    screen: Tensor = x.clamp(min=0) ** power
    return screen


def develop(image: Tensor, mask: Tensor, seeds: list[int]) -> npt.NDArray[np.uint8]:
    """Screen values [b,3,n,n] to frames [b,n,n,3]: softness, sharpening, sensor noise."""
    how = fitted()["exposure"]
    n = image.shape[-1]
    soft = _blur(image, how["blur"])
    wide = soft
    for _ in range(3):
        wide = _blur(wide, 0.33)
    sharp = soft + how["sharpen"] * (soft - wide)
    grain = torch.empty(image.shape[0], 1, n, n)
    for i, seed in enumerate(seeds):
        grain[i].normal_(generator=torch.Generator().manual_seed(seed))
    out = (sharp + how["noise"] * grain).clamp(0, 1) * mask
    frames: npt.NDArray[np.uint8] = (out * 255 + 0.5).to(torch.uint8).permute(0, 2, 3, 1).contiguous().numpy()
    return frames


def jpeg(frames: npt.NDArray[np.uint8], quality: int = 85) -> npt.NDArray[np.uint8]:
    """Frames [b,H,W,3] as they come back from a JPEG, colour at half resolution."""
    coded = (simplejpeg.encode_jpeg(np.ascontiguousarray(f), quality, colorsubsampling="420") for f in frames)
    return np.stack([simplejpeg.decode_jpeg(data) for data in coded])


def _blur(image: Tensor, spread: float) -> Tensor:
    """Down and across, each pixel gives *spread* of its light to either neighbour. The rim stays as it is."""
    out = image.clone()
    out[..., 1:-1, :] = torch.lerp(
        image[..., 1:-1, :], (image[..., :-2, :] + image[..., 2:, :]) * 0.5, 2 * spread
    )
    rows = out.clone()
    out[..., 1:-1] = torch.lerp(rows[..., 1:-1], (rows[..., :-2] + rows[..., 2:]) * 0.5, 2 * spread)
    return out
