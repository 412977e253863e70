"""A DICOM file as a source of frames. Only pixels, layout and times are read, nothing of the patient."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from devcem.errors import UserError
from devcem.frames.ahead import ahead
from devcem.frames.pictures import Image, rgb
from devcem.frames.source import Facts, Frames, FrameSource, Limits, Ordinals, Size, check_length, check_size
from devcem.frames.stamps import Times, known_times, mended
from devcem.frames.video import VideoSource

VIDEO = tuple(f"1.2.840.10008.1.2.4.{number}" for number in range(100, 109))  # MPEG-2, H.264, HEVC
USUAL_RATE = 5.0  # frames a second, where no tag says it
LAYOUT = ["Rows", "Columns", "NumberOfFrames", "PhotometricInterpretation", "BitsStored"]
TIMING = ["FrameTime", "FrameTimeVector", "CineRate", "RecommendedDisplayFrameRate"]
COLOURS = ("MONOCHROME1", "MONOCHROME2", "RGB", "YBR_FULL", "YBR_FULL_422", "YBR_ICT", "YBR_RCT")


def open_dicom(path: Path, cache: Path | None, limits: Limits) -> FrameSource:
    try:
        import pydicom
    except ImportError as error:
        raise UserError("DICOM needs the package pydicom", path, "pip install 'devcem[dicom]'") from error
    try:
        header = pydicom.dcmread(path, stop_before_pixels=True, specific_tags=LAYOUT + TIMING)
        syntax = str(header.file_meta.TransferSyntaxUID)
        frames = int(header.get("NumberOfFrames") or 1)
        height, width = int(header.Rows), int(header.Columns)
        rate, times = _timing(header, frames)
    except (
        pydicom.errors.InvalidDicomError,
        AttributeError,
        ValueError,
        TypeError,
        EOFError,
        OSError,
    ) as error:
        raise UserError(
            f"a DICOM file without a readable picture ({error})", path, "export it again"
        ) from error
    check_size(height, width, path, limits)
    check_length(frames, frames / rate, path, limits)
    if syntax.startswith(VIDEO):
        content = _unwrapped(path)
        return VideoSource(path, cache, limits, content=content, times=times, frames=frames)
    if header.PhotometricInterpretation not in COLOURS:
        what = f"its colours are '{header.PhotometricInterpretation}', which is not supported"
        raise UserError(what, path, "export it in RGB")
    return DicomSource(path, header, frames, rate, times)


class DicomSource(FrameSource):
    """Multi-frame JPEG, JPEG 2000, RLE or uncompressed pictures, through pydicom's decoders."""

    def __init__(
        self, path: Path, header: Any, frames: int, rate: float, times: Sequence[float] | None
    ) -> None:
        self.path, self._frames, self._rate, self._given = path, frames, rate, times
        self.height, self.width = int(header.Rows), int(header.Columns)
        self._shift = max(0, int(header.BitsStored) - 8)
        self._inverted = header.PhotometricInterpretation == "MONOCHROME1"

    @cached_property
    def _good(self) -> list[int]:
        """Frames of the file that decode. They are few enough to try them all."""
        return [number for number in range(self._frames) if self._decoded(number) is not None]

    @cached_property
    def facts(self) -> Facts:
        numbers = np.array(self._good, np.int64)  # of a picture that is lost, the number stays free
        lost = self._frames - len(self._good)
        notes = [f"{lost} of {self._frames} frames cannot be decoded"] if lost else []
        given: Times = np.full(self._frames, np.nan)
        if self._given is not None:
            given[: len(self._given)] = self._given[: self._frames]
        beside = known_times(self.path, numbers)
        times, mending = mended(given[self._good] if beside is None else beside, self._rate)
        return Facts(numbers, times, self._frames, lost, tuple(notes + mending))

    def read(self, ordinals: Ordinals, size: Size = None) -> Frames:
        height, width = self._shape(size)
        wanted = self._asked(ordinals)
        different, places = np.unique(wanted, return_inverse=True)
        images = [self._image(self._good[ordinal], height, width) for ordinal in different]
        return np.stack(images)[places] if images else np.empty((0, height, width, 3), np.uint8)

    def stream(self, size: Size = None, batch: int = 32) -> Iterator[Frames]:
        height, width = self._shape(size)
        return ahead(self._batches(height, width, batch))

    def _batches(self, height: int, width: int, batch: int) -> Generator[Frames]:
        for start in range(0, len(self._good), batch):
            yield np.stack(
                [self._image(number, height, width) for number in self._good[start : start + batch]]
            )

    def _image(self, number: int, height: int, width: int) -> Image:
        decoded = self._decoded(number)
        if decoded is None:
            raise UserError(f"frame {number} could be read before and cannot now", self.path, "open it again")
        return rgb(decoded, height, width)

    def _decoded(self, number: int) -> Image | None:
        """RGB, or nothing where no decoder makes sense of it: pydicom's plug-ins raise errors of any kind. A
        frame for which memory ran out is not a damaged one."""
        from pydicom.pixels.utils import iter_pixels

        try:
            pixels = next(iter(iter_pixels(self.path, indices=[number])))
        except MemoryError:
            raise
        except Exception:
            return None
        if self._shift:
            pixels = pixels.astype(np.int64) >> self._shift
        pixels = np.clip(pixels, 0, 255).astype(np.uint8)
        if self._inverted:
            pixels = 255 - pixels
        return np.repeat(pixels[..., None], 3, axis=2) if pixels.ndim == 2 else pixels


def _unwrapped(path: Path) -> bytes:
    """The video stream as it lies, in one or more fragments, in the pixel data."""
    import pydicom
    from pydicom.encaps import generate_frames

    try:
        pixels = pydicom.dcmread(path, specific_tags=["PixelData"]).PixelData
        return b"".join(generate_frames(pixels, number_of_frames=1))
    except (AttributeError, ValueError, EOFError, OSError) as error:
        raise UserError(f"its video stream cannot be unwrapped ({error})", path, "export it again") from error


def _timing(header: Any, frames: int) -> tuple[float, list[float] | None]:
    """(frames a second, seconds of each frame where the file tells them)"""
    if vector := header.get("FrameTimeVector"):  # milliseconds since the frame before
        steps = [float(step) for step in (vector if not isinstance(vector, (str, float)) else [vector])]
        times = (np.cumsum([0.0, *steps[1:]]) / 1000).tolist()
        return (len(times) - 1) / times[-1] if times[-1] > 0 else USUAL_RATE, times
    period = float(header.get("FrameTime") or 0) / 1000
    rate = float(header.get("CineRate") or header.get("RecommendedDisplayFrameRate") or 0)
    rate = 1 / period if period > 0 else rate
    return (rate, [n / rate for n in range(frames)]) if rate > 0 else (USUAL_RATE, None)
