"""Predictions and features beside truth.

Enters: features or scores of videos and frames with their truth. Leaves: tables, a row a class and "macro";
thresholds; the picture of a segment with its attention.
"""

from devcem.evaluation.averages import averages
from devcem.evaluation.baselines import BASELINES, baseline_scores, baseline_video_scores
from devcem.evaluation.bootstrap import (
    average_intervals,
    intervals,
    metric_differences,
    metric_intervals,
    paired,
)
from devcem.evaluation.calibration import (
    brier,
    expected_calibration_error,
    fit_calibration,
    reliability,
)
from devcem.evaluation.character import attention_character
from devcem.evaluation.confusion import multilabel_confusion, row_shares
from devcem.evaluation.detection import event_detection, temporal_map
from devcem.evaluation.events import Event, decode_events, true_events
from devcem.evaluation.guarantee import guaranteed_thresholds
from devcem.evaluation.kept import frames_kept, kept_curve
from devcem.evaluation.localisation import localisation_metrics
from devcem.evaluation.metrics import mean_ap, multilabel_metrics
from devcem.evaluation.pointing import pointing_game
from devcem.evaluation.probe import linear_probe
from devcem.evaluation.strip import attention_frames, draw_strip
from devcem.evaluation.thresholds import tune_thresholds

__all__ = [
    "BASELINES",
    "Event",
    "attention_character",
    "attention_frames",
    "average_intervals",
    "averages",
    "baseline_scores",
    "baseline_video_scores",
    "brier",
    "decode_events",
    "draw_strip",
    "event_detection",
    "expected_calibration_error",
    "fit_calibration",
    "frames_kept",
    "guaranteed_thresholds",
    "intervals",
    "kept_curve",
    "linear_probe",
    "localisation_metrics",
    "mean_ap",
    "metric_differences",
    "metric_intervals",
    "multilabel_confusion",
    "multilabel_metrics",
    "paired",
    "pointing_game",
    "reliability",
    "row_shares",
    "temporal_map",
    "true_events",
    "tune_thresholds",
]
