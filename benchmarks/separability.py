"""What colour alone tells about each class of the synthetic gut, beside what a pretrained network tells.

    python benchmarks/separability.py [--frames 6] [--seed 0]

Frames of every segment of the `paper` plan, judged by frame on held-out patients: a logistic regression on
the colour histogram, and one on EfficientNet-Lite0 features. A class that colour gives away or neither finds
is a fault of its lesion: see docs/explanation/synthetic.md for what was mended.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from devcem.encoders import create_encoder
from devcem.evaluation.probe import linear_probe
from devcem.labels import CLASSES
from devcem.progress import track
from devcem.synthetic.appearance import fitted
from devcem.synthetic.collection import Order, plan, stage
from devcem.synthetic.optics import jpeg
from devcem.synthetic.render import render, visible
from devcem.synthetic.truth import at


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=6, help="frames a segment")
    parser.add_argument("--segments", type=int, default=None, help="as many only")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    encoders = {"colour": create_encoder("colour"), "effnet": create_encoder("efficientnet-lite0")}
    features: dict[str, list[np.ndarray]] = {name: [] for name in encoders}
    truth, patients = [], []
    rng = np.random.default_rng(options.seed)
    shots = plan(Order("paper", seed=options.seed, segments=options.segments))
    for shot in track(shots, "segments"):
        scene = replace(stage(shot), overlay=False)
        chosen = np.sort(rng.choice(shot.frames, options.frames, replace=False))
        chosen[0] = shot.tag  # the frame of the tag shows what the segment is labelled with
        for frames, shares in render(replace(scene, path=at(scene.path, np.sort(chosen)))):
            shown = jpeg(frames, 90)
            edge = (shown.shape[1] - 228) // 2
            shown = shown[:, edge:-edge, edge:-edge]
            for name, encoder in encoders.items():
                features[name].append(encoder.encode(shown))
            truth.append(visible(shares))
            patients += [shot.patient.id] * len(frames)
    labels = np.concatenate(truth)
    colour, effnet = (
        linear_probe(np.concatenate(features[name]), labels, np.ones_like(labels), patients, CLASSES)
        for name in ("colour", "effnet")
    )
    print(f"renderer {fitted()['version']}: {len(labels)} frames of {len(set(patients))} patients")
    print("AUROC by frame on held-out patients, and average precision")
    print(f"{'class':16s} positives patients  colour  effnet   AP colour  effnet")
    for (_, a), (_, b) in zip(colour.iterrows(), effnet.iterrows(), strict=True):
        print(
            f"{a['class']:16s} {a['positives']:9d} {a['patients']:8d}  {a['auroc']:6.3f}  {b['auroc']:6.3f}"
            f"      {a['ap']:6.3f}  {b['ap']:6.3f}  {a['reason']}"
        )


if __name__ == "__main__":
    main()
