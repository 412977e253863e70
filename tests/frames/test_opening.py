"""What is not a source is refused in clear words, and nothing but the file given is ever opened."""

from __future__ import annotations

import os
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import av
import numpy as np
import PIL.Image
import pytest
from videos import write_video

from devcem.errors import UserError
from devcem.frames import open_source


def _refused(path: Path | str, match: str) -> UserError:
    with pytest.raises(UserError, match=match) as caught:
        open_source(path)
    assert caught.value.remedy
    return caught.value


def test_nothing_there(tmp_path: Path) -> None:
    _refused(tmp_path / "none.mp4", "no such file")


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.touch()
    _refused(path, "empty")


@pytest.mark.parametrize(
    "content", [b"hello\n" * 50, bytes(5000), bytes(range(256)) * 40, b"RIFF\0\0\0\0WAVEfmt "]
)
@pytest.mark.parametrize("name", ["a.mp4", "a.avi", "a.mpg", "a"])
def test_not_a_video(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    _refused(path, "not a video|no video|sound|not one frame")


@pytest.mark.parametrize("suffix", [".gvi", ".GVI", ".rap"])
def test_rapid_files(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"exam{suffix}"
    path.write_bytes(b"whatever is in there")
    assert "RAPID Reader" in str(_refused(path, "proprietary").remedy)


def test_sound_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=8000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 8000
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)
    _refused(path, "sound in it but no video")


def test_a_single_picture(tmp_path: Path) -> None:
    PIL.Image.new("RGB", (20, 20)).save(tmp_path / "1.png")
    PIL.Image.new("RGB", (20, 20)).save(tmp_path / "1.avi", "JPEG")
    for name in ("1.png", "1.avi"):
        assert "folder" in str(_refused(tmp_path / name, "single picture").remedy)


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:9/a.mp4",
        "https://example.org/a.m3u8",
        "rtsp://10.0.0.1/exam",
        "concat:a.mpg|b.mpg",
        "subfile,,start,0,end,9,,:/etc/passwd",
        "pipe:0",
        "data:video/mp4;base64,AAAA",
    ],
)
def test_network_and_protocols(address: str) -> None:
    _refused(address, "network address or an FFmpeg protocol")


def test_a_device_or_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.avi")
    _refused(tmp_path / "pipe.avi", "neither a file nor a folder")


class _Server(BaseHTTPRequestHandler):
    seen: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.seen.append(self.path)
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address() -> str:  # type: ignore[misc]
    server = HTTPServer(("127.0.0.1", 0), _Server)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"  # type: ignore[misc]
    server.shutdown()
    thread.join()
    server.server_close()


def _playlists(url: str, secret: Path) -> dict[str, str]:
    mpd = '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period>'
    mpd += f'<AdaptationSet><Representation id="1"><BaseURL>{url}/a.mp4</BaseURL></Representation>'
    mpd += "</AdaptationSet></Period></MPD>"
    m3u8 = (
        f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{url}/a.ts\n#EXTINF:10,\n{secret}\n#EXT-X-ENDLIST\n"
    )
    return {
        "m3u8": m3u8,
        "ffconcat": f"ffconcat version 1.0\nfile '{secret}'\n",
        "concat": f"file '{secret}'\n",
        "mpd": mpd,
        "sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n",
        "asx": f'<asx version="3.0"><entry><ref href="{url}/a.wmv"/></entry></asx>',
    }


_opened: list[str] = []
_watching = False


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if _watching and event in ("open", "socket.connect"):
        _opened.append(str(arguments[0]))


sys.addaudithook(_watch)


@pytest.mark.parametrize("disguise", [None, "exam.mp4", "exam.avi", "exam.mkv"])
@pytest.mark.parametrize("kind", ["m3u8", "ffconcat", "concat", "mpd", "sdp", "asx"])
def test_playlists_are_refused_whatever_their_name(
    kind: str, disguise: str | None, tmp_path: Path, address: str
) -> None:
    secret = write_video(tmp_path / "secret.ts", "libx264", 5)
    path = tmp_path / (disguise or f"list.{kind}")
    path.write_text(_playlists(address, secret)[kind])
    _Server.seen.clear()
    before = secret.stat().st_atime_ns
    _refused(path, "playlist")
    assert _Server.seen == []
    assert secret.stat().st_atime_ns == before


@pytest.mark.parametrize("kind", ["m3u8", "ffconcat", "mpd"])
def test_the_decoder_itself_would_not_follow_a_playlist(kind: str, tmp_path: Path, address: str) -> None:
    """Were the first look deceived, FFmpeg still knows no playlist format and no protocol here."""
    from devcem.frames.reel import Reel

    secret = write_video(tmp_path / "secret.ts", "libx264", 5)
    path = tmp_path / "exam.mp4"
    path.write_text(_playlists(address, secret)[kind])
    _Server.seen.clear()
    with pytest.raises(UserError, match="not a video"):
        Reel(path)
    assert _Server.seen == []


def test_an_mp4_that_refers_to_another_file_does_not_open_it(tmp_path: Path) -> None:
    """A data reference in the table of contents may name any file; it must stay closed."""
    whole = write_video(tmp_path / "a.mp4", "libx264", 5).read_bytes()
    at = whole.index(b"dref")
    entry = whole.index(b"url ", at)
    target = b"/etc/passwd\0"
    grown = struct.pack(">I", 12 + len(target)) + b"url " + b"\0\0\0\0" + target
    patched = whole[: entry - 4] + grown + whole[entry + 8 :]
    for box in (b"dref", b"dinf", b"minf", b"mdia", b"trak", b"moov"):
        place = patched.index(box) - 4
        size = struct.unpack(">I", patched[place : place + 4])[0] + len(target)
        patched = patched[:place] + struct.pack(">I", size) + patched[place + 4 :]
    path = tmp_path / "refers.mp4"
    path.write_bytes(patched)
    global _watching
    _opened.clear()
    _watching = True
    try:
        images = open_source(path).read([0])
    except UserError:
        images = None
    finally:
        _watching = False
    assert "/etc/passwd" not in _opened
    assert images is None or images.shape == (1, 64, 96, 3)
