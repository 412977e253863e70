"""One way in for every source of frames, and clear words for what is not one."""

from __future__ import annotations

import re
from pathlib import Path

from devcem.errors import UserError
from devcem.frames.dicom import open_dicom
from devcem.frames.folder import FolderSource
from devcem.frames.source import FrameSource, Limits
from devcem.frames.video import VideoSource

RAPID = (".gvi", ".gvf", ".rap", ".rapid")
PLAYLISTS = (".m3u8", ".m3u", ".ffconcat", ".concat", ".mpd", ".sdp", ".pls", ".asx", ".xspf", ".smil")
STARTS = (
    b"#extm3u",
    b"ffconcat",
    b"file ",
    b"<?xml",
    b"<mpd",
    b"<asx",
    b"<smil",
    b"v=0",
    b"[playlist]",
    b"[ref",
)
NETWORK = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+[:,]")  # two letters at least: C: is a drive
LOCAL = "give a video file or a folder of pictures on this machine"


def open_source(
    path: str | Path, cache: str | Path | None = None, limits: Limits | None = None
) -> FrameSource:
    """A video file, a folder of numbered JPEG or PNG pictures, or a DICOM file.

    What a full decode of a video teaches is kept as `.NAME.index.npz`: in the folder *cache* if given, else
    beside the video if that folder may be written to, else in memory only. A changed file is indexed anew.
    """
    where, limits = Path(path), limits or Limits()
    if not where.exists():
        raise absent(path)
    if where.is_dir():
        return FolderSource(where, limits)
    if not where.is_file():
        raise UserError("neither a file nor a folder", where, LOCAL)
    folder = Path(cache) if cache is not None else None
    with where.open("rb") as file:
        head = file.read(4096)
    _refuse(where, head)
    if head[128:132] == b"DICM":
        return open_dicom(where, folder, limits)
    return VideoSource(where, folder, limits)


def absent(path: str | Path) -> UserError:
    """What is wrong with a path where nothing is."""
    if NETWORK.match(str(path)):
        return UserError("a network address or an FFmpeg protocol, which is never opened", path, LOCAL)
    return UserError("no such file or folder", path, "check the path")


def _refuse(path: Path, head: bytes) -> None:
    suffix = path.suffix.lower()
    if not head:
        raise UserError("the file is empty", path, "copy or export it again")
    if suffix in RAPID:
        raise UserError(
            "a proprietary RAPID file, which only RAPID Reader opens",
            path,
            "open the study in RAPID Reader and export it (File > Export): AVI, MPG or JPEG files",
        )
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if suffix in PLAYLISTS or text.startswith(STARTS):
        what = "a playlist that points to other files or to the network, which is never opened"
        raise UserError(what, path, LOCAL)
    if suffix == ".dcm" and head[128:132] != b"DICM":
        raise UserError("it is called .dcm and is not a DICOM file", path, "export it again")
    if head.startswith((b"\xff\xd8\xff", b"\x89PNG")):
        raise UserError("a single picture", path, "give the folder that holds the pictures")
