"""Natural photographs that scikit-learn carries: what an ImageNet network should know by sight."""

from __future__ import annotations

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

from devcem.frames.source import Frames


def palace_and_flower() -> Frames:
    """The middle squares, [2,224,224,3]."""
    squares = []
    for photograph in load_sample_images().images:
        image = Image.fromarray(photograph)
        side, left, top = min(image.size), image.width, image.height
        left, top = (left - side) // 2, (top - side) // 2
        square = image.crop((left, top, left + side, top + side))
        squares.append(np.asarray(square.resize((224, 224), Image.Resampling.BICUBIC)))
    return np.stack(squares)


def crops(count: int = 24) -> Frames:
    """Random squares of many sizes, as ImageNet training sees its pictures."""
    rng = np.random.default_rng(0)
    photographs = load_sample_images().images
    squares = []
    for k in range(count):
        photograph = photographs[k % 2]
        side = int(rng.integers(150, 420))
        top, left = (int(rng.integers(0, extent - side + 1)) for extent in photograph.shape[:2])
        image = Image.fromarray(photograph[top : top + side, left : left + side])
        squares.append(np.asarray(image.resize((224, 224), Image.Resampling.BICUBIC)))
    return np.stack(squares)
