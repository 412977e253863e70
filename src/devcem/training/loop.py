"""The training loop: epochs, steps, validation, checkpoints. It remembers weights and `Progress`, no more."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.distributed
from lightning_fabric import Fabric
from torch import Tensor

from devcem.errors import UserError
from devcem.frames.ahead import in_parallel
from devcem.methods.bag import Batch, collate
from devcem.methods.composing import Step
from devcem.methods.method import Method
from devcem.training.allocator import keep_freed_memory
from devcem.training.bags import Bags
from devcem.training.judging import Verdict, judge
from devcem.training.keeping import Keeper, restore
from devcem.training.memory import told_if_memory_ran_out
from devcem.training.order import share, steps
from devcem.training.schedule import make_optimiser, make_schedule
from devcem.training.settings import TrainSettings
from devcem.training.stopping import listening
from devcem.training.trainee import Trainee

Row = dict[str, float]  # an epoch in the history
Weights = dict[str, Tensor]
Listener = Callable[["Progress", float | None], None]  # hears of steps with their loss, of epochs with None


@dataclass
class Progress:
    """Where the run stands."""

    epoch: int = 0
    step: int = 0  # within the epoch
    steps: int = 0  # in all
    sums: dict[str, float] = field(default_factory=dict)  # loss terms times bags, of this epoch so far
    history: list[Row] = field(default_factory=list)
    best_rank: float | None = None
    best_epoch: int = -1
    ended: bool = False


@dataclass(frozen=True)
class Fitted:
    """What a run leaves. The trainee carries the best weights."""

    progress: Progress
    last: Weights  # of the last epoch
    verdict: Verdict  # on the best weights


def fit(
    fabric: Fabric,
    trainee: Trainee,
    train: Bags,
    validation: Bags,
    settings: TrainSettings,
    folder: Path | None = None,
    told: Listener | None = None,
) -> Fitted:
    """Train until the epochs or the patience are used up; goes on from the newest checkpoint in *folder*."""
    if fabric.device.type == "cpu":
        keep_freed_memory()
    per_epoch = math.ceil(len(train.ids) / settings.batch)
    model, optimiser = fabric.setup(trainee, make_optimiser(trainee.parameters(), settings.optimiser))
    schedule = make_schedule(optimiser.optimizer, settings.optimiser, settings.epochs * per_epoch)
    torch.manual_seed(settings.seed * 1000 + fabric.global_rank)  # what dropout draws
    progress, best = Progress(), _copy(trainee)
    state = restore(fabric, folder, trainee, optimiser, schedule)
    if state is not None:
        progress, best = Progress(**state["progress"]), state["best"]
        if not fabric.is_global_zero:
            progress.sums = {}  # the first process has them: they are added up over all

    def snapshot() -> dict[str, Any]:
        parts = {"trainee": trainee, "optimiser": optimiser, "schedule": schedule}
        states = {name: part.state_dict() for name, part in parts.items()}
        return {**states, "progress": asdict(progress), "best": best}

    keeper = Keeper(fabric, folder, settings.checkpoint_seconds, snapshot)
    size = settings.batch if settings.encoder.train else max(settings.batch, 32)
    with listening() as wish, told_if_memory_ran_out(settings):
        while progress.epoch < settings.epochs and not progress.ended:
            began = time.monotonic()
            model.train()
            for batch, bags, of in _read(fabric, train, trainee.method, settings, progress):
                loss = _step(fabric, model, optimiser, batch.to(fabric.device), bags / of, settings, progress)
                schedule.step()
                progress.step, progress.steps = progress.step + 1, progress.steps + 1
                if told is not None:
                    told(progress, loss)
                keeper.after_step(progress.steps, wish.stop)
            verdict = judge(fabric, trainee, validation, size, settings.workers)
            progress.history.append(_row(fabric, progress, verdict, optimiser, len(train.ids), began))
            rank = verdict.rank(settings.select)
            if progress.best_rank is None or rank < progress.best_rank:
                progress.best_rank, progress.best_epoch, best = rank, progress.epoch, _copy(trainee)
            stale = progress.epoch - progress.best_epoch
            progress.ended = settings.patience is not None and stale >= settings.patience
            progress.epoch, progress.step, progress.sums = progress.epoch + 1, 0, {}
            if told is not None:
                told(progress, None)
            keeper.after_epoch(progress.steps, wish.stop)
        keeper.after_epoch(progress.steps, now=True)
        last = _copy(trainee)
        trainee.load_state_dict(best)
        return Fitted(progress, last, judge(fabric, trainee, validation, size, settings.workers))


def _step(
    fabric: Fabric,
    model: torch.nn.Module,
    optimiser: torch.optim.Optimizer,
    batch: Batch,
    weight: float,
    settings: TrainSettings,
    progress: Progress,
) -> float:
    """One update. *weight* is this process's share of the global batch; 0 where it only keeps step.

    Losses are means over bags, and data-parallel training averages gradients over processes, so the share
    times their number makes the update the same for any number of them.
    """
    optimiser.zero_grad()
    terms = model(lambda: batch)
    fabric.backward(terms["total"] * (weight * fabric.world_size))
    norm = _clipped(fabric, model, optimiser, settings.optimiser.clip)
    values = {name: float(term.detach()) for name, term in terms.items()}
    if not (math.isfinite(values["total"]) and math.isfinite(float(norm))):
        raise _not_finite(values, float(norm), batch, progress)
    optimiser.step()
    bags = len(batch) if weight else 0
    for name, value in values.items():
        progress.sums[name] = progress.sums.get(name, 0.0) + value * bags
    return values["total"]


def _clipped(
    fabric: Fabric, model: torch.nn.Module, optimiser: torch.optim.Optimizer, largest: float
) -> Tensor:
    """The gradient's norm as it was. Fabric goes through the gradients a second time to clip by infinity."""
    if not largest:
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        return torch.nn.utils.get_total_norm(gradients)
    norm = fabric.clip_gradients(model, optimiser, max_norm=largest, error_if_nonfinite=False)
    assert isinstance(norm, Tensor)  # as it is where gradients are not clipped by value
    return norm


def _not_finite(values: dict[str, float], norm: float, batch: Batch, progress: Progress) -> UserError:
    shown = ", ".join(f"{name} {value:g}" for name, value in values.items())
    return UserError(
        f"the loss or its gradient is not finite ({shown}, norm {norm:g}) in epoch {progress.epoch + 1}, "
        f"step {progress.step + 1}, on {', '.join(batch.ids)}",
        remedy="look at these segments, lower optimiser.lr, or set optimiser.clip=1",
    )


def _read(
    fabric: Fabric, train: Bags, method: Method, settings: TrainSettings, progress: Progress
) -> Iterator[tuple[Batch, int, int]]:
    """This process's batches from where the epoch stands, each with how many of its bags count, of how many.

    A process for which a short last batch leaves nothing gets a bag that does not count, so that all step
    together.
    """

    def read(step: Step) -> tuple[Batch, int, int]:
        mine = share(step, fabric.global_rank, fabric.world_size)
        drawn = mine.bags if len(mine.bags) else step.bags[:1]
        bags = [train.draw(int(index), progress.epoch) for index in drawn]
        weight = len(step.bags) / max(len(step.pairs), 1)
        return collate(bags, mine.pairs.tolist(), weight), len(mine.bags), len(step.bags)

    positive = train.labels & train.known
    todo = steps(method.compose, positive, settings.batch, settings.seed, progress.epoch)[progress.step :]
    return in_parallel(read, todo, settings.workers)


def _row(
    fabric: Fabric,
    progress: Progress,
    verdict: Verdict,
    optimiser: torch.optim.Optimizer,
    bags: int,
    began: float,
) -> Row:
    names = sorted(progress.sums)
    sums = torch.tensor([progress.sums[name] for name in names], dtype=torch.float64)
    if fabric.world_size > 1:
        torch.distributed.all_reduce(sums)
    row: Row = {"epoch": progress.epoch + 1, "lr": float(optimiser.param_groups[0]["lr"])}
    row |= {f"train_{name}": float(value) / bags for name, value in zip(names, sums, strict=True)}
    row |= {"val_total": verdict.loss} | {f"val_{name}": value for name, value in verdict.terms.items()}
    return row | {"val_map": verdict.map, "val_f1": verdict.f1, "seconds": time.monotonic() - began}


def _copy(trainee: Trainee) -> Weights:
    return {name: value.detach().cpu().clone() for name, value in trainee.state_dict().items()}
