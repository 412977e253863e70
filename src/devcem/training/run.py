"""One training run from a dataset folder to a model folder."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import torch
from lightning_fabric import Fabric

from devcem.errors import UserError
from devcem.labels import Dataset, load_dataset
from devcem.methods import Method, create, describe
from devcem.methods.classical import OneVsRest
from devcem.model import Model, Threshold, save_model
from devcem.training import folder
from devcem.training.bags import Bags, FrameBags
from devcem.training.classical import train_classical
from devcem.training.devices import make_fabric, told_if_another_ended
from devcem.training.loop import Fitted, Weights, fit
from devcem.training.preparing import Prepared, prepare
from devcem.training.reporting import Reporter, board_writer
from devcem.training.saving import Trained, judged_info
from devcem.training.settings import TrainSettings
from devcem.training.trainee import Trainee
from devcem.training.weights import loss_weights


def train(
    dataset: str | Path | Dataset,
    out: str | Path,
    settings: TrainSettings,
    resume: bool = False,
    overwrite: bool = False,
    cache: str | Path | None = None,
) -> Trained:
    """Train a method on a dataset's train split; its model, of a deep one the best and the last weights, ends
    as a model folder in *out*.

    *cache* keeps features (default: `.features` beside the dataset's media); runs on one dataset share it.
    """
    data = dataset if isinstance(dataset, Dataset) else load_dataset(dataset)
    prepared = prepare(data, settings, Path(cache) if cache else None)
    torch.manual_seed(settings.seed)
    method = create(  # before any feature is computed: a wrong option is told at once
        settings.method, num_classes=len(data.classes), feature_dim=prepared.backbone.dim, **settings.options
    )
    if isinstance(method, OneVsRest):
        return train_classical(prepared, method, Path(out), resume, overwrite)
    _fits(method, settings)
    return _train_deep(prepared, method, Path(out), resume, overwrite)


def _train_deep(prepared: Prepared, method: Method, out: Path, resume: bool, overwrite: bool) -> Trained:
    settings, backbone = prepared.settings, prepared.backbone
    trainee = Trainee(method)
    if (how := settings.encoder).train:
        trainee = Trainee(method, backbone.network, backbone.prepare, how.freeze_norm, how.checkpointing)
    if settings.tensorboard:
        board_writer()
    steps = -(-len(prepared.parts.train) // settings.batch)
    fabric = make_fabric(settings)
    fabric.launch()
    with told_if_another_ended(), ExitStack() as held:
        reporter, refusal = None, None
        if fabric.is_global_zero:
            try:
                held.enter_context(folder.claimed(out))
                folder.begin(out, settings, prepared.identity, resume, overwrite)
                reporter = Reporter(out, settings, steps)
            except UserError as error:
                refusal = error
        if refusal := fabric.broadcast(refusal):  # what the first refuses all refuse, and nobody waits for it
            raise refusal
        learners, judges = _bags(fabric, prepared)
        method.weigh(*loss_weights(learners.labels, learners.known, settings.balance))
        if reporter is not None:
            held.enter_context(reporter)
        fitted = fit(fabric, trainee, learners, judges, settings, out / folder.CHECKPOINTS, reporter)
        if reporter is not None:
            reporter.finish(fitted.progress)
            _save(out, trainee, prepared, judges, fitted)
        fabric.barrier()
    return _summary(out, fitted, prepared.data)


def _fits(method: Method, settings: TrainSettings) -> None:
    """Told before any feature is computed."""
    if settings.batch < method.least_batch:
        what = f"{method.name} compares the videos of a step and batch={settings.batch} gives it too few"
        wanted = describe(method.name).published.get("batch", method.least_batch)
        raise UserError(what, remedy=f"set batch={wanted}, or any of at least {method.least_batch}")


def _bags(fabric: Fabric, prepared: Prepared) -> tuple[Bags, Bags]:
    """Bags that learn and bags that judge. Several processes share the encoding out among them."""
    settings, parts = prepared.settings, prepared.parts
    if settings.encoder.train:
        learners, judges = (
            FrameBags(prepared.data, segments, prepared.backbone.size, settings.data, settings.seed)
            for segments in (parts.train, parts.validation)
        )
        return learners, judges
    device = "cpu" if fabric.device.type == "cpu" else str(fabric.device)
    views = settings.data.views
    if fabric.world_size > 1:
        mine = slice(fabric.global_rank, None, fabric.world_size)
        prepared.features(parts.train[mine], device, views)
        prepared.features(parts.validation[mine], device)
        fabric.barrier()
    return (
        prepared.feature_bags(parts.train, prepared.features(parts.train, device, views)),
        prepared.feature_bags(parts.validation, prepared.features(parts.validation, device)),
    )


def _save(out: Path, trainee: Trainee, prepared: Prepared, judges: Bags, fitted: Fitted) -> None:
    """The last weights, then the best ones, each with its model.json; and validation.csv of the best."""
    verdict, method = fitted.verdict, trainee.method
    metrics = {"loss": verdict.loss, "map": verdict.map}
    info = judged_info(out, prepared, method, judges, verdict.scores, metrics)
    best: Weights = {name: value.detach().cpu().clone() for name, value in trainee.state_dict().items()}
    trainee.load_state_dict(fitted.last)
    fixed = {name: Threshold() for name in info.classes}
    unjudged = info.model_copy(update={"metrics": {}, "thresholds": fixed, "calibration": None})
    save_model(out / "last", Model(unjudged, method, prepared.backbone))
    trainee.load_state_dict(best)
    save_model(out / "model", Model(info, method, prepared.backbone))


def _summary(out: Path, fitted: Fitted, data: Dataset) -> Trained:
    progress = fitted.progress
    metrics = {"loss": fitted.verdict.loss, "map": fitted.verdict.map, "f1": fitted.verdict.f1}
    return Trained(out, out / "model", progress.epoch, progress.best_epoch + 1, metrics, data.synthetic)
