"""The dataset folder, read for use: nothing comes back while anything in it is wrong."""

from __future__ import annotations

from pathlib import Path

from devcem.errors import UserError
from devcem.labels.consistency import check_runs, check_segments
from devcem.labels.dataset import Dataset, Run
from devcem.labels.description import read_description
from devcem.labels.problems import Problem, errors, refusal
from devcem.labels.rows import RUNS, read_runs, read_segments


def load_dataset(path: str | Path) -> Dataset:
    """dataset.yaml and segments.csv; frames.csv stays closed. Raises UserError with the first errors."""
    root, problems = dataset_folder(path), list[Problem]()
    description = read_description(root, problems)
    if description is None:
        raise refusal(problems, root)
    segments = read_segments(root, description, problems)
    check_segments(segments, description)
    if errors(problems):
        raise refusal(problems, root)
    return Dataset(
        root=root,
        name=description.name,
        classes=tuple(description.classes),
        segments=[segment for segment, _ in segments.items],
        licence=description.licence,
        aliases=description.aliases,
        window=description.window,
        synthetic=description.synthetic,
    )


def load_runs(dataset: Dataset) -> list[Run]:
    """frames.csv, for scoring only: training never opens it. Raises UserError with the first errors."""
    if not (dataset.root / RUNS).is_file():
        remedy = "score whole segments, or add the file"
        raise UserError("the dataset has no truth of single frames", dataset.root / RUNS, remedy)
    problems: list[Problem] = []
    description = read_description(dataset.root, problems)
    if description is None:
        raise refusal(problems, dataset.root)
    runs = read_runs(dataset.root, description, problems)
    check_runs(runs, {segment.segment: segment for segment in dataset.segments})
    if errors(problems):
        raise refusal(problems, dataset.root)
    return [run for run, _ in runs.items]


def dataset_folder(path: str | Path) -> Path:
    """The folder, or a UserError where there is none."""
    root = Path(path)
    if not root.is_dir():
        raise UserError("no such folder", root, "give a dataset folder: one that holds dataset.yaml")
    return root
