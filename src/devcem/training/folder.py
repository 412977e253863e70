"""The folder of a run: one process at a time, and only the run that was started there goes on there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from filelock import FileLock, Timeout

from devcem.config import differences
from devcem.errors import UserError
from devcem.files import PARTIAL, make_folder, write_text
from devcem.labels import Dataset
from devcem.training.settings import FREE, TrainSettings

CONFIG, IDENTITY, CHECKPOINTS = "config.yaml", "run.json", "checkpoints"
KEYS = {"method", "classes", "dataset", "fingerprint", "encoder", "settings"}


@contextmanager
def claimed(out: Path) -> Iterator[None]:
    """The folder for this process alone."""
    make_folder(out)
    lock = FileLock(str(out / ".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        remedy = "wait until it has ended or choose another --out"
        raise UserError("another process is training in this folder", out, remedy) from None
    try:
        yield
    finally:
        lock.release()


def begin(
    out: Path, settings: TrainSettings, identity: dict[str, Any], resume: bool, overwrite: bool
) -> None:
    """Write down what the run is; or, to resume, make sure that it is the same run.

    run.json comes first and holds all that a resumption is compared with; config.yaml repeats the settings
    for people and for `--config`.
    """
    if (out / IDENTITY).is_file():
        if overwrite:
            for name in (CHECKPOINTS, "model", "last", "tensorboard"):
                if (out / name).exists():
                    shutil.rmtree(out / name)
            for name in ("history.csv", "curves.png", "validation.csv"):
                (out / name).unlink(missing_ok=True)
        elif resume:
            _same(out, settings, identity)
        else:
            remedy = "pass --resume to go on, --overwrite to start anew, or choose another --out"
            raise UserError("the folder holds a run already", out, remedy)
    elif any(not path.name.startswith(".") for path in out.iterdir()):
        raise UserError("the folder holds something that is no run", out, "choose another --out")
    for half in out.rglob(f".*{PARTIAL}"):  # what a kill left of single files
        if half.is_file():
            half.unlink()
    told = settings.model_dump(mode="json")
    write_text(out / IDENTITY, json.dumps({**identity, "settings": told}, indent=1))
    write_text(out / CONFIG, yaml.safe_dump(told, sort_keys=False))


def saved_settings(out: Path) -> dict[str, Any] | None:
    """What the run in this folder was told; None where there is none."""
    if not (out / IDENTITY).is_file():
        return None
    settings: dict[str, Any] = _written(out)["settings"]
    return settings


def identity(
    dataset: Dataset, fingerprint: str, settings: TrainSettings, encoder: dict[str, Any]
) -> dict[str, Any]:
    """What must not change between a run and its resumption; *encoder* is the backbone's fingerprint."""
    return {
        "method": settings.method,
        "classes": list(dataset.classes),
        "dataset": dataset.name,
        "fingerprint": fingerprint,
        "encoder": encoder,
    }


def _written(out: Path) -> dict[str, Any]:
    path = out / IDENTITY
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:  # no JSON, no text
        written = None
    if not isinstance(written, dict) or not written.keys() >= KEYS:
        remedy = "start anew with --overwrite, or choose another --out"
        raise UserError("this does not describe a run", path, remedy)
    return written


def _same(out: Path, settings: TrainSettings, identity: dict[str, Any]) -> None:
    before = _written(out)
    remedy = "resume with what it was started with, or choose another --out"
    if before["method"] != identity["method"]:
        what = f"the run trains the method {before['method']}, not {identity['method']}"
        raise UserError(what, out, remedy)
    if before["classes"] != identity["classes"]:
        gone = [name for name in before["classes"] if name not in identity["classes"]]
        new = [name for name in identity["classes"] if name not in before["classes"]]
        how = "; ".join([f"without {', '.join(gone)}"] * bool(gone) + [f"with {', '.join(new)}"] * bool(new))
        raise UserError(f"the run has another class list ({how or 'in another order'})", out, remedy)
    what = f"the run learns from the dataset '{before['dataset']}' as it was then"
    if before["fingerprint"] != identity["fingerprint"]:
        now = (
            "its segments or labels have changed"
            if before["dataset"] == identity["dataset"]
            else (f"this is '{identity['dataset']}'")
        )
        raise UserError(f"{what}; {now}", out, remedy)
    if before.get("media") != identity.get("media"):
        raise UserError(f"{what}; its media have changed", out, remedy)
    told = settings.model_dump(mode="json")
    changed = [line for line in differences(before["settings"], told) if line.split()[0] not in FREE]
    if changed:
        raise UserError(f"the run has other settings: {'; '.join(changed)}", out, remedy)
    if before["encoder"] != identity["encoder"]:
        how = "; ".join(differences(before["encoder"], identity["encoder"]))
        raise UserError(f"the run's encoder is another one: {how}", out, remedy)
