"""Predictions and features beside truth.

Enters: features or scores of videos and frames with their truth. Leaves: tables, a row a class and "macro";
thresholds; the picture of a segment with its attention.
"""

from devcem.evaluation.averages import averages
from devcem.evaluation.bootstrap import (
    average_intervals,
    intervals,
    metric_differences,
    metric_intervals,
    paired,
)
from devcem.evaluation.guarantee import guaranteed_thresholds
from devcem.evaluation.localisation import localisation_metrics
from devcem.evaluation.metrics import mean_ap, multilabel_metrics
from devcem.evaluation.probe import linear_probe
from devcem.evaluation.strip import attention_frames, draw_strip
from devcem.evaluation.thresholds import tune_thresholds

__all__ = [
    "attention_frames",
    "average_intervals",
    "averages",
    "draw_strip",
    "guaranteed_thresholds",
    "intervals",
    "linear_probe",
    "localisation_metrics",
    "mean_ap",
    "metric_differences",
    "metric_intervals",
    "multilabel_metrics",
    "paired",
    "tune_thresholds",
]
