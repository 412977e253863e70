"""A page as it was drawn: its two files, and where every text came to lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Affine2D
from PIL import Image

NOTICE = "Research use only, not a medical device."
SVG = "{http://www.w3.org/2000/svg}"
SLACK = 0.02  # inches by which the empty rim of a letter may reach into the next one's


@dataclass
class Drawn:
    figure: Figure
    paths: list[Path]
    words: list[tuple[str, Any]] = field(default_factory=list)  # texts as drawn, and their boxes in inches

    @property
    def svg(self) -> list[str]:
        """The texts of the SVG."""
        root = ElementTree.parse(self.paths[0]).getroot()
        return ["".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")]

    def check(self) -> None:
        """Both files are whole, say the notice, and no text is cut off or covers another."""
        assert [path.suffix for path in self.paths] == [".svg", ".png"]
        width, height = self.figure.get_size_inches()
        with Image.open(self.paths[1]) as picture:
            picture.load()
            assert picture.format == "PNG"
            assert np.abs(np.subtract(picture.size, (width * 200, height * 200))).max() < 1.5
            assert len(picture.convert("RGB").getcolors(1 << 24) or ()) > 2
        assert NOTICE in " ".join(self.svg)
        assert self.words
        assert {line.strip() for text, _ in self.words for line in text.split("\n")} <= set(self.svg)
        for text, box in self.words:
            inside = box.x0 > 0 and box.y0 > 0 and box.x1 < width and box.y1 < height
            assert inside, f"{text!r} at {box.extents} on a page of {width} x {height}"
        low, high = (np.array([getattr(box, end) for _, box in self.words]) for end in ("min", "max"))
        shared = np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None])  # [N,N,2]
        covering = np.argwhere(np.triu(shared.min(axis=2) > SLACK, 1))
        assert not len(covering), [(self.words[i][0], self.words[j][0]) for i, j in covering]
        box = self.figure.get_tightbbox()
        assert box.x0 > -SLACK and box.y0 > -SLACK and box.x1 < width + SLACK and box.y1 < height + SLACK


@pytest.fixture
def draw(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Drawn]:
    """Calls a function of the package with a stem, and hands back what it drew."""
    figures: list[Figure] = []
    words: dict[int, tuple[str, Any]] = {}  # of the last time that each was drawn
    save, write = Figure.savefig, Text.draw

    def keep(self: Figure, *given: Any, **options: Any) -> None:
        figures.append(self)
        words.clear()
        save(self, *given, **options)

    def note(self: Text, renderer: Any, *given: Any, **options: Any) -> None:
        if self.get_visible() and self.get_text().strip():
            box = Text.get_window_extent(self, renderer)
            scale = self.get_figure(root=True).dpi
            words[id(self)] = (self.get_text(), box.transformed(Affine2D().scale(1 / scale)))
        write(self, renderer, *given, **options)

    monkeypatch.setattr(Figure, "savefig", keep)
    monkeypatch.setattr(Text, "draw", note)

    def drawn(function: Callable[..., list[Path]], *given: Any, **options: Any) -> Drawn:
        paths = function(tmp_path / "page.of.v1", *given, **options)
        assert sorted(tmp_path.glob("page.of.v1*")) == sorted(paths)
        return Drawn(figures[-1], paths, list(words.values()))

    return drawn
