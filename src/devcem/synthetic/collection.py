"""A whole collection of tagged segments, from a seed to a dataset folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from devcem.errors import UserError
from devcem.files import building
from devcem.labels import Dataset, Run, Segment, save_dataset
from devcem.parallel import in_parallel
from devcem.progress import track
from devcem.synthetic.appearance import fitted
from devcem.synthetic.cohort import deal, people
from devcem.synthetic.encode import Format, is_recorded, media_path, record, write_times
from devcem.synthetic.motion import travel
from devcem.synthetic.placing import OutOfSight, place
from devcem.synthetic.render import render
from devcem.synthetic.scene import Patient, Scene
from devcem.synthetic.table1 import PRESETS, Labels, Preset, label_sets, lengths
from devcem.synthetic.tags import Tag, tag_text, write_tags
from devcem.synthetic.texture import draw_from
from devcem.synthetic.truth import labels_of, runs_of, truth

Offset = Literal["random", "centre"]
PATHS = 12  # tried for a shot before we own that its labels do not go together


@dataclass(frozen=True)
class Shot:
    """A segment before it is filmed."""

    name: str
    patient: Patient
    split: str
    labels: Labels
    frames: int
    tag: int  # the frame that the gastroenterologist put a thumb-nail on
    seed: int


@dataclass(frozen=True)
class Filming:
    """What a worker process needs to film a shot."""

    shot: Shot
    media: Path
    size: int
    format: Format
    cameras: tuple[str, ...]


@dataclass(frozen=True)
class Filmed:
    """What one camera saw of a shot."""

    segment: Segment
    runs: list[Run]
    tag: Tag


@dataclass(frozen=True)
class Order:
    """All that decides the bytes of a collection."""

    preset: str = "demo"
    offset: Offset = "random"
    seed: int = 0
    size: int = 256
    format: Format = "avi"
    cameras: int = 1
    segments: int | None = None  # None: as many as the preset has
    patients: int | None = None


def plan(order: Order) -> list[Shot]:
    """Every segment of a collection. More segments than the preset has take its label sets over again."""
    preset, seed = PRESETS[order.preset], order.seed
    videos = [
        (split, labels)
        for number, (split, margins) in enumerate(preset.splits.items())
        for labels in label_sets(margins, seed + number)
    ]
    frames = lengths(preset.frames, len(videos), preset.shortest, preset.longest, seed)
    if order.segments is not None:
        shuffled = draw_from(seed, "sample").permutation(len(videos))
        chosen = [shuffled[i % len(videos)] for i in range(order.segments)]
        videos, frames = [videos[i] for i in chosen], [frames[i] for i in chosen]
    owners = _owners(preset, videos, order.patients, seed)
    in_order = sorted(zip(owners, videos, frames, strict=True), key=lambda shot: shot[0].id)
    rng = draw_from(seed, "shots")
    return [
        Shot(
            name=f"S{number:04d}",
            patient=owner,
            split=split,
            labels=labels,
            frames=count,
            tag=count // 2
            if order.offset == "centre"
            else int(rng.integers(count // 10, count - count // 10)),
            seed=int(rng.integers(2**31)),
        )
        for number, (owner, (split, labels), count) in enumerate(in_order, 1)
    ]


def write_collection(out: Path, order: Order, workers: int = 1, overwrite: bool = False) -> Dataset:
    """Film a collection into *out*. A killed run goes on where it ended; same order, same bytes."""
    shots = plan(order)
    recipe = {"made by": "devcem synth dataset", "renderer": fitted()["version"], **asdict(order)}
    with building(out, recipe, overwrite=overwrite) as folder:
        cameras = ("front", "rear")[: order.cameras]
        jobs = [Filming(shot, folder / "media", order.size, order.format, cameras) for shot in shots]
        jobs.sort(key=lambda job: job.shot.patient.id)  # a process makes a patient's textures once
        results = zip(jobs, track(in_parallel(film, jobs, workers), "segments", len(jobs)), strict=True)
        by_shot = {job.shot.name: filmed for job, filmed in results}
        filmed = [one for shot in shots for one in by_shot[shot.name]]
        dataset = Dataset(
            root=out,
            name=f"synthetic capsule endoscopy, preset {order.preset}, seed {order.seed}",
            classes=PRESETS[order.preset].classes,
            segments=[one.segment for one in filmed],
            licence="CC0-1.0",
            synthetic=True,
        )
        write_tags(folder, [one.tag for one in filmed])
        save_dataset(dataset, [run for one in filmed for run in one.runs], folder)
    return dataset


def film(job: Filming) -> list[Filmed]:
    """Place, look, render and write one shot; what is on disk already is not rendered again."""
    return list(_film(job))


def stage(shot: Shot) -> Scene:
    """The scene of a shot for the front camera, on the first path that lets all its labels be seen."""
    view = "octagon" if draw_from(shot.patient.seed, "view").random() < 0.25 else "circle"
    rng = draw_from(shot.seed, "stage")
    for attempt in range(PATHS):
        path = travel(rng, shot.frames, position=rng.uniform(20, 400), clock=rng.uniform(600, 20_000))
        try:
            return place(Scene(shot.patient, (), path, view=view), shot.labels, shot.tag, shot.seed + attempt)
        except OutOfSight as error:
            unseen = error
    raise unseen


def _film(job: Filming) -> Iterator[Filmed]:
    shot, front = job.shot, stage(job.shot)
    for camera in job.cameras:
        scene = replace(front, camera=camera)
        name = shot.name if len(job.cameras) == 1 else f"{shot.name}-{camera}"
        media = media_path(job.media / shot.patient.id, name, job.format)
        if not is_recorded(media, job.format, 0, shot.frames):
            record((frames for frames, _ in render(scene, job.size)), media, job.format)
        write_times(media, scene.path.times)
        seen = truth(scene)
        if camera == "front" and labels_of(seen) != shot.labels:
            raise AssertionError(f"{name} shows {labels_of(seen)} instead of {shot.labels}")
        segment = Segment(
            segment=name,
            source=media.relative_to(job.media).as_posix(),
            start=0,
            stop=shot.frames,
            patient=shot.patient.id,
            split=shot.split,
            labels=labels_of(seen),
            camera=camera if len(job.cameras) > 1 else "",
        )
        text = tag_text(seen[shot.tag], draw_from(shot.seed, "text"))
        seconds = float(scene.path.times[shot.tag])
        tag = Tag(f"media/{segment.source}", shot.patient.id, shot.tag, seconds, text)
        yield Filmed(segment, runs_of(name, seen), tag)


def _owners(
    preset: Preset, videos: list[tuple[str, Labels]], patients: int | None, seed: int
) -> list[Patient]:
    """A patient for each video: any, or, unless the preset's sides share patients, one of its side's. Unless
    *patients* are asked for, as many as the preset has, or as there are videos for."""
    sides = ["" if preset.shared else split for split, _ in videos]
    names = sorted(set(sides))

    def fits(count: int) -> bool:
        return all(1 <= len(range(i, count, len(names))) <= sides.count(name) for i, name in enumerate(names))

    if patients is None:
        patients = next(count for count in range(preset.patients, 0, -1) if fits(count))
    if not fits(patients):
        raise UserError(
            f"{patients} patients cannot share {len(videos)} segments on {len(names)} sides",
            remedy="give at most as many --patients as --segments, and one a side",
        )
    everybody = people(patients, seed)
    owners = dict[int, Patient]()
    for number, name in enumerate(names):
        mine, part = [i for i, side in enumerate(sides) if side == name], everybody[number :: len(names)]
        dealt = deal([videos[i][1] for i in mine], len(part), seed + number)
        owners |= {video: part[patient] for video, patient in zip(mine, dealt, strict=True)}
    return [owners[video] for video in range(len(videos))]
