"""The run of a classical method: the classes one by one, several at a time, each kept when it is done."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from devcem.encoders.encoder import Features
from devcem.errors import UserError
from devcem.evaluation import mean_ap, multilabel_metrics
from devcem.methods.bag import collate
from devcem.methods.classical import OneVsRest, Solved
from devcem.model import Model, save_model
from devcem.progress import say, track
from devcem.training import checkpoint, folder
from devcem.training.bags import Bags
from devcem.training.classes import solved_in_parallel, warnings_noted
from devcem.training.devices import processes
from devcem.training.judging import Scores
from devcem.training.memory import told_if_memory_ran_out
from devcem.training.preparing import Prepared
from devcem.training.saving import Trained, judged_info
from devcem.training.settings import TrainSettings
from devcem.training.stopping import listening

PIECE = 32  # bags of validation judged together


def train_classical(
    prepared: Prepared, method: OneVsRest, out: Path, resume: bool, overwrite: bool
) -> Trained:
    """A resumed run solves the classes that are not kept yet; no seed enters, so that it ends as if nothing
    had been."""
    data, settings = prepared.data, prepared.settings
    _check(settings)
    with folder.claimed(out):
        folder.begin(out, settings, prepared.identity, resume, overwrite)
        learners, judges = (
            prepared.feature_bags(segments, prepared.features(segments, "cpu"))
            for segments in (prepared.parts.train, prepared.parts.validation)
        )
        with told_if_memory_ran_out(settings, _remedy(settings)):
            solved = _learn(method, learners, data.classes, settings, out / folder.CHECKPOINTS)
            scores = _scores(method, judges)
        found = {"map": mean_ap(judges.labels, scores, judges.known)}
        info = judged_info(out, prepared, method, judges, scores, found)
        info = info.model_copy(update={"notes": _notes(data.classes, solved)})
        save_model(out / "model", Model(info, method, prepared.backbone))
    f1 = float(multilabel_metrics(judges.labels, scores, judges.known).loc["macro", "f1"])  # type: ignore[arg-type]
    return Trained(out, out / "model", 0, 0, {**found, "f1": f1}, data.synthetic)


def _check(settings: TrainSettings) -> None:
    """Settings that a classical method would have to ignore although they were asked for."""
    name = settings.method
    if settings.encoder.train:
        remedy = "set encoder.train=false; the encoder stays as it came"
        raise UserError(f"{name} learns from features: no encoder can be trained with it", remedy=remedy)
    if settings.data.views:
        raise UserError(f"{name} sees each frame once, without augmented views", remedy="set data.views=0")
    if settings.tensorboard:
        remedy = "leave tensorboard=true out"
        raise UserError(f"{name} has no epochs that TensorBoard could show", remedy=remedy)
    if processes(settings) > 1:
        remedy = "start one process with devices=1; set workers=N for N classes at a time"
        raise UserError(f"{name} is trained by one process", remedy=remedy)


def _remedy(settings: TrainSettings) -> str:
    if settings.workers > 1:
        return f"set workers=1 (now {settings.workers}): one class at a time"
    return f"set data.window={max(settings.data.window // 2, 1)} (now {settings.data.window})"


def _learn(
    method: OneVsRest, bags: Bags, classes: tuple[str, ...], settings: TrainSettings, folder_: Path
) -> list[Solved]:
    """Every class, those kept in the folder included; the method is fitted then."""
    lesson = method.lesson(_features(bags), bags.labels, bags.known)
    paths = [folder_ / f"class-{k:04d}.ckpt" for k in range(len(classes))]
    solved = {k: one for k, path in enumerate(paths) if (one := _kept(path)) is not None}
    todo = [k for k in range(len(classes)) if k not in solved]
    with listening() as wish, warnings_noted() as notes:
        if todo:
            _ = lesson.kernel  # once, before several threads ask for it
        for note in notes.of(None):
            say(note)
        found = solved_in_parallel(lesson, todo, settings.workers, notes, wish)
        for k, one in track(found, f"{settings.method}, classes", len(todo)):
            own = (*one.notes, *notes.of(k))
            for note in own:
                say(f"{classes[k]}: {note}")
            solved[k] = Solved(one.arrays, (*notes.of(None), *own))
            _keep(paths[k], solved[k])
    ordered = [solved[k] for k in range(len(classes))]
    method.take(lesson, ordered)
    return ordered


def _features(bags: Bags) -> list[Features]:
    found = (bags.judge(index).features for index in range(len(bags.ids)))
    return [features.numpy() for features in found if features is not None]


def _keep(path: Path, solved: Solved) -> None:
    arrays = {name: torch.from_numpy(np.array(value)) for name, value in solved.arrays.items()}
    checkpoint.write(path, {"arrays": arrays, "notes": list(solved.notes)})


def _kept(path: Path) -> Solved | None:
    if not path.is_file():
        return None
    state = checkpoint.read(path)
    if state is None:
        say(f"{path}: not what was written; this class is learnt again")
        return None
    return Solved({name: value.numpy() for name, value in state["arrays"].items()}, tuple(state["notes"]))


def _scores(method: OneVsRest, bags: Bags) -> Scores:
    """[N,K]"""
    pieces = []
    for first in range(0, len(bags.ids), PIECE):
        batch = collate([bags.judge(i) for i in range(first, min(first + PIECE, len(bags.ids)))])
        pieces.append(method.scores(method(batch.features, batch.mask)).double().numpy())
    return np.concatenate(pieces)


def _notes(classes: tuple[str, ...], solved: list[Solved]) -> tuple[str, ...]:
    """With the class's name; what all classes say is said once."""
    shared = [note for note in solved[0].notes if all(note in one.notes for one in solved)]
    shared = shared if len(classes) > 1 else []
    own = [
        f"{name}: {note}"
        for name, one in zip(classes, solved, strict=True)
        for note in one.notes
        if note not in shared
    ]
    return (*shared, *own)
