"""Train and judge what is missing, several runs at a time; a run that fails stops no other."""

from __future__ import annotations

import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from devcem.benchmark.judged import is_judged, write_judged
from devcem.benchmark.plan import Plan, begin
from devcem.errors import UserError
from devcem.evaluation.split import evaluate
from devcem.files import make_folder
from devcem.labels import Dataset, load_dataset
from devcem.model import load_model
from devcem.parallel import in_parallel
from devcem.progress import say, track
from devcem.training import train
from devcem.training.preparing import prepare
from devcem.training.settings import TrainSettings

RUNS, JUDGED, LOGS = "runs", "judged", "logs"


@dataclass(frozen=True)
class Job:
    """All that another process needs."""

    dataset: Path
    out: Path
    settings: TrainSettings
    split: str
    cache: Path | None

    @property
    def name(self) -> str:
        return f"{self.settings.method}/seed-{self.settings.seed}"


@dataclass(frozen=True)
class Failure:
    run: str
    reason: str
    log: Path


def run_benchmark(
    dataset: str | Path, out: str | Path, plan: Plan, workers: int = 1, cache: Path | None = None
) -> list[Failure]:
    """Every run of the plan that is not judged yet. What a kill interrupts goes on from its last checkpoint.

    Features are computed before, by all cores; then *workers* processes train with a thread each.
    """
    data, out = load_dataset(dataset), Path(out)
    begin(out, plan, data)
    jobs = [
        Job(data.root, out, plan.settings(method, seed, data.window), plan.split, cache)
        for method, seed in plan.jobs
    ]
    todo = [job for job in jobs if not is_judged(out / JUDGED / job.name)]
    say(f"{len(jobs) - len(todo)} of {len(jobs)} runs are done already")
    if todo:
        _features_first(data, todo, cache)
    failures = []
    for failure in track(in_parallel(run_one, todo, workers), "runs", len(todo)):
        if failure is not None:
            say(f"{failure.run} failed: {failure.reason}")
            failures.append(failure)
    return failures


def run_one(job: Job) -> Failure | None:
    """Train, or go on, then judge. What it says goes into its log."""
    log = job.out / LOGS / f"{job.name.replace('/', '-')}.txt"
    make_folder(log.parent)
    with log.open("a", encoding="utf-8") as file, redirect_stderr(file), redirect_stdout(file):
        try:
            _train_and_judge(job)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            reason = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
            return Failure(job.name, reason, log)
    return None


def _train_and_judge(job: Job) -> None:
    data = load_dataset(job.dataset)
    folder = job.out / RUNS / job.name
    done = train(data, folder, job.settings, resume=True, cache=job.cache)
    judged = evaluate(load_model(done.model), data, job.split, job.cache)
    about = {"epochs": done.epochs, "best_epoch": done.best_epoch, "seconds": _seconds(folder)}
    write_judged(job.out / JUDGED / job.name, judged, job.settings.method, job.settings.seed, about)


def _seconds(folder: Path) -> float | None:
    """Of training, over all the times it went on; classical runs keep no clock."""
    history = folder / "history.csv"
    return float(pd.read_csv(history)["seconds"].sum()) if history.is_file() else None


def _features_first(data: Dataset, todo: list[Job], cache: Path | None) -> None:
    """Once and by every core, rather than by whichever run comes first."""
    frozen = [job.settings for job in todo if not job.settings.encoder.train]
    for settings in {
        (one.encoder, one.data.view, one.data.views, one.seed * bool(one.data.views)): one for one in frozen
    }.values():
        prepared = prepare(data, settings, cache)
        prepared.features([*prepared.parts.train], "cpu", settings.data.views)
        splits = {"train", "val", todo[0].split}
        prepared.features([one for one in data.segments if one.split in splits], "cpu")
