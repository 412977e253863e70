"""The model card: README.md of a model folder, for the person who finds it."""

from __future__ import annotations

from devcem.model.info import ModelInfo

TUNED, FIXED = "tuned on validation", "not tuned: validation cannot judge it"

CARD = """# {method}, {classes} classes

**Research use only, not a medical device.**{synthetic}

Reads a stretch of capsule-endoscopy video and gives, for each class below, a score of the video and of every
frame. Learnt from tags of whole segments; no frame was annotated for it.

## Intended use

Research on weakly supervised reading of capsule endoscopy. Scores are no diagnosis; nothing is confirmed by
itself. Attention tells frames apart within a stretch: it is no probability and says nothing of a class.

## Data

{segments} training segments ({frames:,} frames, {patients} patients) of "{dataset}", {validation} segments
held out for validation{optimistic}. Fingerprint `{fingerprint}`.

## On validation

{metrics}

| class | threshold | |
|---|---|---|
{thresholds}

{calibration}
{notes}
## How it was made

Method `{method}` with {options}; window of {window} frames; features of `{backbone}`
(weights {checksum}{trained}); DeVCEM {version}. All settings stand in model.json.
"""

CHOSEN = """
Validation chose the thresholds, and a deep method's epoch, so these figures flatter: judge it with
`devcem evaluate` on a test split."""
LAST = "Not judged: these are the weights that training ended with, not those that validation chose."


PLAIN = "Scores are not calibrated: none is a probability."


def card(info: ModelInfo) -> str:
    on = info.trained_on
    thresholds = [
        f"| {name} | {threshold.value:.3f} | {TUNED if threshold.tuned else FIXED} |"
        for name, threshold in info.thresholds.items()
    ]
    metrics = [f"- {name}: {value:.3f}" for name, value in info.metrics.items()]
    return CARD.format(
        method=info.method,
        classes=len(info.classes),
        synthetic=" **Trained on synthetic video.**" if on.synthetic else "",
        segments=on.segments,
        frames=on.frames,
        patients=on.patients,
        dataset=on.dataset,
        validation=on.validation_segments,
        optimistic=" with patients on both sides, which is optimistic" if on.optimistic else ", by patient",
        fingerprint=on.fingerprint[:16],
        metrics="\n".join([*metrics, CHOSEN] if metrics else [LAST]),
        thresholds="\n".join(thresholds),
        calibration=_calibration(info),
        notes="\n".join(["", *(f"- {note}" for note in info.notes), ""] if info.notes else []),
        options=", ".join(f"{name} {value}" for name, value in info.options.items()) or "no options",
        window=info.window,
        backbone=info.backbone.get("architecture", info.backbone.get("encoder", "")),
        checksum=str(info.backbone.get("weights", ""))[:16],
        trained=", then trained with the method" if info.backbone_trained else "",
        version=info.devcem,
    )


def _calibration(info: ModelInfo) -> str:
    kinds = {} if info.calibration is None else info.calibration.ordered(info.classes).kinds
    fitted = [f"{name} ({kind})" for name, kind in kinds.items() if kind != "none"]
    if not fitted:
        return PLAIN
    return (
        f"Probabilities were calibrated on validation for {', '.join(fitted)}; others are scores as they are."
    )
