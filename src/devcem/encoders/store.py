"""Features on disk, found again by all that decides them, and mapped into memory.

A file is called by the SHA-256 of its recipe: the source's content, the stretch, what is done to the pixels,
the encoder. Nothing is ever looked up by path or time, so what was computed from another video or by other
weights cannot be found. The file is a plain .npy followed by the SHA-256 of all before it: one that was cut
short or changed is noticed when it is opened, and counts as absent.
"""

from __future__ import annotations

import hashlib
import io
import json
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch

from devcem.encoders.content import SourceDigests
from devcem.encoders.encoder import Features
from devcem.files import PlaceError, make_folder, writing

FORMAT = 1  # raise it when the same recipe would give other numbers: masking, scaling, decoding changed
TAIL = 32  # bytes of the checksum


class FeatureStore:
    """Several processes may read and write one folder: each writes beside and renames."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.sources = SourceDigests(self.folder / "sources")

    def key(self, recipe: dict[str, Any]) -> str:
        told = json.dumps(recipe | {"format": FORMAT}, sort_keys=True, allow_nan=False)
        return hashlib.sha256(told.encode()).hexdigest()

    def get(self, key: str, dim: int) -> Features | None:
        """float32 [...,dim] mapped read-only, or None where it is not there whole."""
        path = self._path(key)
        try:
            with path.open("rb") as file:
                if not _whole(file):  # before NumPy reads a header that may be anything
                    return None
                shape, start = _header(file)
                if shape[-1:] != (dim,):
                    return None
        except (OSError, ValueError):
            return None
        return _mapped(path, start, shape)

    def put(self, key: str, features: Features) -> Features:
        """Keep float32 [...,D] under *key* and hand it back as `get` would."""
        path = self._path(key)
        values = np.ascontiguousarray(features, np.float32)
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(values))
        total = hashlib.sha256(head.getvalue())
        total.update(values.data)
        try:
            make_folder(path.parent)
            with writing(path, "wb") as file:
                file.writelines([head.getvalue(), values.data, total.digest()])
        except PlaceError as error:
            what = f"features can't be kept here: {error.what}"
            raise PlaceError(
                what, self.folder, f"{error.remedy} (--cache keeps features elsewhere)"
            ) from error
        return _mapped(path, len(head.getvalue()), values.shape)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.npy"


def _whole(file: IO[bytes]) -> bool:
    """Whether the file ends with the checksum of all before it."""
    left = file.seek(0, io.SEEK_END) - TAIL
    file.seek(0)
    total = hashlib.sha256()
    while left > 0 and (part := file.read(min(left, 1 << 20))):
        total.update(part)
        left -= len(part)
    return file.read(TAIL + 1) == total.digest()


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], int]:
    """Shape of the float32 array in a .npy file, and the byte where it starts."""
    end = file.tell() - TAIL
    file.seek(0)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("another version of .npy")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    if fortran or dtype != np.float32 or file.tell() + 4 * prod(shape) != end:
        raise ValueError("not what `put` writes")
    return shape, file.tell()


def _mapped(path: Path, start: int, shape: tuple[int, ...]) -> Features:
    """By PyTorch, which lets go of the file once it is mapped: NumPy would keep one open for each segment."""
    count = prod(shape)
    if not count:
        return np.empty(shape, np.float32)
    whole = torch.from_file(str(path), shared=False, size=start // 4 + count, dtype=torch.float32)
    features: Features = whole.numpy()[start // 4 :].reshape(shape)
    features.flags.writeable = False
    return features
