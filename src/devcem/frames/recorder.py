"""Makes the index of a video out of its steps, as they pass by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from devcem.frames.index import UNKNOWN, Index
from devcem.frames.promise import Promise
from devcem.frames.reel import Log, Step
from devcem.frames.source import Limits, check_length
from devcem.frames.stamps import Times, known_times, mended


class Recorder:
    def __init__(self, path: Path, promised: Promise, rate: float, limits: Limits) -> None:
        self.path, self.promised, self.rate, self.limits = path, promised, rate, limits
        self.log = Log()
        self.packets: list[int] = []
        self.checks: list[int] = []
        self.keys: list[bool] = []
        self.seconds: list[float] = []
        self.bad_packets = self.bad_frames = 0
        self.sizes: set[tuple[int, int]] = set()
        self.turned = False

    def add(self, step: Step, check: int, sound: bool) -> None:
        if step.picture is None:
            self.bad_packets += 1
            return
        self.packets.append(step.packet)
        self.checks.append(check)
        self.keys.append(step.key)
        self.seconds.append(step.seconds)
        self.bad_frames += not sound
        if not isinstance(step.picture, bytes):
            self.sizes.add((step.picture.height, step.picture.width))
            self.turned |= step.picture.rotation != 0
        spanned = step.seconds - self.seconds[0]  # not-a-number passes
        check_length(len(self.packets), spanned, self.path, self.limits)

    def index(self, careful: bool, times: Sequence[float] | None, notes: Sequence[str]) -> Index:
        """*times*: what the video's surroundings, such as a DICOM header, say instead of its container."""
        told = list(notes)
        count = len(self.packets)
        seconds = np.array(self.seconds, np.float64)
        if np.isfinite(seconds).any():
            seconds -= seconds[np.isfinite(seconds)][0]
        if times is not None:
            seconds = np.full(count, math.nan)
            seconds[: len(times)] = times[:count]
        beside = known_times(self.path, np.arange(count))
        seconds, mending = mended(seconds if beside is None else beside, self.rate)
        declared, missing = self._declared(told, seconds)
        if self.bad_packets:
            told.append(f"{self.bad_packets} packets could not be decoded")
        if self.bad_frames:
            told.append(f"{self.bad_frames} frames were decoded with errors")
        if self.turned:
            told.append("the container wishes it shown turned: frames are given as they were filmed")
        if len(self.sizes) > 1:
            told.append(f"frames of {len(self.sizes)} sizes: all are brought to the first one's")
        damaged = self.bad_frames + max(self.bad_packets, missing)
        if careful and not damaged:
            damaged = 1
            told.append(
                "the decoder met errors which it could conceal: how many frames they touch is not known"
            )
        return Index(
            packet_check=np.array(self.log.checks, np.uint32),
            packet_stamp=_known(self.log.stamps),
            packet_place=_known(self.log.places),
            frame_packet=np.array(self.packets, np.int64),
            frame_check=np.array(self.checks, np.uint32),
            frame_key=np.array(self.keys, np.bool_),
            times=seconds,
            declared=declared,
            damaged=damaged,
            careful=careful,
            notes=tuple(told + mending),
        )

    def _declared(self, notes: list[str], seconds: Times) -> tuple[int, int]:
        """(frames promised, frames missing of these)"""
        promised, found = self.promised, len(self.packets)
        held = len(self.log.checks) - self.log.discarded  # what is there to be decoded
        if promised.frames is not None:
            # A whole MP4 holds all its samples; its edit list may just not show some of them.
            declared = held if promised.edited and found >= held else promised.frames
        elif promised.seconds is not None and promised.cut:
            lacking = promised.seconds - (float(seconds[-1]) + 1 / self.rate if found else 0.0)
            declared = found + max(0, round(lacking * self.rate))
        else:
            declared = max(found, held)
        missing = max(0, declared - found)
        if promised.cut:
            counted = promised.frames is not None or promised.seconds is not None
            lost = (
                f"{missing} of {declared} frames are missing"
                if counted
                else "how much is missing is not known"
            )
            notes.append(f"cut off: {promised.cut}; {lost}")
            missing = missing if counted else max(missing, 1)
        elif missing > self.bad_packets:
            notes.append(f"{declared} frames are declared, {found} are there")
        return declared, missing


def _known(values: list[int | None]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([UNKNOWN if value is None else value for value in values], np.int64)
