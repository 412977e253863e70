"""Every class on one picture: a row a class, a patient a column, the frame that shows it best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from devcem.labels import CLASSES
from devcem.synthetic.motion import travel
from devcem.synthetic.optics import jpeg
from devcem.synthetic.placing import place
from devcem.synthetic.render import coverage, render
from devcem.synthetic.scene import Patient, Scene
from devcem.synthetic.texture import draw_from
from devcem.synthetic.truth import at

LABEL = 112  # pixels left for a row's name


def contact_sheet(
    columns: int = 8, side: int = 128, seed: int = 0, kinds: tuple[str, ...] = CLASSES
) -> Image.Image:
    """The picture, [rows * side, LABEL + columns * side]."""
    sheet = Image.new("RGB", (LABEL + columns * side, len(kinds) * side))
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(15)
    for row, kind in enumerate(kinds):
        pen.text((6, (row + 0.5) * side), kind, (230, 230, 230), font, anchor="lm")
        for column in range(columns):
            frame = Image.fromarray(_portrait(kind, seed * 1000 + column))
            frame = frame.resize((side, side), Image.Resampling.LANCZOS)
            sheet.paste(frame, (LABEL + column * side, row * side))
    return sheet


def _portrait(kind: str, seed: int) -> np.ndarray:
    """The frame [256,256,3] of a short video of one patient that shows most of *kind*."""
    rng = draw_from(seed, "portrait")
    path = travel(rng, 40, position=float(rng.uniform(20, 300)))
    view = "octagon" if seed % 4 == 3 else "circle"
    scene = place(Scene(Patient("", seed), (), path, view=view, overlay=False), (kind,), 20, seed)
    best = int(coverage(scene)[:, CLASSES.index(kind)].argmax()) if kind != "normal" else 20
    frames, _ = next(render(replace(scene, path=at(path, np.array([best])))))
    return np.asarray(jpeg(frames, 90)[0])
