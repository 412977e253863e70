"""curves.png: losses and validation figures by epoch."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from devcem.files import writing
from devcem.training.loop import Row

TRAIN, VALIDATION, THIRD = "#2f6690", "#e08e45", "#5a8f5c"  # told apart in grey too


def draw_curves(history: list[Row], path: Path, best_epoch: int) -> None:
    """Loss of both sides, mAP and F1 of validation, learning rate; a line marks the epoch that was kept."""
    figure = Figure(figsize=(9, 6.4), layout="constrained")
    losses, figures, rates = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 1))
    epochs = [row["epoch"] for row in history]
    dot = "o" if len(epochs) == 1 else None  # one epoch makes no line

    def plot(axis: Axes, name: str, color: str, label: str) -> None:
        axis.plot(epochs, [row[name] for row in history], marker=dot, color=color, label=label)

    plot(losses, "train_total", TRAIN, "train")
    plot(losses, "val_total", VALIDATION, "validation")
    losses.set_ylabel("loss")
    plot(figures, "val_map", VALIDATION, "mAP")
    plot(figures, "val_f1", THIRD, "macro F1 at 0.5")
    figures.set_ylabel("validation")
    figures.set_ylim(-0.02, 1.02)  # a figure of 0 or 1 is not lost in the frame
    plot(rates, "lr", "#555555", "learning rate")
    rates.set_ylabel("learning rate")
    rates.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
    rates.set_xlabel("epoch")
    rates.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    for axis in (losses, figures, rates):
        axis.spines[["top", "right"]].set_visible(False)
        axis.axvline(best_epoch + 1, color="#999999", linewidth=1, linestyle=":")
    for axis in (losses, figures):
        axis.legend(frameon=False, fontsize=8)
    figure.suptitle("Learning curves; dotted: the epoch that was kept. Research use only.", fontsize=9)
    with writing(path, "wb") as file:
        figure.savefig(file, format="png", dpi=110)
