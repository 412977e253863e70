"""The demo's pictures: segments with their truth, the mask before and after, the probe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from devcem.files import writing
from devcem.frames import mask_overlay, open_source, uniform, view_of
from devcem.labels import Dataset, Segment, load_runs, segment_truth

NOTICE = "Synthetic video. Research use only, not a medical device."
COLOURS = ("#2f6690", "#e08e45")  # told apart by all kinds of colour sight, and in grey
SHOWN = 9  # frames of a segment


def draw_sheet(dataset: Dataset, path: Path, rows: int = 6) -> None:
    """A few segments with many labels: frames, and below them where each label is seen."""
    chosen = _varied(dataset, rows)
    runs = load_runs(dataset)
    figure = Figure(figsize=(13, 2.1 * len(chosen) + 0.5), layout="constrained")
    axes = figure.subplots(2 * len(chosen), 1, height_ratios=(3, 1) * len(chosen), squeeze=False)[:, 0]
    for segment, strip, bars in zip(chosen, axes[::2], axes[1::2], strict=True):
        source = open_source(dataset.root / "media" / segment.source)
        ordinals = uniform(len(source), SHOWN)
        frames = mask_overlay(source.read(ordinals), view_of(source))
        strip.imshow(np.concatenate(list(frames), axis=1), aspect="auto")
        strip.set_axis_off()
        strip.set_title(
            f"{segment.segment}, patient {segment.patient}: {', '.join(segment.labels)}",
            loc="left",
            fontsize=9,
        )
        truth, _ = segment_truth(dataset, segment, [run for run in runs if run.segment == segment.segment])
        _bars(bars, truth, segment, dataset.classes)
    figure.suptitle(f"Segments and, in blue, the frames on which each label is seen. {NOTICE}", fontsize=10)
    _save(figure, path)


def draw_mask(dataset: Dataset, path: Path) -> None:
    """A frame as it came, with time, date and id burnt in, and as it is learnt from."""
    segment = dataset.segments[0]
    source = open_source(dataset.root / "media" / segment.source)
    frame = source.read([len(source) // 2])
    figure = Figure(figsize=(8, 4.4), layout="constrained")
    before, after = figure.subplots(1, 2)
    view = view_of(source)
    before.imshow(frame[0])
    before.set_title("as it came", fontsize=9)
    after.imshow(mask_overlay(frame, view)[0])
    after.set_title(f"masked: {view.name} {view.kind}", fontsize=9)
    for axis in (before, after):
        axis.set_axis_off()
    figure.suptitle(NOTICE, fontsize=9)
    _save(figure, path)


def draw_probe(probe: pd.DataFrame, path: Path) -> None:
    """AUROC a class and encoder; chance is 0.5."""
    scored = probe[~probe["class"].eq("macro")]
    encoders = [name for name in probe.columns if name not in ("class", "positives", "patients", "reason")]
    figure = Figure(figsize=(9, 0.9 + 0.36 * len(scored)), layout="constrained")
    axis = figure.subplots()
    places = np.arange(len(scored))
    for colour, shift, name in zip(COLOURS, (-0.2, 0.2), encoders, strict=True):
        axis.barh(places + shift, scored[name].fillna(0.0), 0.38, color=colour, label=name)
    for place, reason in enumerate(scored["reason"]):
        if reason:
            axis.text(0.51, place, reason, va="center", fontsize=8, color="#666666")
    axis.axvline(0.5, color="#444444", linewidth=1)
    axis.set_xlim(0.4, 1.0)
    axis.set_yticks(places, scored["class"])
    axis.invert_yaxis()
    axis.set_xlabel("AUROC of frames of held-out patients (0.5 is chance)")
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize=8, loc="lower right")
    axis.set_title(f"Linear probes. {NOTICE}", fontsize=9)
    _save(figure, path)


def _varied(dataset: Dataset, rows: int) -> list[Segment]:
    """Segments that together show as many classes as can be: each time the one that adds most."""
    chosen: list[Segment] = []
    shown: set[str] = set()
    for _ in range(min(rows, len(dataset.segments))):
        rest = [segment for segment in dataset.segments if segment not in chosen]
        best = max(rest, key=lambda segment: len(set(segment.labels) - shown))
        chosen.append(best)
        shown |= set(best.labels)
    return chosen


def _bars(axis: Axes, truth: npt.NDArray[np.bool_], segment: Segment, classes: tuple[str, ...]) -> None:
    """A row a label: blue where a frame shows it."""
    rows = [classes.index(name) for name in segment.labels]
    axis.imshow(truth[:, rows].T, aspect="auto", cmap="Blues", vmin=0, vmax=1.3, interpolation="nearest")
    axis.set_yticks(range(len(rows)), segment.labels, fontsize=7)
    axis.set_xticks([])


def _save(figure: Figure, path: Path) -> None:
    """PNG, or JPEG where most of it is photograph-like."""
    kind = "jpeg" if path.suffix == ".jpg" else "png"
    with writing(path, "wb") as file:
        figure.savefig(file, format=kind, dpi=110, pil_kwargs={"quality": 88} if kind == "jpeg" else None)
