"""`captiv8`: clips of about 150 frames around a thumbnail, with free text (doi:10.18710/BSXNA1).

Its tables are P001.csv, P002.csv, ... or, where only thumbnails are, a frames.csv: file,patient,text_label.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path, PureWindowsPath

from devcem.errors import UserError
from devcem.frames import open_source
from devcem.labels.classes import CLASSES
from devcem.labels.dataset import Segment
from devcem.labels.importers.collection import Collection, Footage, Options, Pictures, Tag, wordings
from devcem.labels.importers.tables import Row, read_table, whole
from devcem.labels.tag_rules import load_rules
from devcem.labels.tags import parse_tag

NOMINAL = 150  # frames of a clip, by the set's description; used where the clip is not here
STILLS = ("file", "patient", "text_label")
CLIPS = ("patient id", "name", "video_path", "image_label")


def read(src: Path, options: Options) -> Collection:
    rules = load_rules(options.rules) if options.rules else None
    tables = [src] if src.is_file() else sorted(src.rglob("P[0-9][0-9][0-9].csv"))
    tables = tables or sorted(src.glob("frames.csv"))
    if not tables:
        raise UserError(
            "no P001.csv, P002.csv, ... and no frames.csv", src, "give the folder that holds them"
        )
    collection = Collection("CAPTIV8", CLASSES, [])
    root = options.frames or (src if src.is_dir() else src.parent)
    files = {p.name.lower(): p for p in root.rglob("*") if p.is_file()}  # files/ is also written Files/
    for table in tables:
        for line, row in read_table(table):
            columns = STILLS if "file" in row else CLIPS
            if lacking := [c for c in columns if c not in row]:
                raise UserError(f"no column {', '.join(lacking)}", f"{table}, line 1", "add the column")
            outcome = parse_tag(row[columns[-1]], rules)
            collection.tags.append(Tag(line, outcome))
            place = _still if columns is STILLS else _clip
            segment = place(collection, row, files, f"{table}, line {line}")
            labels, unknown = outcome.target(options.absent)
            collection.segments.append(replace(segment, labels=labels, unknown=unknown))
    nominal = sum(s.stop == NOMINAL and s.source not in collection.media for s in collection.segments)
    if nominal:
        collection.notes.append(f"{nominal} clips are not here: their length is taken to be {NOMINAL} frames")
    collection.counts = wordings(collection.tags)
    return collection


def _clip(collection: Collection, row: Row, files: dict[str, Path], where: str) -> Segment:
    name = f"{row['patient id']}-{row['name']}"
    clip = PureWindowsPath(row["video_path"])  # reads both kinds of slash
    source = name + clip.suffix.lower()
    stop = NOMINAL
    if path := files.get(clip.name.lower()):
        try:
            stop = int(open_source(path).numbers[-1]) + 1
            collection.media[source] = Footage(path)
        except UserError as error:
            collection.failed[source] = f"{where}: {error}"
    return Segment(name, source, 0, stop, row["patient id"])


def _still(collection: Collection, row: Row, files: dict[str, Path], where: str) -> Segment:
    number = whole(re.sub(r"\D", "", Path(row["file"]).stem), where)
    name = f"{row['patient']}-{number}"
    if path := files.get(row["file"].lower()):
        collection.media[name] = Pictures({number: path})
    return Segment(name, name, number, number + 1, row["patient"])
