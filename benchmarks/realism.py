"""How near the rendered frames come to real ones, in numbers that no method of this project is trained on.

    python benchmarks/realism.py ../shared/data [--features] [--frames 240] [--seed 0]

Real: PillCam COLON 2 thumbnails (the target), WCEBleedGen frames without bleeding, Kvasir-Capsule tiles.
Synthetic: frames drawn from the `paper` plan, through JPEG. All are cut to the view, scaled to 192 pixels and
compared inside a circle. Printed: medians and Kolmogorov-Smirnov distances of each statistic; change by
frame; and how well a classifier tells real from synthetic, cross-validated with a source or patient on one
side only (0.5 is perfect realism, 1.0 none).
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy.stats import ks_2samp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from devcem.synthetic.appearance import fitted
from devcem.synthetic.collection import Order, plan, stage
from devcem.synthetic.optics import jpeg
from devcem.synthetic.render import VIEW, render
from devcem.synthetic.truth import at

SIDE = 192
Frames = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


def inside(reach: float = 0.88) -> npt.NDArray[np.bool_]:
    y, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    return np.asarray(np.hypot(x, y) < reach * SIDE / 2)


def scaled(image: Image.Image, view: float) -> Frames:
    """The middle square of an image that the view fills, at SIDE pixels."""
    cut = (1 - view) / 2 * image.width
    box = (cut, cut, image.width - cut, image.height - cut)
    return np.asarray(image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX, box=box))


def real(data: Path, limit: int) -> dict[str, tuple[Frames, list[str]]]:
    """Real frames by set, each with its source."""
    captiv8 = sorted((data / "captiv8_pillcam_colon2" / "frames").glob("*.jpg"))
    names = [path.stem for path in captiv8]
    sets = {"captiv8": ([scaled(Image.open(path), 512 / 576) for path in captiv8], names)}
    with (data / "wcebleedgen224" / "frames.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["bleeding"] == "0"]
    rows = rows[:: max(1, len(rows) // limit)]
    folder = data / "wcebleedgen224" / "frames"
    wce = [scaled(Image.open(folder / row["file"]), 1.0) for row in rows]
    sets["wcebleedgen"] = (wce, [row["source"] for row in rows])
    kvasir = sorted((data / "kvasir_capsule_tiles").glob("*.png"))
    sets["kvasir"] = ([scaled(Image.open(path), 1.0) for path in kvasir], [path.stem for path in kvasir])
    return {name: (np.stack(frames), sources) for name, (frames, sources) in sets.items()}


def synthetic(frames: int, seed: int) -> tuple[Frames, list[str]]:
    """Frames of the paper plan, four a segment."""
    shots = plan(Order("paper", seed=seed))
    rng = np.random.default_rng(seed)
    out: list[Frames] = []
    patients: list[str] = []
    for number in rng.permutation(len(shots))[: -(-frames // 4)]:
        scene = stage(shots[number])
        chosen = np.sort(rng.choice(shots[number].frames, 4, replace=False))
        for batch, _ in render(replace(scene, path=at(scene.path, chosen))):
            out += [scaled(Image.fromarray(frame), VIEW) for frame in jpeg(batch, 90)]
        patients += [shots[number].patient.id] * 4
    return np.stack(out), patients


def statistics(frames: Frames) -> dict[str, Floats]:
    """Each statistic of every frame, inside the view."""
    within = inside()
    values = frames.astype(np.float64) / 255
    pixels = values[:, within]  # [n,P,3]
    grey = values.mean(3)
    out: dict[str, Floats] = {}
    for channel, name in enumerate(("red", "green", "blue")):
        out[f"{name} mean"] = pixels[..., channel].mean(1)
        out[f"{name} deviation"] = pixels[..., channel].std(1)
        for q in (5, 50, 95):
            out[f"{name} {q}%"] = np.percentile(pixels[..., channel], q, axis=1)
    mean = pixels.mean(1)
    out["green/red"], out["blue/green"] = mean[:, 1] / mean[:, 0], mean[:, 2] / mean[:, 1]
    top, low = pixels.max(2), pixels.min(2)
    out["saturation mean"] = ((top - low) / np.maximum(top, 1e-3)).mean(1)
    out["saturation deviation"] = ((top - low) / np.maximum(top, 1e-3)).std(1)
    for channels, name in (((0, 1), "hue red-green"), ((1, 2), "hue green-blue")):
        out[f"{name} deviation"] = (pixels[..., channels[0]] - pixels[..., channels[1]]).std(1)
    down, right = np.gradient(grey, axis=(1, 2))
    steep = np.hypot(down, right)[:, inside(0.84)]
    for q in (25, 50, 75, 90, 98):
        out[f"gradient {q}%"] = np.log(np.percentile(steep, q, axis=1) + 1e-4)
    out |= _spectrum(grey)
    y, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    ring = np.hypot(x, y) / (SIDE / 2)
    for a in (0.0, 0.25, 0.5, 0.7):
        out[f"ring {a:.2f}"] = grey[:, (ring >= a) & (ring < a + 0.18)].mean(1) / grey[:, within].mean(1)
    out["dark share"] = (pixels.max(2) < 0.2).mean(1)
    out["bright share"] = (pixels.min(2) > 0.55).mean(1)
    return out


def _spectrum(grey: Floats) -> dict[str, Floats]:
    """Log power in bands of the middle square, and its slope."""
    cut = SIDE // 2
    middle = grey[:, SIDE // 4 : SIDE // 4 + cut, SIDE // 4 : SIDE // 4 + cut]
    window = np.hanning(cut)[:, None] * np.hanning(cut)[None, :]
    power = np.abs(np.fft.fft2((middle - middle.mean((1, 2), keepdims=True)) * window)) ** 2
    frequency = np.hypot(np.fft.fftfreq(cut)[:, None], np.fft.fftfreq(cut)[None, :]) * cut
    edges = [2, 4, 8, 16, 32, 48]
    out = {
        f"power {a}-{b}": np.log10(power[:, (frequency >= a) & (frequency < b)].mean(1) + 1e-9)
        for a, b in pairwise(edges)
    }
    return out | {"power slope": (out["power 32-48"] - out["power 2-4"]) / np.log10(40 / 3)}


def change(frames: Frames) -> Floats:
    """Mean absolute difference of each pair of neighbours, inside the view, in grey values of 255."""
    grey = frames.astype(np.float64).mean(3)[:, inside()]
    return np.abs(np.diff(grey, axis=0)).mean(1)


def told_apart(truth: npt.NDArray[np.bool_], features: Floats, groups: list[str]) -> float:
    scores = np.empty(len(truth))
    for train, test in StratifiedGroupKFold(5, shuffle=True, random_state=0).split(features, truth, groups):
        line = LogisticRegression(C=0.05, max_iter=2000, class_weight="balanced")
        model = make_pipeline(StandardScaler(), line)
        scores[test] = model.fit(features[train], truth[train]).decision_function(features[test])
    return float(roc_auc_score(truth, scores))


def print_change(data: Path, seed: int) -> None:
    with av.open(str(next((data / "tsr_pillcam_colon_video").glob("*.wmv")))) as video:
        tsr = [scaled(frame.to_image(), 512 / 576) for frame in video.decode(video=0)]
    runs: dict[str, list[Frames]] = {}
    folder = data / "wcebleedgen224" / "frames"
    with (data / "wcebleedgen224" / "frames.csv").open() as file:
        for row in csv.DictReader(file):
            if row["bleeding"] == "0":
                runs.setdefault(row["segment"], []).append(scaled(Image.open(folder / row["file"]), 1.0))
    wce = np.concatenate([change(np.stack(run)) for run in runs.values() if len(run) > 1])
    ours = []
    for shot in plan(Order("paper", seed=seed))[:60:6]:
        scene = stage(shot)
        part = replace(scene, path=scene.path.part(0, 40))
        frames = np.concatenate([jpeg(batch, 90) for batch, _ in render(part)])
        ours.append(change(np.stack([scaled(Image.fromarray(f), VIEW) for f in frames])))
    print("\nchange from frame to frame, grey values of 255 (5, 25, 50, 75, 95%)")
    changes = {
        "TSR, 5 frames/s": change(np.stack(tsr)),
        "WCEBleedGen": wce,
        "synthetic": np.concatenate(ours),
    }
    for name, values in changes.items():
        quantiles = np.percentile(values, [5, 25, 50, 75, 95])
        print(f"  {name:16s} {len(values):5d}  " + "  ".join(f"{value:5.1f}" for value in quantiles))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of real frames")
    parser.add_argument("--frames", type=int, default=240, help="synthetic frames")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--features", action="store_true", help="by EfficientNet-Lite0, too")
    options = parser.parse_args()
    sets = real(options.data, 240)
    ours, patients = synthetic(options.frames, options.seed)
    stats = {name: statistics(frames) for name, (frames, _) in sets.items()} | {"synthetic": statistics(ours)}
    counts = ", ".join(f"{name} {len(values['red mean'])}" for name, values in stats.items())
    print(f"renderer {fitted()['version']}; frames: {counts}")
    print(f"\n{'median':22s}" + "".join(f"{name:>13s}" for name in stats) + "   KS to captiv8, wcebleedgen")
    distances = []
    for key in stats["synthetic"]:
        pairs = (("captiv8", "synthetic"), ("wcebleedgen", "synthetic"), ("captiv8", "wcebleedgen"))
        ks = [ks_2samp(stats[one][key], stats[other][key]).statistic for one, other in pairs]
        distances.append(ks)
        medians = "".join(f"{np.median(values[key]):13.3f}" for values in stats.values())
        print(f"{key:22s}{medians}   {ks[0]:.2f} {ks[1]:.2f}")
    far = np.mean(distances, axis=0)
    print(f"mean KS: to captiv8 {far[0]:.3f}, to wcebleedgen {far[1]:.3f}; between these two {far[2]:.3f}")
    print("\ntold apart by logistic regression, AUC")
    vectors = {name: np.stack(list(s.values()), 1) for name, s in stats.items()}
    _compare("statistics", vectors, sets, patients)
    if options.features:
        from devcem.encoders import create_encoder

        encoder = create_encoder("efficientnet-lite0")
        frames = {name: pictures for name, (pictures, _) in sets.items()} | {"synthetic": ours}
        masked = {name: np.where(inside()[..., None], f, 0).astype(np.uint8) for name, f in frames.items()}
        deep = {name: encoder.encode(pictures).astype(float) for name, pictures in masked.items()}
        _compare("EfficientNet-Lite0", deep, sets, patients)
    print_change(options.data, options.seed)


def _compare(
    kind: str, vectors: dict[str, Floats], sets: dict[str, tuple[Frames, list[str]]], patients: list[str]
) -> None:
    for name in ("captiv8", "wcebleedgen"):
        both = np.concatenate([vectors[name], vectors["synthetic"]])
        truth = np.arange(len(both)) < len(vectors[name])
        auc = told_apart(truth, both, sets[name][1] + patients)
        print(f"  {kind:18s} {name:12s} from synthetic {auc:.3f}")
    both = np.concatenate([vectors["captiv8"], vectors["wcebleedgen"]])
    truth = np.arange(len(both)) < len(vectors["captiv8"])
    groups = sets["captiv8"][1] + sets["wcebleedgen"][1]
    print(f"  {kind:18s} captiv8      from wcebleedgen {told_apart(truth, both, groups):.3f}")


if __name__ == "__main__":
    main()
