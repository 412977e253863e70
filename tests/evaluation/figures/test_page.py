from __future__ import annotations

import colorsys
import itertools
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

from devcem.errors import UserError
from devcem.evaluation.figures import cooccurrence
from devcem.evaluation.figures.page import NOTICE, PALETTE, looks, small_print
from devcem.labels.classes import CLASSES


def seen(colour: str, lacking: str) -> np.ndarray:
    """A colour as somebody sees it who lacks one kind of cone (Machado 2009, full severity)."""
    matrices = {
        "red": [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        "green": [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    }
    rgb = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.array(matrices[lacking]) @ linear


@pytest.mark.parametrize("lacking", ["red", "green"])
def test_colours_stay_apart_without_a_kind_of_cone(lacking: str) -> None:
    for one, other in itertools.combinations(PALETTE, 2):
        assert np.abs(seen(one, lacking) - seen(other, lacking)).max() > 0.08, (one, other)
    assert all(colorsys.rgb_to_hls(*seen(c, lacking).clip(0, 1))[1] < 0.7 for c in PALETTE)  # not too pale


def test_thirty_methods_differ_by_marker_and_by_dash() -> None:
    every = looks(28)
    assert len({(look.colour, look.marker) for look in every}) == 28
    assert len({(look.colour, look.dash) for look in every}) == 28
    assert every[:3] == looks(3)


def test_the_notice_is_said_once() -> None:
    assert small_print(["Key."], ["Synthetic video."], 9) == ["Key.", f"Synthetic video. {NOTICE}"]
    assert small_print([""], [f"Made up. {NOTICE}"], 9) == [f"Made up. {NOTICE}"]
    assert small_print([], [], 2)[0] == "Research use only, not a medical"


def test_classes_that_occur_together(draw: Any) -> None:
    counts = np.arange(225).reshape(15, 15) % 40
    drawn = draw(cooccurrence, counts, CLASSES, title="Classes together", notices=["Synthetic video."])
    drawn.check()
    assert {*CLASSES, "Classes together", "39"} <= set(drawn.svg)
    assert "0" not in drawn.svg  # an empty cell says enough
    assert any("Synthetic video." in text for text in drawn.svg)


def test_the_same_figure_is_the_same_bytes_whatever_the_user_likes(draw: Any) -> None:
    first = [path.read_bytes() for path in draw(cooccurrence, np.eye(2), ["a", "b"]).paths]
    with matplotlib.rc_context(
        {"font.size": 20, "figure.dpi": 300, "savefig.bbox": "tight", "svg.fonttype": "path"}
    ):
        again = [path.read_bytes() for path in draw(cooccurrence, np.eye(2), ["a", "b"]).paths]
    assert first == again


def test_a_dollar_sign_is_no_formula(draw: Any) -> None:
    assert "a$b$" in draw(cooccurrence, np.eye(2), ["a$b$", "c"]).svg


@pytest.mark.parametrize(("counts", "classes"), [(np.eye(2), ["a"]), (np.zeros((0, 0)), [])])
def test_what_fits_no_classes_is_refused(draw: Any, counts: np.ndarray, classes: list[str]) -> None:
    with pytest.raises(ValueError, match="classes"):
        draw(cooccurrence, counts, classes)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        cooccurrence(tmp_path / "nowhere" / "page", np.eye(2), ["a", "b"])
