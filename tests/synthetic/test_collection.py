"""Collections as dataset folders: complete, true, the same bytes again, and never half there."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import av
import numpy as np
import pytest

from devcem.errors import UserError
from devcem.files import building
from devcem.labels import CLASSES, check_dataset, load_dataset, load_runs
from devcem.labels.truth import frame_truth
from devcem.synthetic import collection
from devcem.synthetic.collection import Filming, Order, film, plan, stage, write_collection
from devcem.synthetic.scene import Patient, Scene
from devcem.synthetic.table1 import PRESETS, Margins, Preset
from devcem.synthetic.truth import labels_of, truth

SMALL = Preset(
    name="small",
    patients=2,
    frames=48,
    shortest=10,
    longest=14,
    shared=True,
    splits={
        "train": Margins({"polyp": 1, "normal": 1, "bubbles": 1}, (1, 1)),
        "test": Margins({"polyp": 1, "normal": 1}, (2,)),
    },
)
ORDER = Order("small", seed=3, size=64)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PRESETS, "small", SMALL)


def content(folder: Path) -> dict[str, bytes]:
    """All files but the frame indices that readers keep beside media."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix != ".npz"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "small", SMALL)
        out = tmp_path_factory.mktemp("made") / "gut"
        write_collection(out, ORDER)
    return out


def test_the_folder_is_a_sound_dataset(made: Path) -> None:
    problems = [str(problem) for problem in check_dataset(made, frames=True)]
    assert len(problems) <= 1  # patients on both sides, as the preset wants it
    assert all("scores will be optimistic" in problem for problem in problems)
    dataset = load_dataset(made)
    assert dataset.synthetic
    assert dataset.classes == ("normal", "polyp", "bubbles")
    assert sum(map(len, dataset.segments)) == 48
    assert Counter(label for segment in dataset.segments for label in segment.labels) == {
        "polyp": 2, "normal": 2, "bubbles": 1,
    }  # fmt: skip
    for segment in dataset.segments:
        with av.open(str(made / "media" / segment.source)) as container:
            frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert len(frames) == len(segment)
        assert frames[0].shape == (64, 64, 3)
        assert max(frame.max() for frame in frames) > 60  # not a black box


def test_labels_are_the_union_of_what_frames_show(made: Path) -> None:
    dataset = load_dataset(made)
    truths = frame_truth(dataset, load_runs(dataset))
    for segment in dataset.segments:
        shown, known = truths[segment.segment]
        assert known.all()
        names = {name for name, yes in zip(dataset.classes, shown.any(0), strict=True) if yes}
        assert names - {"normal"} == set(segment.labels) - {"normal"}
        for name in set(segment.labels) - {"normal"}:
            assert shown[:, dataset.classes.index(name)].sum() >= 3


def test_times_and_tags(made: Path) -> None:
    with (made / "tags.csv").open() as file:
        tags = list(csv.DictReader(file))
    dataset = load_dataset(made)
    assert len(tags) == len(dataset.segments) == 4
    for tag, segment in zip(tags, dataset.segments, strict=True):
        assert tag["source"] == f"media/{segment.source}"
        assert tag["patient"] == segment.patient
        with (made / "media" / segment.source).with_suffix(".times.csv").open() as file:
            times = list(csv.DictReader(file))
        assert len(times) == len(segment)
        assert times[int(tag["frame"])]["seconds"] == tag["seconds"]
        assert np.diff([float(row["seconds"]) for row in times]).min() > 0


def test_two_workers_write_the_same_bytes(made: Path, tmp_path: Path) -> None:
    write_collection(tmp_path / "gut", ORDER, workers=2)
    assert content(tmp_path / "gut") == content(made)


def test_an_interrupted_run_goes_on(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, rendered = tmp_path / "gut", []

    def film_two(job: Filming) -> object:
        if len(rendered) == 2:
            raise KeyboardInterrupt
        rendered.append(job.shot.name)
        return film(job)

    monkeypatch.setattr(collection, "film", film_two)
    with pytest.raises(KeyboardInterrupt):
        write_collection(out, ORDER)
    assert not out.exists()
    monkeypatch.setattr(collection, "film", film)
    real, again = collection.render, []
    monkeypatch.setattr(collection, "render", lambda scene, size: again.append(scene) or real(scene, size))
    write_collection(out, ORDER)
    assert len(rendered) == len(again) == 2  # each of the four once
    assert content(out) == content(made)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with building(tmp_path / "gut", {}), pytest.raises(UserError, match="another process"):
        write_collection(tmp_path / "gut", ORDER)


def test_nothing_is_overwritten_unasked(made: Path) -> None:
    before = content(made)
    with pytest.raises(UserError, match="exists already"):
        write_collection(made, ORDER)
    assert content(made) == before


@pytest.mark.parametrize("writer", ["record", "write_tags", "save_dataset"])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(collection, writer, full)
    with pytest.raises(UserError, match="the disk is full"):
        write_collection(tmp_path / "gut", ORDER)
    assert not (tmp_path / "gut").exists()


def test_both_cameras_see_the_same_stretch(tmp_path: Path) -> None:
    out = tmp_path / "gut"
    write_collection(out, Order("small", seed=3, size=64, cameras=2, format="jpg"))
    segments = load_dataset(out).segments
    assert [segment.camera for segment in segments] == ["front", "rear"] * 4
    for front, rear in zip(segments[::2], segments[1::2], strict=True):
        assert (front.patient, front.split, len(front)) == (rear.patient, rear.split, len(rear))
        media = out / "media" / front.source
        assert front.source == f"{front.patient}/{front.segment}"
        assert len(list(media.iterdir())) == len(front)
        pictures = [(out / "media" / side.source / "frame_000004.jpg").read_bytes() for side in (front, rear)]
        assert pictures[0] != pictures[1]
        if "normal" in front.labels:
            assert "normal" in rear.labels


def test_the_papers_plan() -> None:
    shots = plan(Order("paper", seed=1))
    assert len(shots) == 455
    assert sum(shot.frames for shot in shots) == 28_304
    assert len({shot.patient.id for shot in shots}) == 40
    assert len({shot.name for shot in shots}) == len({shot.seed for shot in shots}) == 455
    assert Counter(shot.split for shot in shots) == {"train": 227, "test": 228}
    sides = {side: {shot.patient.id for shot in shots if shot.split == side} for side in ("train", "test")}
    assert len(sides["train"] & sides["test"]) > 30  # as in the paper
    assert PRESETS["paper"].classes == CLASSES


def test_the_demos_plan_keeps_patients_apart() -> None:
    shots = plan(Order("demo"))
    assert len(shots) == 96
    sides = {side: {shot.patient.id for shot in shots if shot.split == side} for side in ("train", "test")}
    assert not sides["train"] & sides["test"]
    assert len(sides["train"] | sides["test"]) == 16
    for name in PRESETS["demo"].classes:
        for side in sides:
            owners = {shot.patient.id for shot in shots if name in shot.labels and shot.split == side}
            assert len(owners) >= 2, (name, side)


def test_where_the_tag_lies() -> None:
    for shot in plan(Order("paper", offset="centre")):
        assert shot.tag == shot.frames // 2
    places = [shot.tag / shot.frames for shot in plan(Order("paper", offset="random"))]
    assert min(places) < 0.15
    assert max(places) > 0.85
    assert abs(float(np.mean(places)) - 0.5) < 0.05


def test_other_numbers_of_segments_and_patients() -> None:
    shots = plan(Order("demo", segments=60, patients=5))
    assert len(shots) == 60
    assert len({shot.patient.id for shot in shots}) == 5
    few = plan(Order("demo", segments=3))  # without a number of patients, no more than there are segments
    assert len(few) == 3 and 1 <= len({shot.patient.id for shot in few}) <= 3
    assert len(plan(Order("demo", segments=1))) == len(plan(Order("paper", segments=1))) == 1
    with pytest.raises(UserError, match="9 patients cannot share 3 segments"):
        plan(Order("demo", segments=3, patients=9))


def test_the_tagged_frame_shows_a_label() -> None:
    for shot in plan(Order("paper", seed=2))[:6]:
        seen = truth(stage(shot))
        assert labels_of(seen) == shot.labels
        assert seen[shot.tag, [CLASSES.index(name) for name in shot.labels]].any()


KILLED = """
import sys
from pathlib import Path
from devcem.synthetic.collection import Order, write_collection
if __name__ == "__main__":
    write_collection(Path(sys.argv[1]), Order("demo", size=64, segments=6, patients=2), workers=2)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
@pytest.mark.parametrize("after", [1, 3, 5])
def test_killed_in_the_middle(tmp_path: Path, after: int) -> None:
    script = tmp_path / "render.py"
    script.write_text(KILLED)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    subprocess.run([sys.executable, str(script), str(whole)], check=True)
    with subprocess.Popen([sys.executable, str(script), str(broken)]) as process:
        while len(list(tmp_path.glob(".broken.partial/media/*/*.avi"))) < after and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert not broken.exists()
    subprocess.run([sys.executable, str(script), str(broken)], check=True)
    assert content(broken) == content(whole)


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts a tiny disk, as root")
def test_a_disk_that_really_fills(tmp_path: Path) -> None:
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(tmp_path)], check=False
    ).returncode:
        pytest.skip("mount is not allowed here")
    try:
        with pytest.raises(UserError, match="the disk is full"):
            write_collection(tmp_path / "gut", Order("demo", size=128, segments=6, patients=2), workers=2)
        assert not (tmp_path / "gut").exists()
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_path_that_shows_nothing_is_left_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def refuse_twice(scene: Scene, _labels: object, _tag: int, seed: int) -> Scene:
        tried.append(seed)
        if len(tried) < 3:
            raise collection.OutOfSight("too dark")
        return scene

    monkeypatch.setattr(collection, "place", refuse_twice)
    shot = collection.Shot("S0001", Patient("P001", 1), "train", ("polyp",), 50, 20, 5)
    assert len(collection.stage(shot).path) == 50
    assert len(set(tried)) == 3
    monkeypatch.setattr(collection, "PATHS", 2)
    tried.clear()
    with pytest.raises(collection.OutOfSight):
        collection.stage(shot)
