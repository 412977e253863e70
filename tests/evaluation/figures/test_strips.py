from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from devcem.evaluation.figures import attention_strips
from devcem.evaluation.figures.page import YELLOW
from devcem.evaluation.strip import UNKNOWN, attention_frames
from devcem.labels.classes import CLASSES

FRAMES = np.random.default_rng(0).integers(0, 256, (30, 24, 32, 3), np.uint8)


def pictures(figure: Figure) -> list[np.ndarray]:
    return [np.asarray(image.get_array()) for axis in figure.axes for image in axis.images]


def boxes(axis: Axes) -> dict[int, str]:
    """Colour by the frame round which a box is drawn."""
    span = axis.images[0].get_extent()[1] + 2  # a gap of two pixels follows each frame of 32
    return {round(box.get_x() / (span / 15)): to_hex(box.get_edgecolor()) for box in axis.patches}  # type: ignore[attr-defined]


def test_five_methods_one_above_the_other(draw: Any) -> None:
    rng = np.random.default_rng(1)
    methods = {name: rng.random(30) for name in ("atten-conv", "atten-lstm", "guided", "gated", "ps-devcem")}
    called = {name: ["polyp"] for name in methods} | {"gated": [], "ps-devcem": list(CLASSES)}
    truth, known = np.arange(30) < 5, np.arange(30) < 28
    drawn = draw(
        attention_strips,
        FRAMES,
        methods,
        called,
        truth,
        known,
        range(100, 160, 2),
        labels=["polyp"],
        title="P1",
    )
    drawn.check()
    text = drawn.svg
    assert {"P1", *methods, "Predicted: polyp", "Predicted: none", "100", "158"} <= set(text)
    joined = " ".join(text)
    assert all(name in joined for name in CLASSES)
    assert "show a label of the video (polyp)" in joined and "unknown" in joined
    order = [text.index(name) for name in methods]
    assert order == sorted(order)


def test_rows_hold_frames_attention_and_bar(draw: Any) -> None:
    """15 of 30 frames stand for pairs of them; the bar has all 30."""
    attention = np.linspace(0, 0.5, 30)
    drawn = draw(attention_strips, FRAMES, {"a": attention}, {"a": ["polyp"]})
    row, coded, bar = pictures(drawn.figure)
    assert row.shape == coded.shape == (24, 15 * 34 - 2, 3)
    starts = [start for start in range(30) if (row[:, :32] == FRAMES[start]).all()]
    assert len(starts) == 1
    assert (coded[:, -32:] == attention_frames(FRAMES, attention)).all(axis=(1, 2, 3)).any()
    np.testing.assert_allclose(bar, np.linspace(0, 1, 30)[None])
    assert (row[:, 32:34] == 255).all()
    assert "Boxed" not in " ".join(drawn.svg)  # nothing is known of the truth
    box = drawn.figure.axes[0].get_position()
    width, height = drawn.figure.get_size_inches()
    assert box.width * width / (box.height * height) == pytest.approx(15 * 34 / 24 / 34 * 32, rel=0.05)


def test_boxes_stand_round_frames_with_a_label_and_unknown_ones(draw: Any) -> None:
    frames = FRAMES[:15]
    truth, known = np.zeros(15, bool), np.ones(15, bool)
    truth[[2, 3, 9]] = True
    known[9:11] = False
    drawn = draw(attention_strips, frames, {"a": np.ones(15)}, {"a": []}, truth, known)
    grey = UNKNOWN
    assert boxes(drawn.figure.axes[0]) == {2: YELLOW.lower(), 3: YELLOW.lower(), 9: grey, 10: grey}
    seen, unknown = (patch.get_data().values for patch in drawn.figure.axes[1].patches)
    assert np.flatnonzero(seen).tolist() == [2, 3]
    assert np.flatnonzero(unknown).tolist() == [9, 10]


@pytest.mark.parametrize("count", [1, 2])
def test_few_frames(draw: Any, count: int) -> None:
    draw(
        attention_strips, FRAMES[:count], {"a": np.zeros(count)}, {"a": list(CLASSES)}, np.ones(count)
    ).check()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"called": {}}, "predictions"),
        ({"methods": {}, "called": {}}, "predictions"),
        ({"methods": {"a": np.ones(29)}}, "attention"),
        ({"truth": np.ones(29)}, "truth and known"),
        ({"known": np.ones((30, 2))}, "truth and known"),
        ({"numbers": [1]}, "numbers"),
    ],
)
def test_what_does_not_fit_is_refused(draw: Any, change: dict[str, Any], message: str) -> None:
    fitting = {"frames": FRAMES, "methods": {"a": np.ones(30)}, "called": {"a": []}}
    with pytest.raises(ValueError, match=message):
        draw(attention_strips, **(fitting | change))
