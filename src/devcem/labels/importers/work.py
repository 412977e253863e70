"""One import, from reading to the finished folder, and its summary."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path

from devcem import __version__
from devcem.errors import UserError
from devcem.files import building, check_free
from devcem.frames.opening import absent
from devcem.frames.overlay import TEMPLATES
from devcem.labels.dataset import Dataset, Segment
from devcem.labels.importers.collection import Collection, Footage, Options, Tag
from devcem.labels.importers.placing import Policy, place
from devcem.labels.importers.registry import IMPORTERS
from devcem.labels.spelling import nearest
from devcem.labels.writing import save_dataset


@dataclass(frozen=True)
class Summary:
    """What was imported."""

    segments: int
    patients: int
    frames: int  # in segments
    labelled_frames: int | None  # in runs of truth; None where only segments have labels
    segments_by_class: dict[str, int]
    frames_by_class: dict[str, int]
    source_counts: dict[str, int]  # labels in the words of the set's own files
    missing: int  # segments without pixels
    failed: dict[str, str]  # source -> why
    notes: list[str]
    tags: list[Tag]

    @property
    def to_review(self) -> list[Tag]:
        return [tag for tag in self.tags if tag.outcome.review]


def import_dataset(
    format: str,
    src: str | Path,
    out: str | Path,
    options: Options | None = None,
    *,
    media: Policy = "masked",
    view: str | None = None,
    overwrite: bool = False,
) -> Summary:
    """Read *src* and write the dataset folder *out*. *view* names the lens view where it can't be found."""
    src, options = Path(src), options or Options()
    if format not in IMPORTERS:
        near = nearest(format, IMPORTERS) or ", ".join(IMPORTERS)
        raise UserError(f"'{format}' is not a format that can be imported", remedy=f"did you mean {near}?")
    views = ("frame", *(template.name for template in TEMPLATES))
    if view is not None and view not in views:
        raise UserError(f"no lens view is called '{view}'", remedy=f"use one of {', '.join(views)}")
    if not src.exists():
        raise absent(src)
    check_free(Path(out), overwrite)  # reading may decode every clip
    collection = IMPORTERS[format].read(src, options)
    if not collection.segments:
        raise _nothing(collection, src)
    recipe = _recipe(format, collection, options, media, view)
    with building(out, recipe, overwrite=overwrite) as folder:
        segments = place(collection, folder / "media", media, view)
        dataset = Dataset(folder, collection.name, collection.classes, segments, collection.licence)
        save_dataset(dataset, collection.runs or None, folder)
        missing = sum(not (folder / "media" / s.source).exists() for s in segments)
    return _summary(collection, segments, missing)


def _nothing(collection: Collection, src: Path) -> UserError:
    """An empty dataset would pass for an import, and stand in the way of the next one."""
    if failed := collection.failed:
        listed = "\n  ".join(f"{source}: {why}" for source, why in failed.items())
        count = "the only source" if len(failed) == 1 else f"all {len(failed)} sources"
        return UserError(f"nothing to import: {count} failed:\n  {listed}", src)
    why = "; ".join(collection.notes) or "no segment is in it"
    return UserError(f"nothing to import: {why}", src, "give data that has labels")


def _recipe(
    format: str, collection: Collection, options: Options, media: Policy, view: str | None
) -> dict[str, object]:
    """Tells this import from another after a kill. It stays on disk: paths and ids are hashed."""
    content = hashlib.sha256(repr(asdict(options)).encode())
    for thing in (*collection.segments, *collection.runs):
        content.update(repr(thing).encode())
    for source, pixels in collection.media.items():
        files = [pixels.path] if isinstance(pixels, Footage) else [*pixels.files.values()]
        stamps = [(file, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        content.update(repr((source, stamps)).encode())
    return {
        "import": format,
        "content": content.hexdigest(),
        "media": media,
        "view": view,
        "devcem": __version__,
    }


def _summary(collection: Collection, segments: list[Segment], missing: int) -> Summary:
    by_class = {c: sum(c in s.labels for s in segments) for c in collection.classes}
    frames: dict[str, int] = {}
    for run in collection.runs:
        for label in run.labels:
            frames[label] = frames.get(label, 0) + run.stop - run.start
    return Summary(
        segments=len(segments),
        patients=len({s.patient for s in segments}),
        frames=sum(map(len, segments)),
        labelled_frames=sum(run.stop - run.start for run in collection.runs) if collection.runs else None,
        segments_by_class=by_class,
        frames_by_class={c: frames[c] for c in collection.classes if c in frames},
        source_counts=dict(collection.counts.most_common()),
        missing=missing,
        failed=collection.failed,
        notes=collection.notes,
        tags=collection.tags,
    )
