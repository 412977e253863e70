"""`rare-vision`: events over whole exams in JSON, both ends inclusive."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from devcem.errors import UserError
from devcem.labels.dataset import Run, Segment
from devcem.labels.importers.collection import Collection, Options, class_of, ordered
from devcem.labels.spelling import nearest

LABELS = (  # the 17 that the challenge allows
    *("mouth", "esophagus", "stomach", "small intestine", "colon", "z-line", "pylorus", "ileocecal valve"),
    *(
        "active bleeding",
        "angiectasia",
        "blood",
        "erosion",
        "erythema",
        "hematin",
        "lymphangioectasis",
        "polyp",
    ),
    "ulcer",
)
OWN = {"lymphangioectasis": "lymphangiectasia"}  # the name is misspelt in the data


class _Event(BaseModel):
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    label: list[str]


class _Video(BaseModel):
    video_id: str
    events: list[_Event]


class _File(BaseModel):
    videos: list[_Video]


def read(src: Path, options: Options) -> Collection:
    path = src if src.is_file() else _json_in(src)
    if options.frames:
        raise UserError(
            "the events count frames by Galar's column 'index', its pictures are named by 'frame'",
            options.frames,
            "import the events without --frames, or import the pictures with 'galar'",
        )
    try:
        content = _File.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first, *rest = error.errors()
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        what = f"not an events file: {place}: {first['msg']}" + (f" (and {len(rest)} more)" if rest else "")
        raise UserError(what, path, 'see "rare-vision" in docs/how-to/import.md') from None
    ids = [video.video_id for video in content.videos]
    if twice := next((name for name in ids if ids.count(name) > 1), None):
        raise UserError(f"the video '{twice}' stands twice", path, "put its events into one list")
    collection = Collection("RARE-VISION", ordered(class_of(name, OWN) for name in LABELS), [])
    for video in sorted(content.videos, key=lambda v: (len(v.video_id), v.video_id)):
        _add(collection, video, path)
    collection.notes.append(
        "frame numbers are Galar's 'index', which is not the 'frame' that names its pictures"
    )
    return collection


def _add(collection: Collection, video: _Video, path: Path) -> None:
    name = f"galar-{video.video_id:0>3}"
    runs: list[Run] = []
    end, gaps = -1, 0
    for event in sorted(video.events, key=lambda e: e.start):
        where = f"{path}, video {video.video_id}, event from {event.start}"
        if event.end < event.start:
            raise UserError(f"it ends at {event.end}, before its start at {event.start}", where, "swap them")
        if event.start <= end:
            raise UserError(f"it starts before the one before it has ended, at {end}", where, "part them")
        for label in event.label:
            if label not in LABELS:
                hint = nearest(label, LABELS)
                raise UserError(
                    f"'{label}' is not a label", where, f"did you mean '{hint}'?" if hint else None
                )
        gaps += bool(runs) and event.start > end + 1
        end = event.end
        collection.counts.update(dict.fromkeys(set(event.label), end - event.start + 1))
        runs.append(Run(name, event.start, end + 1, ordered(class_of(label, OWN) for label in event.label)))
    if not runs:
        collection.notes.append(f"video {video.video_id} has no events and is left out")
        return
    seen = ordered(label for run in runs for label in run.labels)
    unknown = tuple(c for c in collection.classes if c not in seen) if gaps else ()  # a gap may hold anything
    collection.segments.append(Segment(name, name, runs[0].start, end + 1, name, "", seen, unknown))
    collection.runs += runs


def _json_in(folder: Path) -> Path:
    paths = sorted(folder.glob("*.json"))
    if len(paths) != 1:
        raise UserError(f"{len(paths)} JSON files, one is needed", folder, "name the events file itself")
    return paths[0]
