from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from devcem.evaluation.figures import kept_at, kept_plot

KEPT = np.array([0.0005, 0.01, 0.05, 0.4, 1.0])
FOUND = np.array([0.1, 0.5, 0.9, 0.95, 1.0])


def test_twenty_methods(draw: Any) -> None:
    curves = {f"method-{number}": (KEPT, FOUND ** (1 + number / 5)) for number in range(20)}
    drawn = draw(kept_plot, curves, title="Frames kept", notices=["Synthetic video."])
    drawn.check()
    named = " ".join(drawn.svg)
    assert all(name in named for name in curves)
    assert {"Frames kept", "0.1%", "1%", "10%", "100%", "90%", "95%", "99%"} <= set(drawn.svg)
    (axis,) = drawn.figure.axes
    assert axis.get_xscale() == "log" and axis.get_xlim() == (0.001, 1)
    assert {line.get_ydata()[0] for line in axis.lines if len(set(line.get_ydata())) == 1} == {
        0.9,
        0.95,
        0.99,
    }
    styles = {(line.get_color(), line.get_linestyle()) for line in axis.lines[:20]}
    assert len(styles) == 20


def test_a_curve_is_a_step_and_its_share_is_said(draw: Any) -> None:
    drawn = draw(kept_plot, {"m": (KEPT, FOUND), "never": ([0, 0.5], [0, 0.5])})
    drawn.check()
    axis = drawn.figure.axes[0]
    line, flat = axis.lines[:2]
    assert line.get_drawstyle() == "steps-post"
    at = dict(zip(*line.get_data(), strict=True))
    assert [at[share] for share in KEPT] == FOUND.tolist()
    assert list(flat.get_ydata()) == [0, 0, 0.5, 0.5]  # on to the right edge
    assert {"m  40%", "never  never"} <= set(drawn.svg)


def test_kept_at() -> None:
    assert [kept_at(KEPT, FOUND, share) for share in (0.9, 0.91, 0.95, 1)] == [0.05, 0.4, 0.4, 1]
    assert np.isnan(kept_at([0.5], [0.5], 0.9))


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        (([0.1, 0.2], [0.1]), "two \\[P\\]"),
        (([], []), "two \\[P\\]"),
        (([0.2, 0.1], [0.1, 0.2]), "rising"),
        (([0.1, 2], [0.1, 0.2]), "0..1"),
        (([0.1, np.nan], [0.1, 0.2]), "0..1"),
    ],
)
def test_what_is_no_curve_is_refused(draw: Any, curve: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"m: .*{message}"):
        draw(kept_plot, {"m": curve})


def test_nothing_to_draw_is_refused(draw: Any) -> None:
    with pytest.raises(ValueError, match="no curve"):
        draw(kept_plot, {})
