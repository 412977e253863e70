"""Ends of files, written byte by byte."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from devcem.frames.promise import ASF_FILE_PROPERTIES, Promise, promise


def _promise(name: str, data: bytes, frames: int = 0, duration: int | None = None) -> Promise:
    container = SimpleNamespace(format=SimpleNamespace(name=name), duration=duration)
    return promise(container, SimpleNamespace(frames=frames), io.BytesIO(data), len(data))


def _riff(kind: bytes, size: int, body: bytes) -> bytes:
    return b"RIFF" + size.to_bytes(4, "little") + kind + body


def test_avi_of_several_chunks() -> None:
    whole = _riff(b"AVI ", 20, bytes(16)) + _riff(b"AVIX", 30, bytes(26))
    assert _promise("avi", whole, 7) == Promise(7)
    assert "byte 66, the file has 65" in _promise("avi", whole[:-1], 7).cut
    assert _promise("avi", whole + b"trailing rubbish", 7).cut == ""


def test_mp4_boxes() -> None:
    small = (12).to_bytes(4, "big") + b"ftyp" + bytes(4)
    large = (1).to_bytes(4, "big") + b"mdat" + (40).to_bytes(8, "big") + bytes(24)
    assert _promise("mov,mp4", small + large, 3) == Promise(3, edited=True)
    cut = _promise("mov,mp4", small + large[:-1], 3)
    assert "byte 52, the file has 51" in cut.cut
    assert not cut.edited
    assert _promise("mov,mp4", small + bytes(4) + b"mdat" + bytes(9), 3).cut == ""  # to the end, however far


@pytest.mark.parametrize("wide", [1, 4, 8])
def test_matroska_segment(wide: int) -> None:
    head = b"\x1a\x45\xdf\xa3\x83abc"
    size = (100 | 1 << 7 * wide).to_bytes(wide, "big")
    unknown = ((1 << 7 * wide + 1) - 1).to_bytes(wide, "big")
    segment = b"\x18\x53\x80\x67"
    whole = head + segment + size + bytes(100)
    assert _promise("matroska,webm", whole, duration=3_000_000) == Promise(None, 3.0)
    assert "the Matroska segment should" in _promise("matroska,webm", whole[:-40]).cut
    assert _promise("matroska,webm", head + segment + unknown + bytes(20)).cut == ""
    assert _promise("matroska,webm", head).cut == ""


def test_asf_properties() -> None:
    def number(value: int) -> bytes:
        return value.to_bytes(8, "little")

    header = ASF_FILE_PROPERTIES + number(104) + bytes(16) + number(200) + number(0) + number(9)
    header += number(52_000_000) + number(0) + number(3_100)
    whole = bytes(30) + header
    whole += bytes(200 - len(whole))
    assert _promise("asf", whole) == Promise(None, pytest.approx(2.1))
    assert "byte 200, the file has 150" in _promise("asf", whole[:150]).cut
    assert _promise("asf", bytes(100)) == Promise()


def test_program_stream() -> None:
    pack2 = b"\0\0\1\xba\x44" + bytes(8) + b"\xf8"
    pack1 = b"\0\0\1\xba\x21" + bytes(7)
    packet = b"\0\0\1\xe0" + (50).to_bytes(2, "big") + bytes(50)
    for pack in (pack1, pack2):
        whole = pack + packet + packet
        assert _promise("mpeg", whole + b"\0\0\1\xb9") == Promise()
        assert _promise("mpeg", whole + b"\0\0\1\xb9" + bytes(3)) == Promise()
        assert "cannot be known" in _promise("mpeg", whole).note
        assert "10 bytes longer" in _promise("mpeg", whole[:-10]).cut
    assert _promise("mpeg", whole + b"\0\0\1\xba\x44").cut
    assert "cannot be known" in _promise("mpeg", bytes(100)).note


def test_raw_streams_promise_nothing() -> None:
    assert "could not be noticed" in _promise("h264", b"x").note
