"""Dataset folders written by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

YAML = """\
format: 1
name: hand
licence: CC0
classes: [erosion, normal, polyp, debris]
aliases: {Ulcus: erosion}
window: 30
synthetic: false
"""
HEADER = "segment,source,start,stop,patient,split,labels,unknown\n"
ROW = "s1,a.avi,0,50,p1,train,polyp,\n"

Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Writes a dataset folder from text or bytes; without a row for `segments` it holds one sound segment."""

    def write(
        segments: str | bytes = ROW, runs: str | None = None, yaml: str | bytes = YAML, header: str = HEADER
    ) -> Path:
        root = tmp_path / "hand"
        (root / "media").mkdir(parents=True, exist_ok=True)
        (root / "media" / "a.avi").touch()
        (root / "dataset.yaml").write_bytes(yaml if isinstance(yaml, bytes) else yaml.encode())
        body = segments if isinstance(segments, bytes) else segments.encode()
        (root / "segments.csv").write_bytes(header.encode() + body)
        if runs is not None:
            (root / "frames.csv").write_bytes(b"segment,start,stop,labels,unknown\n" + runs.encode())
        return root

    return write
