"""Solving the classical methods: time, memory, growth, and how near the optimum, on drawn bags of 30.

    python benchmarks/classic_solvers.py [--rounds 3] [--only growth paper gap] [--most 454]

Growth: one class, RBF, C=1, fit only, 20 to 454 bags x 30 x 64. Each size is a program of its own, in
interleaved rounds; an exponent is the slope of log time over log bags, over all sizes, and from 80 bags on,
where what does not grow no longer counts.
Paper: 227 bags x 30 x 2048 and 15 classes over one kernel matrix, its time included, two threads.
Gap: the convex steps beside scipy's SLSQP, a general solver, where that one can run, and our duality gap.

Bags: standard normal instances; positive bags have 15% of theirs shifted by 3 in a direction of the class.
Growth: half of the bags are positive. Paper: 12% for each class, as in its dataset.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
from machine import machine
from rounds import Program, Turn, interleaved, serve
from scipy.optimize import Bounds, minimize
from sklearn.exceptions import ConvergenceWarning

from devcem.methods.classical import (
    SIL,
    SMIL,
    BagEstimator,
    MissSVM,
    MiSVM,
    SbMIL,
    StMIL,
    WitnessMISVM,
    kernel_matrix,
    scale_gamma,
)
from devcem.methods.classical.shared_slack import solve_shared
from devcem.methods.classical.svm import solve
from devcem.progress import say

Floats = npt.NDArray[np.float64]
METHODS: dict[str, type[BagEstimator]] = {
    "SIL": SIL,
    "mi-SVM": MiSVM,
    "MI-SVM": WitnessMISVM,
    "MissSVM": MissSVM,
    "sMIL": SMIL,
    "stMIL": StMIL,
    "sbMIL": SbMIL,
}
SIZES = (20, 40, 80, 160, 227, 454)
INSTANCES, CLASSES, SHARE, SHIFT = 30, 15, 0.15, 3.0
GROWTH_FROM = 80


def drawn(bags: int, width: int, rate: float, classes: int = 1) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Instances [bags * 30, width] and labels [bags, classes]."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(bags * INSTANCES, width))
    labels = np.array([rng.permutation(bags) < max(2, round(rate * bags)) for _ in range(classes)]).T
    for k in range(classes):
        direction = rng.normal(size=width)
        shown = np.repeat(labels[:, k], INSTANCES) & (rng.random(len(x)) < SHARE)
        x[shown] += SHIFT * direction / np.linalg.norm(direction)
    return x, labels.astype(np.int64)


def one_class(name: str, bags: int) -> Turn:
    x, labels = drawn(bags, 64, 0.5)
    parts = np.split(x, bags)

    def turn() -> float:
        began = time.perf_counter()
        model = METHODS[name]().fit(parts, labels[:, 0])
        took = time.perf_counter() - began
        say(
            f"{name}, {bags} bags: {took:.2f} s, {len(model.objectives_)} values, {model.objectives_[-1]:.6g}"
        )
        return took

    return turn


def paper(name: str) -> Turn:
    x, labels = drawn(227, 2048, 0.12, CLASSES)
    x = x.astype(np.float32)

    def turn() -> float:
        began = time.perf_counter()
        kernel = kernel_matrix(x, None, "rbf", scale_gamma(x))
        rows = np.split(kernel, 227)
        with ThreadPoolExecutor(2) as pool:
            for _ in pool.map(
                lambda k: METHODS[name](kernel="precomputed").fit(rows, labels[:, k]), range(CLASSES)
            ):
                pass
        return time.perf_counter() - began

    return turn


def tell_growth(names: list[str], rounds: int, most: int) -> None:
    sizes = [size for size in SIZES if size <= most]
    print(f"\nOne class, RBF, C=1, {INSTANCES} x 64: s (peak GB), medians of {rounds} interleaved rounds\n")
    print("| method | " + " | ".join(f"{size} bags" for size in sizes) + " | exponent | from 80 bags |")
    print("|---" * (len(sizes) + 3) + "|")
    for name in names:
        seconds, peaks = measured([f"{name}/{size}" for size in sizes], rounds)
        times = [statistics.median(seconds[f"{name}/{size}"]) for size in sizes]
        cells = [
            f"{took:.2f} ({peaks[f'{name}/{size}'] / 1e9:.2f})"
            for size, took in zip(sizes, times, strict=True)
        ]
        tail = sum(size < GROWTH_FROM for size in sizes)
        cells += [f"{exponent(sizes[first:], times[first:]):.2f}" for first in (0, tail)]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def tell_paper(names: list[str], rounds: int) -> None:
    print(f"\n{CLASSES} classes, 227 bags x {INSTANCES} x 2048, one kernel matrix, two threads\n")
    print("| method | s | memory, GB |")
    print("|---|---|---|")
    seconds, peaks = measured([f"paper/{name}" for name in names], rounds)
    for name in names:
        took, peak = statistics.median(seconds[f"paper/{name}"]), peaks[f"paper/{name}"]
        print(f"| {name} | {took:.1f} | {peak / 1e9:.2f} |")


def measured(names: list[str], rounds: int) -> tuple[dict[str, list[float]], dict[str, int]]:
    running = [Program(__file__, name) for name in names]
    try:
        return interleaved(running, rounds)
    finally:
        for program in running:
            program.__exit__(None, None, None)


def tell_gap() -> None:
    """Ours - general, over the general solver's objective; and our own distance of primal and dual."""
    print("\nConvex steps beside SLSQP: relative difference of objectives, s\n")
    print("| step | samples | difference | our duality gap | ours, s | SLSQP, s |")
    print("|---|---|---|---|---|---|")
    for count in (50, 100, 200):
        rng = np.random.default_rng(count)
        x = rng.normal(size=(count, 8))
        y = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
        x[y > 0] += 0.4
        kernel = kernel_matrix(x, None, "rbf", 0.05)
        margins, own = (
            rng.uniform(-0.9, 1, count),
            np.where(y > 0, np.arange(count), count + np.arange(count) // 10),
        )
        groups = np.unique(own, return_inverse=True)[1]
        for step in ("SVM", "SVM, other margins", "shared slack"):
            began = time.perf_counter()
            if step == "shared slack":
                found, _ = solve_shared(kernel, y, groups, np.ones(groups.max() + 1), None, 1e-6)
            else:
                found = solve(kernel, y, np.ones(count), margins if "other" in step else None, 1e-6)
            ours = time.perf_counter() - began
            began = time.perf_counter()
            least = general(
                kernel,
                y,
                margins if "other" in step else np.ones(count),
                groups if "shared" in step else None,
            )
            theirs = time.perf_counter() - began
            difference = (found.objective - least) / least
            print(
                f"| {step} | {count} | {difference:+.1e} | {found.gap:.1e} | {ours:.3f} | {theirs:.2f} |",
                flush=True,
            )


def general(kernel: Floats, y: Floats, margins: Floats, groups: npt.NDArray[np.int64] | None) -> float:
    q = kernel * np.outer(y, y)
    rules = [{"type": "eq", "fun": lambda a: y @ a, "jac": lambda _: y}]
    if groups is not None:
        rows = (np.arange(groups.max() + 1)[:, None] == groups).astype(float)
        rules.append({"type": "ineq", "fun": lambda a: 1 - rows @ a, "jac": lambda _: -rows})
    found = minimize(
        lambda a: a @ q @ a / 2 - margins @ a,
        np.zeros(len(y)),
        jac=lambda a: q @ a - margins,
        bounds=Bounds(0, 1),
        constraints=rules,
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    return -float(found.fun)


def program(name: str) -> Turn:
    first, _, second = name.partition("/")
    return paper(second) if first == "paper" else one_class(first, int(second))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--only", nargs="+", default=["growth", "paper", "gap"], choices=("growth", "paper", "gap")
    )
    parser.add_argument(
        "--methods", nargs="+", default=list(METHODS), choices=list(METHODS), help="whose growth is told"
    )
    parser.add_argument("--most", type=int, default=SIZES[-1], help="bags")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(program(options.serve))
    print(machine())
    if "gap" in options.only:
        tell_gap()
    if "growth" in options.only:
        tell_growth(options.methods, options.rounds, options.most)
    if "paper" in options.only:
        tell_paper(["SIL", "MissSVM"], options.rounds)


if __name__ == "__main__":
    warnings.simplefilter("default", ConvergenceWarning)
    main()
