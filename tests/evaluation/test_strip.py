from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from devcem.evaluation import attention_frames, draw_strip

CLASSES = ("polyp", "blood", "debris", "tumour", "oedema")
NOTICE = "Research use only, not a medical device."


def flat(*levels: int, side: int = 8) -> np.ndarray:
    """One grey frame a level, [T,side,side,3]."""
    return np.array(levels, np.uint8)[:, None, None, None] * np.ones((side, side, 3), np.uint8)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Draws a strip and hands back its figure beside the pixels of the file."""
    figures: list[Figure] = []
    save = Figure.savefig

    def keep(self: Figure, *given: Any, **options: Any) -> None:
        figures.append(self)
        save(self, *given, **options)

    monkeypatch.setattr(Figure, "savefig", keep)

    def draw(*given: Any, **options: Any) -> tuple[Figure, np.ndarray]:
        draw_strip(tmp_path / "strip.png", *given, **options)
        with Image.open(tmp_path / "strip.png") as picture:
            assert picture.format == "PNG"
            return figures[-1], np.asarray(picture.convert("RGB"))

    return draw


def rows(figure: Figure) -> dict[str, Axes]:
    """Axes by their label."""
    return {axis.get_ylabel(): axis for axis in figure.axes}


def words(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.texts).replace("\u00a0", " ")


def areas(axis: Axes) -> list[list[float]]:
    """The values of every step area of a row."""
    return [patch.get_data().values.tolist() for patch in axis.patches]  # type: ignore[attr-defined]


def inside(figure: Figure, pixels: np.ndarray, label: str) -> np.ndarray:
    """The pixels of one row."""
    box = rows(figure)[label].get_position()
    down, across = pixels.shape[:2]
    top, bottom = round((1 - box.y1) * down), round((1 - box.y0) * down)
    return pixels[top:bottom, round(box.x0 * across) : round(box.x1 * across)]


def test_attention_darkens_by_the_formula_of_the_paper() -> None:
    """51 is 0.2: at half the maximum 0.2 ** 2.0001 * 255 = 10.2, at a quarter 0.2 ** 4.0001 * 255 = 0.4."""
    frames = flat(51, 51, 51, 51, 128)
    shown = attention_frames(frames, [0.4, 0.2, 0.1, 0.0, 0.2])
    assert shown.dtype == np.uint8
    assert shown.shape == frames.shape
    assert shown[:, 0, 0, 0].tolist() == [51, 10, 0, 0, 64]  # (128 / 255) ** 2 * 255 = 64.3


def test_what_weighs_most_is_shown_as_it_is_and_what_weighs_nothing_is_black() -> None:
    every = np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1).repeat(3, axis=3)
    np.testing.assert_array_equal(attention_frames(every, [0.01]), every)
    both = attention_frames(flat(255, 255), [0.5, 0.0])
    assert (both[0] == 255).all() and not both[1].any()
    assert not attention_frames(flat(200, 255), [0, 0]).any()


@pytest.mark.parametrize("attention", [[0.5], [0.5, -0.1], [0.5, np.nan], [[0.5, 0.5]]])
def test_what_is_no_attention_is_refused(attention: list[float]) -> None:
    with pytest.raises(ValueError, match="attention"):
        attention_frames(flat(1, 2), attention)
    with pytest.raises(ValueError, match="attention"):
        attention_frames(flat(), [])


def test_called_and_true_classes_have_a_row(drawn: Any) -> None:
    scores = [0.9, 0.1, 0.3, 0.5, 0.2]
    frame_scores = np.linspace(0, 1, 15).reshape(3, 5)
    truth = np.zeros((3, 5), bool)
    truth[:2, 1] = True  # seen, and not called
    truth[0, 2] = True  # said to be seen, yet unknown
    known = np.ones((3, 5), bool)
    known[:, 2] = False
    figure, _ = drawn(flat(9, 99, 199), [0.1, 0.6, 0.3], CLASSES, scores, frame_scores, truth, known)
    labels = list(rows(figure))
    assert labels == [
        "frames",
        "weighed by\nattention",
        "attention",
        "polyp  0.90",
        "blood  0.10",
        "tumour  0.50",
    ]
    weight = {name: axis.yaxis.label.get_fontweight() for name, axis in rows(figure).items()}
    assert [weight[name] for name in labels[3:]] == ["bold", "normal", "bold"]
    given, seen, unknown = areas(rows(figure)["blood  0.10"])
    assert given == pytest.approx(frame_scores[:, 1])
    assert seen == [-0.1, -0.1, -0.45]  # a bar on the first two frames, nothing on the third
    assert unknown == [-0.45] * 3


def test_unknown_frames_are_grey_and_not_blue(drawn: Any) -> None:
    truth, known = np.ones((4, 1), bool), np.array([[1], [1], [0], [0]], bool)
    figure, pixels = drawn(flat(9, 9, 9, 9), np.ones(4), ["polyp"], [0.9], None, truth, known)
    band = inside(figure, pixels, "polyp  0.90")
    quarters = np.array_split(band, 4, axis=1)
    blue = [bool((part == (0x2F, 0x66, 0x90)).all(axis=2).any()) for part in quarters]
    grey = [bool((part == (0xBB, 0xBB, 0xBB)).all(axis=2).any()) for part in quarters]
    assert (blue, grey) == ([True, True, False, False], [False, False, True, True])


def test_a_score_is_as_high_as_its_area(drawn: Any) -> None:
    """Without truth a row spans 0 to 1: a quarter of orange is a score of a quarter, beyond 1 all of it."""
    figure, pixels = drawn(flat(9, 9), [1, 1], ["polyp"], [0.9], [[0.25], [7.0]])
    band = inside(figure, pixels, "polyp  0.90")
    orange = (band == (0xE0, 0x8E, 0x45)).all(axis=2).mean(axis=0)
    assert orange[5] == pytest.approx(0.25, abs=0.06)
    assert orange[-5] == pytest.approx(1, abs=0.06)


def test_the_best_three_have_a_row_where_nothing_is_called(drawn: Any) -> None:
    figure, _ = drawn(flat(9), [1], CLASSES, [0.1, 0.4, 0.3, 0.2, 0.05], np.zeros((1, 5)))
    assert list(rows(figure))[3:] == ["blood  0.40", "debris  0.30", "tumour  0.20"]
    figure, _ = drawn(flat(9), [1], CLASSES, [0.1, 0.4, 0.3, 0.2, 0.05], np.zeros((1, 5)), threshold=0.35)
    assert list(rows(figure))[3:] == ["blood  0.40"]


def test_nothing_to_draw_over_time_leaves_three_rows(drawn: Any) -> None:
    figure, _ = drawn(flat(9, 9), [1, 0], CLASSES, np.full(5, 0.7))
    assert len(figure.axes) == 3
    assert "Orange" not in words(figure) and "Blue" not in words(figure)


def test_the_bar_and_the_frames_show_the_attention(drawn: Any) -> None:
    """Four frames, two of them shown: the second and the fourth, as the middles of two halves."""
    figure, pixels = drawn(flat(51, 102, 153, 204), [0.1, 0.2, 0.3, 0.4], ["polyp"], [0.9], shown=2)
    bar = inside(figure, pixels, "attention")
    middle, width = bar.shape[0] // 2, bar.shape[1]
    greys = [bar[middle, width * (2 * k + 1) // 8, 0] for k in range(4)]
    np.testing.assert_allclose(greys, [64, 128, 191, 255], atol=1)
    above = inside(figure, pixels, "frames")
    assert [above[20, width * k // 4, 0] for k in (1, 3)] == [102, 204]
    below = inside(figure, pixels, "weighed by\nattention")
    assert [below[20, width * k // 4, 0] for k in (1, 3)] == [41, 204]  # (102 / 255) ** 2 * 255 = 40.8


def test_frames_keep_their_shape(drawn: Any) -> None:
    frames = np.full((20, 30, 60, 3), 77, np.uint8)
    figure, pixels = drawn(frames, np.ones(20), ["polyp"], [0.9])
    height, width = inside(figure, pixels, "frames").shape[:2]
    assert width / 15 / height == pytest.approx(2, rel=0.03)


def test_the_caption_lists_the_scores_and_never_calls_attention_a_probability(drawn: Any) -> None:
    figure, _ = drawn(flat(9, 9), [1, 0], CLASSES, [0.1, 0.4, 0.3, 0.2, 0.05], title="a $b$ <c>")
    told = words(figure)
    assert "blood 0.40, debris 0.30, tumour 0.20, polyp 0.10, oedema 0.05" in told.replace("\n", " ")
    assert "a $b$ <c>" in told
    assert "probability" not in told


@pytest.mark.parametrize("notice", ["", "Trained on synthetic video.", f"Synthetic. {NOTICE}"])
def test_the_notice_always_shows_once(drawn: Any, notice: str) -> None:
    told = words(drawn(flat(9), [1], ["polyp"], [0.9], notice=notice)[0])
    assert told.count(NOTICE) == 1
    assert notice in told


def test_frames_are_numbered_as_on_disk(drawn: Any) -> None:
    figure, _ = drawn(flat(9, 9, 9), [1, 0, 0], ["polyp"], [0.9], numbers=[1200, 1210, 1230])
    axis = figure.axes[-1]
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["1200", "1210", "1230"]
    assert axis.get_xticks().tolist() == [0.5, 1.5, 2.5]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (([0.1, 0.2],), {}, r"scores of shape \(2,\) for 1 classes"),
        (([0.1], [[0.1]]), {}, r"frame_scores of shape \(1, 1\) where \(2, 1\)"),
        (([0.1], None, [[1]]), {}, "truth, scores and known"),
        (([0.1],), {"numbers": [1]}, "1 numbers for 2 frames"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, given: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        draw_strip(tmp_path / "strip.png", flat(1, 2), [1, 1], ["polyp"], *given, **options)
    assert not list(tmp_path.iterdir())
