"""What is known about the pixels.

In: a dataset folder that people edit by hand. Out: a `Dataset` of segments with labels, and, for scoring
alone, runs of frame truth. Beside that: the canonical classes, checks, statistics and splits.
"""

from devcem.labels.checking import check_dataset
from devcem.labels.classes import ALIASES, CEST, CEST_HEADINGS, CLASSES, PATHOLOGIES, canonical
from devcem.labels.dataset import SPLITS, Dataset, Run, Segment
from devcem.labels.problems import Problem
from devcem.labels.reading import load_dataset, load_runs
from devcem.labels.spelling import nearest
from devcem.labels.splitting import Split, split_dataset, write_splits
from devcem.labels.stats import Stats, dataset_stats
from devcem.labels.tags import TagOutcome, parse_tag
from devcem.labels.truth import Truth, frame_truth, segment_truth
from devcem.labels.writing import save_dataset

__all__ = [
    "ALIASES",
    "CEST",
    "CEST_HEADINGS",
    "CLASSES",
    "PATHOLOGIES",
    "SPLITS",
    "Dataset",
    "Problem",
    "Run",
    "Segment",
    "Split",
    "Stats",
    "TagOutcome",
    "Truth",
    "canonical",
    "check_dataset",
    "dataset_stats",
    "frame_truth",
    "load_dataset",
    "load_runs",
    "nearest",
    "parse_tag",
    "save_dataset",
    "segment_truth",
    "split_dataset",
    "write_splits",
]
