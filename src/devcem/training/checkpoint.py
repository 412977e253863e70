"""The trainer's state on disk: whole or not at all, checked when written and when read, the last two kept.

A file is the SHA-256 of what follows, then what torch.save wrote: tensors, numbers and lists, read back with
weights_only=True.
"""

from __future__ import annotations

import hashlib
import io
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch

from devcem.errors import UserError
from devcem.files import writing
from devcem.progress import say

KEPT = 2
DIGEST = 32  # bytes of a SHA-256
NAME = re.compile(r"step-(\d+)\.ckpt")


def save(folder: Path, step: int, state: dict[str, Any]) -> Path:
    """Write the state of *step*, and drop all but the last two."""
    path = folder / f"step-{step:09d}.ckpt"
    write(path, state)
    for old in _files(folder)[:-KEPT]:
        old.unlink()
    return path


def latest(folder: Path) -> dict[str, Any] | None:
    """The newest state that is whole; None where there is none."""
    for path in reversed(_files(folder)):
        if (state := read(path)) is not None:
            return state
        say(f"{path}: not what was written; the checkpoint before it is taken")
    return None


def write(path: Path, state: dict[str, Any]) -> None:
    """Write one file, and read it back."""
    path.parent.mkdir(parents=True, exist_ok=True)
    memory = io.BytesIO()
    torch.save(state, memory)
    with writing(path, "wb") as file, memory.getbuffer() as payload:
        file.write(hashlib.sha256(payload).digest())
        file.write(payload)
    if not _whole(path):
        raise UserError(
            "the checkpoint does not read back as written", path, "check the disk; the run ends here"
        )


def read(path: Path) -> dict[str, Any] | None:
    """What `write` wrote; None where the file is not whole."""
    if not _whole(path):
        return None
    content = io.BytesIO(path.read_bytes()[DIGEST:])
    state: dict[str, Any] = torch.load(content, map_location="cpu", weights_only=True)
    return state


def _whole(path: Path) -> bool:
    """Whether the file is what was written."""
    with path.open("rb") as file:
        digest = file.read(DIGEST)
        return hashlib.file_digest(file, "sha256").digest() == digest


def _files(folder: Path) -> list[Path]:
    """By step, oldest first."""
    found = [(NAME.fullmatch(path.name), path) for path in folder.glob("step-*.ckpt")]
    return [path for _, path in sorted((int(name[1]), path) for name, path in found if name)]


def random_state() -> dict[str, Any]:
    """Where the generators of torch, NumPy and Python stand, as tensors and plain values."""
    kind, keys, position, has_gauss, gauss = np.random.get_state()  # noqa: NPY002  others may draw from it
    version, internal, gauss_next = random.getstate()
    state = {
        "torch": torch.get_rng_state(),
        "numpy": [kind, torch.from_numpy(np.asarray(keys).astype(np.int64)), position, has_gauss, gauss],
        "python": [version, list(internal), gauss_next],
    }
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def set_random_state(state: dict[str, Any]) -> None:
    torch.set_rng_state(state["torch"])
    kind, keys, *rest = state["numpy"]
    np.random.set_state((kind, keys.numpy().astype(np.uint32), *rest))  # noqa: NPY002
    version, internal, gauss_next = state["python"]
    random.setstate((version, tuple(internal), gauss_next))
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])
