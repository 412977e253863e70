"""A whole exam as a dataset of one segment: the video, its frame truth, its landmarks, a few tags."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from devcem.files import building, writing
from devcem.labels import CLASSES, Dataset, Segment, save_dataset
from devcem.parallel import in_parallel
from devcem.progress import say, track
from devcem.synthetic.appearance import fitted
from devcem.synthetic.course import Exam, plan_exam
from devcem.synthetic.encode import Format, concatenate, is_recorded, media_path, record, write_times
from devcem.synthetic.events import Statistics, statistics
from devcem.synthetic.render import render
from devcem.synthetic.scene import Scene
from devcem.synthetic.tags import Tag, tag_text, write_tags
from devcem.synthetic.texture import draw_from
from devcem.synthetic.truth import Seen, is_sick, labels_of, runs_of, truth

CHUNK = 200  # frames that one worker films at a time; what a kill costs at most, a worker
TAGGED = 0.3  # of the events, a reader leaves a tag on
FEW = 5  # events of which all have one
LANDMARKS = {  # share of the exam at which the capsule comes by
    "first caecal image": 0.04,
    "hepatic flexure": 0.27,
    "splenic flexure": 0.55,
    "first rectal image": 0.93,
    "last rectal image": 1.0,
}


@dataclass(frozen=True)
class ExamOrder:
    """All that decides the bytes of an exam."""

    frames: int = 50_000
    seed: int = 0
    size: int = 512
    format: Format = "mp4"


@dataclass(frozen=True)
class Chunk:
    """What a worker needs to film a stretch of an exam."""

    scene: Scene
    path: Path | None  # None: it is in the finished video already
    first: int
    size: int
    format: Format


def write_exam(out: Path, order: ExamOrder, workers: int = 1, overwrite: bool = False) -> Statistics:
    """Film an exam into *out* and say what it shows. A killed run goes on; same order, same bytes."""
    recipe = {"made by": "devcem synth exam", "renderer": fitted()["version"], **asdict(order)}
    with building(out, recipe, overwrite=overwrite) as folder:
        say("planning the exam")
        exam = plan_exam(order.frames, order.seed, workers)
        media = media_path(folder / "media", "exam", order.format)
        chunks = list(_chunks(exam, order, folder, media))
        filmed = track(in_parallel(film, chunks, workers), f"stretches of {CHUNK} frames", len(chunks))
        seen = np.concatenate(list(filmed))
        if order.format != "jpg" and not media.exists():
            concatenate([chunk.path for chunk in chunks if chunk.path], media)
        write_times(media, exam.path.times)
        _write_landmarks(folder, exam)
        _write_tags(folder, media, exam, seen, order.seed)
        _write_labels(folder, out, exam, seen, order)
        shutil.rmtree(folder / "chunks", ignore_errors=True)
    return statistics(is_sick(seen))


def survey(exam: Exam, workers: int = 1) -> Seen:
    """[T,K] what the exam shows, without filming it."""
    scenes = (exam.scene(start, start + CHUNK) for start in range(0, len(exam.path), CHUNK))
    return np.concatenate(list(in_parallel(truth, scenes, workers)))


def film(chunk: Chunk) -> Seen:
    """Render and write one stretch, unless it is on disk; [T,K] what it shows."""
    count = len(chunk.scene.path)
    if chunk.path and not is_recorded(chunk.path, chunk.format, chunk.first, count):
        frames = (frames for frames, _ in render(chunk.scene, chunk.size))
        record(frames, chunk.path, chunk.format, chunk.first)
    return truth(chunk.scene)


def _chunks(exam: Exam, order: ExamOrder, folder: Path, media: Path) -> Iterator[Chunk]:
    for number, start in enumerate(range(0, order.frames, CHUNK)):
        path: Path | None = media_path(folder / "chunks", f"{number:05d}", order.format)
        if order.format == "jpg":
            path = media  # pictures need no joining
        elif media.exists():
            path = None
        scene = exam.scene(start, min(start + CHUNK, order.frames))
        yield Chunk(scene, path, start, order.size, order.format)


def _write_labels(folder: Path, out: Path, exam: Exam, seen: Seen, order: ExamOrder) -> None:
    media = media_path(Path(), "exam", order.format).as_posix()
    labels = labels_of(seen)
    segment = Segment("exam", media, 0, order.frames, exam.patient.id, labels=labels)
    name = f"synthetic capsule exam, {order.frames} frames, seed {order.seed}"
    dataset = Dataset(out, name, CLASSES, [segment], licence="CC0-1.0", synthetic=True)
    save_dataset(dataset, runs_of("exam", seen), folder)


def _write_tags(folder: Path, media: Path, exam: Exam, seen: Seen, seed: int) -> None:
    """A reader tags some of the events, each in its middle."""
    rng = draw_from(seed, "tags")
    sick = [run for run in runs_of("exam", seen) if "normal" not in run.labels]
    source = media.relative_to(folder).as_posix()
    tags = []
    some = [run for run in sick if rng.random() < TAGGED]
    for run in some if len(some) >= FEW else sick[:FEW]:
        at = (run.start + run.stop) // 2
        tags.append(Tag(source, exam.patient.id, at, float(exam.path.times[at]), tag_text(seen[at], rng)))
    write_tags(folder, tags)


def _write_landmarks(folder: Path, exam: Exam) -> None:
    """landmarks.csv: where in the colon the capsule is. Known, but not to be seen on the frames."""
    last = len(exam.path) - 1
    with writing(folder / "landmarks.csv") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["landmark", "number", "seconds"])
        for name, share in LANDMARKS.items():
            number = round(share * last)
            writer.writerow([name, number, f"{exam.path.times[number]:.3f}"])
