from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pydicom
import pytest
import simplejpeg
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.uid import ExplicitVRLittleEndian, JPEGBaseline8Bit
from videos import decode_all, ordinal_in, picture, write_video

from devcem.errors import UserError
from devcem.frames import Limits, open_source

ENDOSCOPIC = "1.2.840.10008.5.1.4.1.1.77.1.1.1"
N = 24


def _dicom(path: Path, syntax: str, pixels: bytes, frames: int, **tags: Any) -> Path:
    meta = FileMetaDataset()
    meta.TransferSyntaxUID = pydicom.uid.UID(syntax)
    meta.MediaStorageSOPClassUID = ENDOSCOPIC  # type: ignore[assignment]
    meta.MediaStorageSOPInstanceUID = "1.2.3"  # type: ignore[assignment]
    data = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    data.SOPClassUID, data.SOPInstanceUID = ENDOSCOPIC, "1.2.3"
    data.PatientName, data.PatientID = "Doe^Jane", "SECRET-77"
    data.Rows, data.Columns, data.NumberOfFrames = 64, 96, frames
    data.SamplesPerPixel, data.PhotometricInterpretation, data.PlanarConfiguration = 3, "RGB", 0
    data.BitsAllocated, data.BitsStored, data.HighBit, data.PixelRepresentation = 8, 8, 7, 0
    data.PixelData = pixels
    if syntax != ExplicitVRLittleEndian:
        data["PixelData"].is_undefined_length = True
    for name, value in tags.items():
        setattr(data, name, value)
    data.save_as(path, enforce_file_format=True)
    return path


VIDEOS = {
    "mpeg2": ("v.mpg", "mpeg2video", "1.2.840.10008.1.2.4.100", {"b_frames": 2}),
    "mpeg2-raw": ("v.m2v", "mpeg2video", "1.2.840.10008.1.2.4.100", {"b_frames": 2}),
    "h264-mp4": ("v.mp4", "libx264", "1.2.840.10008.1.2.4.102", {"b_frames": 2}),
    "h264-ts": ("v.ts", "libx264", "1.2.840.10008.1.2.4.102.1", {}),
    "h264-raw": ("v.h264", "libx264", "1.2.840.10008.1.2.4.102", {"b_frames": 2}),
    "hevc": (
        "v.mp4",
        "libx265",
        "1.2.840.10008.1.2.4.107",
        {"options": {"x265-params": "log-level=none:pools=1"}},
    ),
}


@pytest.mark.parametrize("kind", VIDEOS)
def test_a_video_in_dicom(kind: str, tmp_path: Path) -> None:
    name, codec, syntax, options = VIDEOS[kind]
    video = write_video(tmp_path / name, codec, N, **options)
    whole = video.read_bytes()
    parts = [whole] if "." not in syntax[24:] else [whole[:1000], whole[1000:]]  # fragmentable
    pixels = encapsulate([whole]) if len(parts) == 1 else encapsulate([whole], fragments_per_frame=2)
    path = _dicom(tmp_path / "exam", syntax, pixels, N, FrameTime="200")
    source = open_source(path, cache=tmp_path / "cache")
    plain = decode_all(video)
    np.testing.assert_array_equal(np.concatenate(list(source.stream())), plain)
    np.testing.assert_allclose(source.times, np.arange(N) * 0.2)
    assert (source.declared, source.decoded, source.damaged) == (N, N, 0)
    for ordinal in (20, 3, 13):
        np.testing.assert_array_equal(
            open_source(path, cache=tmp_path / "cache").read([ordinal])[0], plain[ordinal]
        )
    for file in (tmp_path / "cache").iterdir():
        assert b"Doe" not in file.read_bytes()
        assert b"SECRET" not in file.read_bytes()


def test_a_video_shorter_than_the_header_says(tmp_path: Path) -> None:
    video = write_video(tmp_path / "v.mp4", "libx264", N)
    path = _dicom(tmp_path / "e.dcm", "1.2.840.10008.1.2.4.102", encapsulate([video.read_bytes()]), N + 6)
    source = open_source(path)
    assert (source.declared, source.decoded, source.damaged) == (N + 6, N, 6)
    assert f"{N + 6} frames are declared, {N} are there" in source.notes


def test_uncompressed_frames_with_a_vector_of_times(tmp_path: Path) -> None:
    images = np.stack([picture(n) for n in range(5)])
    path = _dicom(
        tmp_path / "e.dcm", ExplicitVRLittleEndian, images.tobytes(), 5, FrameTimeVector=[0, 100, 300, 50, 50]
    )
    source = open_source(path)
    np.testing.assert_array_equal(source.read([4, 0, 4]), images[[4, 0, 4]])
    np.testing.assert_allclose(source.times, [0, 0.1, 0.4, 0.45, 0.5])
    np.testing.assert_array_equal(np.concatenate(list(source.stream(batch=2))), images)
    np.testing.assert_array_equal(np.concatenate(list(source.stream(20))), source.read(range(5), 20))
    assert source.read([], 8).shape == (0, 8, 8, 3)
    assert source.notes == []


def test_jpeg_frames_of_which_one_is_broken(tmp_path: Path) -> None:
    frames = [simplejpeg.encode_jpeg(picture(n), 95) for n in range(5)]
    frames[2] = b"\xff\xd8\xff\xd9"
    path = _dicom(
        tmp_path / "e.dcm", JPEGBaseline8Bit, encapsulate(frames), 5,
        PhotometricInterpretation="YBR_FULL_422", CineRate=2,
    )  # fmt: skip
    source = open_source(path)
    assert (source.declared, source.decoded, source.damaged) == (5, 4, 1)
    assert source.numbers.tolist() == [0, 1, 3, 4]
    assert [ordinal_in(image) for image in source.read(range(4))] == [0, 1, 3, 4]
    np.testing.assert_allclose(source.times, [0, 0.5, 1.5, 2])
    assert source.notes == ["1 of 5 frames cannot be decoded"]


def test_grey_of_twelve_bits(tmp_path: Path) -> None:
    grey = np.stack([picture(n)[..., 0] for n in range(3)]).astype(np.uint16)
    path = _dicom(
        tmp_path / "e.dcm", ExplicitVRLittleEndian, (grey * 16).tobytes(), 3, SamplesPerPixel=1,
        PhotometricInterpretation="MONOCHROME1", BitsAllocated=16, BitsStored=12, HighBit=11,
    )  # fmt: skip
    images = open_source(path).read(range(3))
    np.testing.assert_array_equal(images, np.repeat(255 - grey[..., None], 3, axis=3))
    assert "no time stamps: taken as 5 frames a second" in open_source(path).notes


def test_refusals(tmp_path: Path) -> None:
    images = np.stack([picture(n) for n in range(2)]).tobytes()
    palette = _dicom(
        tmp_path / "p.dcm", ExplicitVRLittleEndian, images, 2, PhotometricInterpretation="PALETTE COLOR"
    )
    with pytest.raises(UserError, match="PALETTE COLOR"):
        open_source(palette)
    plain = _dicom(tmp_path / "e.dcm", ExplicitVRLittleEndian, images, 2)
    with pytest.raises(UserError, match="over the limit of 10 pixels"):
        open_source(plain, limits=Limits(pixels=10))
    with pytest.raises(UserError, match="without a readable picture"):
        broken = tmp_path / "b.dcm"
        broken.write_bytes(plain.read_bytes()[:300])
        open_source(broken)
    with pytest.raises(UserError, match=r"called \.dcm and is not"):
        fake = tmp_path / "f.dcm"
        fake.write_bytes(b"x" * 500)
        open_source(fake)
    empty = _dicom(tmp_path / "v.dcm", "1.2.840.10008.1.2.4.102", encapsulate([b"no video at all."]), 3)
    with pytest.raises(UserError, match="not a video"):
        open_source(empty)
    nothing = tmp_path / "n.dcm"
    header = pydicom.dcmread(empty)
    del header.PixelData
    header.save_as(nothing)
    with pytest.raises(UserError, match="cannot be unwrapped"):
        open_source(nothing)


def test_memory_that_ran_out_is_no_damaged_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = np.zeros((2, 64, 96, 3), np.uint8).tobytes()
    path = _dicom(tmp_path / "x.dcm", ExplicitVRLittleEndian, pixels, 2)

    def out_of_memory(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("pydicom.pixels.utils.iter_pixels", out_of_memory)
    with pytest.raises(MemoryError):
        len(open_source(path))
