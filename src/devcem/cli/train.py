"""`devcem train`."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from devcem.cli.app import RESEARCH_USE, Stopped, app, emit, show

if TYPE_CHECKING:
    from devcem.config import Settings
    from devcem.training import TrainSettings


class Preset(StrEnum):
    fast = "fast"
    paper = "paper"
    published = "published"


@app.command(epilog="Example: devcem train my-dataset --method ps-devcem --out run1 --set epochs=40")
def train(
    dataset: Annotated[
        Path | None, typer.Argument(help="A dataset folder; its split train is learnt from.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run: models, history, curves.")] = None,
    method: Annotated[str | None, typer.Option(help="See devcem methods. Default: ps-devcem.")] = None,
    preset: Annotated[
        Preset | None,
        typer.Option(
            help="fast (default): frozen encoder, cached features. paper: the appendix, end to end. "
            "published: a rival as its authors trained it, on cached features."
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file of settings, over the preset.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="key=value, over all else; may be repeated.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out; start it where there is none.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Start anew in a folder with a run.")
    ] = False,
    cache: Annotated[
        Path | None, typer.Option(help="Folder for features; default: .features in the dataset.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same weights.")] = None,
    settings: Annotated[
        bool, typer.Option("--settings", help="List every setting with its value here, and end.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Train a method on a dataset's tags. A stopped or killed run goes on with --resume."""
    from devcem.labels import load_dataset

    if not settings:
        if dataset is None:
            raise typer.BadParameter("say what to learn from", param_hint="DATASET")
        if out is None:
            raise typer.BadParameter("say where the run goes", param_hint="--out")
    words = list(set_ or [])
    words += [f"method={method}"] * (method is not None) + [f"seed={seed}"] * (seed is not None)
    data = None if dataset is None else load_dataset(dataset)
    resumed = out if resume and not overwrite else None
    told = _resolve(resumed, preset, config, words, None if data is None else data.window)
    if settings:
        return emit(told.model_dump(mode="json")) if as_json else _list(told)
    assert data is not None and out is not None
    from devcem.training.devices import first
    from devcem.training.run import train as run

    try:
        done = run(data, out, told, resume, overwrite, cache)
    except KeyboardInterrupt:
        raise Stopped(f"the same command with --resume goes on with {out}.") from None
    if not first():
        return None
    if as_json:
        return emit(asdict(done))
    figures = ", ".join(f"{name} {value:.3f}" for name, value in done.metrics.items() if isfinite(value))
    synthetic = " Trained on synthetic video." if done.synthetic else ""
    deep = f" the weights of epoch {done.best_epoch} of {done.epochs};" if done.epochs else ""
    look = f"{done.out / 'curves.png'} and " if done.epochs else ""
    print(f"{done.model}:{deep} on validation {figures}.")
    print(f"Look at {look}{done.out / 'validation.csv'}.{synthetic} {RESEARCH_USE}")


def _resolve(
    resumed: Path | None, preset: Preset | None, config: Path | None, words: list[str], window: int | None
) -> TrainSettings:
    """Defaults, then the dataset's window, then the preset, then the file, then the words. To resume, what
    the run was told comes before file and words."""
    from devcem.config import assignments, checked, merged, read_yaml
    from devcem.training.folder import saved_settings
    from devcem.training.settings import TrainSettings
    from devcem.training.settings import preset as settings_of

    mine = merged(read_yaml(config) if config is not None else {}, assignments(words))
    base = saved_settings(resumed) if resumed is not None and preset is None else None
    if base is None:
        wanted = str(mine.get("method", TrainSettings().method))
        layer = settings_of(preset or Preset.fast, wanted)
        base = merged({} if window is None else {"data": {"window": window}}, layer)
        own = mine.get("encoder")
        if isinstance(own, dict) and "name" in own:  # the preset's weights are of its encoder
            base = merged(base, {"encoder": {"weights": None}})
    if "method" in mine and base.get("method", mine["method"]) != mine["method"]:
        base = {**base, "options": {}}  # not this method's; the run will refuse it by name
    return checked(TrainSettings, merged(base, mine), config)


def _list(settings: TrainSettings) -> None:
    table = Table("setting", "value", "what it does", box=None)
    for name, value, help_ in _rows(settings, ""):
        table.add_row(*map(Text, (name, value, help_)))
    show(table)


def _rows(group: Settings, prefix: str) -> list[tuple[str, str, str]]:
    from devcem.config import Settings

    rows: list[tuple[str, str, str]] = []
    for name, field in type(group).model_fields.items():
        value: Any = getattr(group, name)
        if isinstance(value, Settings):
            rows += _rows(value, f"{prefix}{name}.")
        else:
            rows.append((prefix + name, _spelt(value), field.description or ""))
    return rows


def _spelt(value: Any) -> str:
    """As --set takes it."""
    return value if isinstance(value, str) else json.dumps(value)
