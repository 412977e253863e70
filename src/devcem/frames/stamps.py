"""Seconds beside frame numbers: NAME.times.csv where there is one, else what the container says, mended."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt

from devcem.errors import UserError

Times = npt.NDArray[np.float64]
HEADER = ["number", "seconds"]


def times_file(path: Path) -> Path:
    """clip.avi and the folder clip both have clip.times.csv beside them."""
    return path.with_name(f"{path.name if path.is_dir() else path.stem}.times.csv")


def read_times(file: Path) -> dict[int, float]:
    """number -> seconds, from a table with the columns `number,seconds`."""
    times: dict[int, float] = {}
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = csv.reader(lines)
        if [name.strip() for name in next(rows, [])] != HEADER:
            raise UserError(
                "the first line is not 'number,seconds'", f"{file}, line 1", "name the two columns so"
            )
        for row in rows:
            if not row:
                continue
            try:
                number, seconds = int(row[0]), float(row[1])
            except (ValueError, IndexError):
                seconds = math.nan
            if not math.isfinite(seconds):
                what = f"'{','.join(row)}' is not a frame number and its time in seconds"
                raise UserError(what, f"{file}, line {rows.line_num}", "write a line such as 12,0.400")
            times[number] = seconds
    return times


def known_times(path: Path, numbers: npt.NDArray[np.int64]) -> Times | None:
    """[N] seconds from NAME.times.csv, NaN where a frame has none; nothing where there is no such file."""
    file = times_file(path)
    if not file.is_file():
        return None
    times = read_times(file)
    return np.array([times.get(int(number), math.nan) for number in numbers], np.float64)


def mended(times: Times, rate: float) -> tuple[Times, list[str]]:
    """Times that are all there and never fall, and what had to be done for it. *rate*: frames a second."""
    notes: list[str] = []
    known = np.isfinite(times)
    ordinals = np.arange(len(times))
    if not known.all():
        if known.any():
            notes.append(
                f"{(~known).sum()} of {len(times)} frames have no time stamp: worked out from others"
            )
            first, last = ordinals[known][[0, -1]]
            filled = np.interp(ordinals, ordinals[known], times[known])
            filled[:first] = times[first] - (first - ordinals[:first]) / rate
            filled[last:] = times[last] + (ordinals[last:] - last) / rate
            times = filled
        else:
            notes.append(f"no time stamps: taken as {rate:g} frames a second")
            times = ordinals / rate
    if (np.diff(times) < 0).any():
        fallen = int(np.count_nonzero(np.diff(times) < 0))
        notes.append(f"the time stamps fall {fallen} times: the later frame is given the time before it")
        times = np.maximum.accumulate(times)
    return np.asarray(times, np.float64), notes
