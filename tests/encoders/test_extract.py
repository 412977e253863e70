from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from toy_gut import SIDE, make_gut
from videos import write_video

from devcem.encoders import (
    ColourEncoder,
    FeatureStore,
    TorchEncoder,
    extract,
    feeding,
    load_backbone,
    segment_features,
)
from devcem.encoders.encoder import Features
from devcem.encoders.feeding import BATCHES
from devcem.errors import UserError
from devcem.frames import open_source
from devcem.frames.augment import Augmentation
from devcem.frames.clip import read_clip
from devcem.frames.source import Frames
from devcem.labels import Dataset, Segment, load_dataset

DIM = 4


class Sums:
    """Whole numbers that any changed or moved pixel changes; exact, whatever the batch."""

    name, dim = "sums", DIM

    def __init__(self, version: int = 1, size: int = SIDE, batch: int = 2) -> None:
        self.size, self.batch = size, batch
        self.fingerprint: dict[str, Any] = {"encoder": self.name, "version": version}
        self.seen = 0  # frames
        self.before: Callable[[], None] = lambda: None  # each call
        self._weights = np.random.default_rng(version).integers(1, 9, (DIM, size * size * 3))

    def encode(self, frames: Frames) -> Features:
        self.before()
        self.seen += len(frames)
        return self.of(frames)

    def of(self, frames: Frames) -> Features:
        pixels = frames.reshape(len(frames), 1, -1).astype(np.int64)
        return (pixels * self._weights).sum(2).astype(np.float32)


@pytest.fixture
def gut(tmp_path: Path) -> Dataset:
    return load_dataset(make_gut(tmp_path / "gut", patients=2))


@pytest.fixture
def store(tmp_path: Path) -> FeatureStore:
    return FeatureStore(tmp_path / "features")


def of(
    data: Dataset, encoder: Any, store: FeatureStore, segments: Sequence[Segment] | None = None, **more: Any
) -> list[extract.SegmentFeatures]:
    chosen = data.segments if segments is None else segments
    return segment_features(data, chosen, encoder, store, **{"view": "frame", **more})


def pictures(data: Dataset, segment: Segment) -> Frames:
    """[T,H,W,3] of a segment, by Pillow."""
    files = sorted((data.root / "media" / segment.source).iterdir())
    chosen = [file for file in files if segment.start <= int(file.stem) < segment.stop]
    return np.stack([np.asarray(Image.open(file)) for file in chosen])


def check(
    data: Dataset, encoder: Sums, found: list[extract.SegmentFeatures], segments: Sequence[Segment]
) -> None:
    assert [one.segment for one in found] == [segment.segment for segment in segments]
    for one, segment in zip(found, segments, strict=True):
        np.testing.assert_array_equal(one.features, encoder.of(pictures(data, segment)))


def frames_in(segments: Sequence[Segment]) -> int:
    return sum(map(len, segments))


def kept(store: FeatureStore) -> list[Path]:
    return sorted(store.folder.rglob("*.npy"))


def repaint(path: Path) -> bytes:
    """One grey level of one pixel changes; the bytes of before are handed back."""
    before = path.read_bytes()
    frame = np.array(Image.open(path))
    frame[-1, -1, -1] ^= 1
    Image.fromarray(frame).save(path)
    return before


@pytest.mark.parametrize("batch", [1, 3, 50])
def test_rows_are_what_the_encoder_gives_for_these_pictures_in_the_order_asked_for(
    gut: Dataset, store: FeatureStore, batch: int
) -> None:
    shuffled = [gut.segments[n] for n in (4, 0, 5, 2, 1, 3)]
    encoder = Sums(batch=batch)
    found = of(gut, encoder, store, shuffled)
    check(gut, encoder, found, shuffled)
    assert all(one.views is None for one in found)
    assert all(one.features.dtype == np.float32 and not one.features.flags.writeable for one in found)
    assert encoder.seen == frames_in(shuffled)


def test_an_own_video_by_a_real_network(tmp_path: Path, store: FeatureStore) -> None:
    """Beside one frame at a time, decoded and encoded by itself."""
    torch.set_num_threads(1)
    (tmp_path / "media").mkdir()
    path = write_video(tmp_path / "media" / "exam.avi", "mjpeg", 50)
    segments = [Segment("b", "exam.avi", 21, 50, "p"), Segment("a", "exam.avi", 0, 34, "p")]
    encoder = TorchEncoder(load_backbone("test_resnet", "random", size=64), batch=4)
    found = of(Dataset(tmp_path, "one", (), segments), encoder, store)
    with open_source(path) as source:
        clips = [read_clip(source, 64, ordinals=[n], view="frame") for n in range(50)]
    rows = np.concatenate([encoder.encode(clip.frames) for clip in clips])
    for one, segment in zip(found, segments, strict=True):
        expected = rows[segment.start : segment.stop]
        assert one.features.shape == expected.shape
        assert np.abs(one.features - expected).max() <= encoder.BATCH_BOUND * np.abs(rows).max()
    assert np.abs(rows[1:] - rows[:-1]).max(1).min() > 100 * encoder.BATCH_BOUND * np.abs(rows).max()


def test_real_pictures_as_large_as_they_are(shared_data: Path, tmp_path: Path, store: FeatureStore) -> None:
    media = tmp_path / "media" / "real"
    media.mkdir(parents=True)
    files = sorted((shared_data / "wcebleedgen224" / "frames").iterdir())[:9]
    for number, file in enumerate(files):
        shutil.copy(file, media / f"{number}.jpg")
    (found,) = of(Dataset(tmp_path, "real", (), [Segment("s", "real", 2, 9, "p")]), ColourEncoder(), store)
    frames = np.stack([np.asarray(Image.open(file).convert("RGB")) for file in files[2:]])
    np.testing.assert_allclose(found.features, ColourEncoder().encode(frames), atol=1e-3)


def test_no_segments(gut: Dataset, store: FeatureStore) -> None:
    assert of(gut, Sums(), store, []) == []


def test_what_was_computed_is_found_again(gut: Dataset, store: FeatureStore) -> None:
    first, second = Sums(), Sums()
    some = gut.segments[:2]
    of(gut, first, store, some)
    files = {path: path.stat().st_mtime_ns for path in kept(store)}
    assert len(files) == 2
    check(gut, second, of(gut, second, FeatureStore(store.folder)), gut.segments)
    assert first.seen == frames_in(some)
    assert second.seen == frames_in(gut.segments) - frames_in(some)
    assert {path: path.stat().st_mtime_ns for path in files} == files
    third = Sums()
    check(gut, third, of(gut, third, store), gut.segments)
    assert third.seen == 0


def test_another_place_or_name_of_the_same_pictures_changes_nothing(
    gut: Dataset, store: FeatureStore, tmp_path: Path
) -> None:
    of(gut, Sums(), store)
    shutil.copytree(gut.root, tmp_path / "copy")
    (tmp_path / "copy" / "media" / "p0").rename(tmp_path / "copy" / "media" / "renamed")
    segments = [
        replace(one, segment=f"{one.segment} again", source=one.source.replace("p0", "renamed"))
        for one in gut.segments
    ]
    other = replace(gut, root=tmp_path / "copy", segments=segments)
    encoder = Sums()
    check(other, encoder, of(other, encoder, store), segments)
    assert encoder.seen == 0


def test_what_is_asked_for_twice_is_computed_once(gut: Dataset, store: FeatureStore) -> None:
    shutil.copytree(gut.root / "media" / "p0", gut.root / "media" / "twin")
    one = gut.segments[0]
    asked = [one, replace(one, segment="again"), one, replace(one, segment="twin", source="twin")]
    encoder = Sums()
    check(gut, encoder, of(gut, encoder, store, asked), asked)
    assert encoder.seen == len(one)
    assert len(kept(store)) == 1


def test_segments_that_overlap_are_each_by_itself(gut: Dataset, store: FeatureStore) -> None:
    one = gut.segments[0]
    asked = [one, replace(one, stop=one.stop - 1), replace(one, start=one.start + 1), gut.segments[1]]
    for encoder in (Sums(), Sums()):
        check(gut, encoder, of(gut, encoder, store, asked), asked)
    assert len(kept(store)) == 4


def test_a_damaged_file_is_computed_again(gut: Dataset, store: FeatureStore) -> None:
    of(gut, Sums(), store)
    path = kept(store)[2]
    path.write_bytes(path.read_bytes()[:-1])
    encoder = Sums()
    check(gut, encoder, of(gut, encoder, store), gut.segments)
    assert encoder.seen in {len(segment) for segment in gut.segments}


CHANGES = ["picture", "number", "added", "start", "stop", "fingerprint", "size", "view", "decoder"]


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_decides_a_feature_changes_its_key(
    gut: Dataset, store: FeatureStore, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    segment = gut.segments[0]
    media = gut.root / "media" / segment.source
    (before,) = of(gut, Sums(), store, [segment])
    encoder, view, rows = Sums(), "frame", len(segment)
    match change:
        case "picture":
            repaint(media / f"{segment.start:04d}.png")
        case "number":  # the first two pictures change places
            (media / "0000.png").rename(media / "kept")
            (media / "0001.png").rename(media / "0000.png")
            (media / "kept").rename(media / "0001.png")
        case "added":  # elsewhere in the source: the view is found in all of it
            Image.fromarray(np.zeros((SIDE, SIDE, 3), np.uint8)).save(media / "0999.png")
        case "start":
            segment, rows = replace(segment, start=segment.start + 1), rows - 1
        case "stop":
            segment, rows = replace(segment, stop=segment.stop - 1), rows - 1
        case "fingerprint":
            encoder = Sums(version=2)
        case "size":
            encoder = Sums(size=20)
            encoder.fingerprint = Sums().fingerprint
        case "view":
            view = "whole"
            true = extract.encoded
            monkeypatch.setattr(extract, "encoded", lambda jobs, encoder, _: true(jobs, encoder, "frame"))
        case "decoder":
            monkeypatch.setattr(extract, "version", lambda name: f"{name} 1.0")
    (after,) = of(gut, encoder, store, [segment], view=view)
    assert encoder.seen == rows
    if change != "size":
        check(gut, encoder, [after], [segment])
    assert len(kept(store)) == 2
    equal = np.array_equal(before.features, after.features)
    assert equal == (change in ("added", "view", "decoder"))


def test_what_is_changed_back_is_found_again(gut: Dataset, store: FeatureStore) -> None:
    picture = gut.root / "media" / "p0" / "0000.png"
    old = of(gut, Sums(), store)
    data = repaint(picture)
    new = of(gut, Sums(), store)
    assert not np.array_equal(new[0].features, old[0].features)
    picture.write_bytes(data)
    encoder = Sums()
    check(gut, encoder, of(gut, encoder, store), gut.segments)
    assert encoder.seen == 0


def test_two_views_of_the_same_pictures_are_kept_apart(shared_data: Path, tmp_path: Path) -> None:
    """Octagons by a template, whole, and as they are found."""
    shutil.copytree(shared_data / "kvasir_capsule_tiles", tmp_path / "media" / "tiles")
    data = Dataset(tmp_path, "tiles", (), [Segment("s", "tiles", 0, 12, "p")])
    store = FeatureStore(tmp_path / "features")
    seen = {}
    for view in ("frame", "olympus-ec-s10", "auto"):
        for encoder in (Sums(size=336), Sums(size=336)):
            (one,) = of(data, encoder, store, view=view)
            seen[view] = one.features
        assert encoder.seen == 0
    assert len(kept(store)) == 3
    with open_source(tmp_path / "media" / "tiles") as source:
        for view, name in (("frame", "frame"), ("olympus-ec-s10", "olympus-ec-s10"), ("auto", None)):
            np.testing.assert_array_equal(seen[view], encoder.of(read_clip(source, 336, view=name).frames))
    assert not np.array_equal(seen["frame"], seen["olympus-ec-s10"])


FLIPS = (Augmentation(horizontal=True), Augmentation(vertical=True))


def drawing(monkeypatch: pytest.MonkeyPatch, *draws: Augmentation) -> None:
    monkeypatch.setattr(extract, "_drawn", lambda _seed, _segment, copy: draws[copy])


@pytest.mark.parametrize("batch", [1, 3, 50])
def test_views_are_features_of_augmented_pictures(
    gut: Dataset, store: FeatureStore, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    drawing(monkeypatch, *FLIPS)
    encoder = Sums(batch=batch)
    found = of(gut, encoder, store, views=2)
    check(gut, encoder, found, gut.segments)
    for one, segment in zip(found, gut.segments, strict=True):
        frames = pictures(gut, segment)
        assert one.views is not None and len(one.views) == 2
        np.testing.assert_array_equal(one.views[0], encoder.of(frames[:, :, ::-1]))
        np.testing.assert_array_equal(one.views[1], encoder.of(frames[:, ::-1]))
    assert encoder.seen == 3 * frames_in(gut.segments)


def test_views_are_added_to_what_is_there_and_kept_by_their_draw(
    gut: Dataset, store: FeatureStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = frames_in(gut.segments)
    for draws, computed in (((), total), (FLIPS[:1], total), (FLIPS, total), (FLIPS[::-1], 0), ((), 0)):
        drawing(monkeypatch, *draws)
        encoder = Sums()
        found = of(gut, encoder, store, views=len(draws))
        assert encoder.seen == computed
        check(gut, encoder, found, gut.segments)
        frames = pictures(gut, gut.segments[3])
        flipped = {FLIPS[0]: frames[:, :, ::-1], FLIPS[1]: frames[:, ::-1]}
        for view, draw in zip(found[3].views or (), draws, strict=True):
            np.testing.assert_array_equal(view, encoder.of(flipped[draw]))


def views(
    gut: Dataset, folder: Path, count: int, seed: int, segments: Sequence[Segment]
) -> list[list[bytes]]:
    found = of(gut, Sums(), FeatureStore(folder), segments, views=count, seed=seed)
    return [[view.tobytes() for view in one.views or ()] for one in found]


def test_views_follow_from_the_seed_the_segment_and_the_copy(gut: Dataset, tmp_path: Path) -> None:
    """Whatever else is asked for beside them, and in whatever order; each in a store of its own."""
    state = torch.get_rng_state()
    every = views(gut, tmp_path / "a", 3, 5, gut.segments)
    assert all(len(set(copies)) == 3 for copies in every)
    assert views(gut, tmp_path / "b", 3, 5, gut.segments[::-1]) == every[::-1]
    assert views(gut, tmp_path / "c", 2, 5, gut.segments[1:2]) == [every[1][:2]]
    other = views(gut, tmp_path / "d", 3, 6, gut.segments)
    assert not {view for copies in every for view in copies} & {view for copies in other for view in copies}
    one = gut.segments[0]
    twins = views(gut, tmp_path / "e", 3, 5, [one, replace(one, segment="twin")])
    assert twins[0] == every[0]
    assert not set(twins[0]) & set(twins[1])
    assert torch.equal(torch.get_rng_state(), state)


def test_of_twins_only_the_views_are_computed_twice(gut: Dataset, store: FeatureStore) -> None:
    one = gut.segments[0]
    asked = [one, replace(one, segment="twin")]
    encoder = Sums()
    check(gut, encoder, of(gut, encoder, store, asked, views=1), asked)
    assert encoder.seen == 3 * len(one)


@pytest.mark.parametrize("change", ["painted", "added", "removed"])
def test_a_source_that_changes_while_it_is_read_is_refused_and_nothing_is_kept(
    gut: Dataset, store: FeatureStore, tmp_path: Path, change: str
) -> None:
    segment = gut.segments[0]
    media = gut.root / "media" / segment.source
    shutil.copytree(media, tmp_path / "before")

    def changing() -> None:
        if change == "painted":
            repaint(media / "0001.png")
        elif change == "added":
            shutil.copy(media / "0001.png", media / "0999.png")
        else:
            max(media.iterdir()).unlink()

    encoder = Sums(batch=50)  # all of them at once: the change comes after the last was read
    encoder.before = changing
    with pytest.raises(UserError, match=r"p0: the source was changed while.*Remedy: run the same command"):
        of(gut, encoder, store, [segment])
    assert kept(store) == []
    for restored in (False, True):
        if restored:
            shutil.rmtree(media)
            shutil.copytree(tmp_path / "before", media)
        again = Sums()
        check(gut, again, of(gut, again, store, [segment]), [segment])
        assert again.seen == len(segment)
    assert running() == []


def test_segments_done_before_the_source_changed_are_kept(gut: Dataset, store: FeatureStore) -> None:
    first, second = gut.segments[:2]
    media = gut.root / "media" / first.source
    undo: list[bytes] = []
    encoder = Sums(batch=1)

    def changing() -> None:
        if encoder.seen >= len(first) + BATCHES and not undo:
            undo.append(repaint(media / "0000.png"))

    encoder.before = changing
    with pytest.raises(UserError, match="the source was changed"):
        of(gut, encoder, store, [first, second])
    (media / "0000.png").write_bytes(undo[0])
    again = Sums()
    check(gut, again, of(gut, again, store, [first, second]), [first, second])
    assert again.seen == len(second)


@pytest.mark.parametrize("source", ["../../elsewhere", "/", "p0/../../../elsewhere", "linked"])
def test_media_outside_the_dataset_is_refused(gut: Dataset, store: FeatureStore, source: str) -> None:
    elsewhere = gut.root.parent / "elsewhere"
    shutil.copytree(gut.root / "media" / "p0", elsewhere)
    (gut.root / "media" / "linked").symlink_to(elsewhere)
    asked = [gut.segments[0], replace(gut.segments[0], source=source if source != "/" else str(elsewhere))]
    encoder = Sums()
    with pytest.raises(UserError, match=r"leads out of the folder .*media"):
        of(gut, encoder, store, asked)
    assert encoder.seen == 0
    assert kept(store) == []


def test_no_such_source_and_no_such_frames(gut: Dataset, store: FeatureStore) -> None:
    with pytest.raises(UserError, match=r"p9: no such file or folder"):
        of(gut, Sums(), store, [replace(gut.segments[0], source="p9")])
    with pytest.raises(UserError, match=r"p0: segment p0s0 has no frames in its source"):
        of(gut, Sums(), store, [replace(gut.segments[0], start=900, stop=930)])
    assert running() == []


def running() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("devcem-")]


class CameOffError(Exception):
    pass


def coming_off(encoder: Sums, after: int, how: Callable[[], None]) -> Sums:
    """*how* is called once more than *after* frames would have been encoded."""

    def before() -> None:
        if encoder.seen >= after:
            how()

    encoder.before = before
    return encoder


def cable() -> None:
    raise CameOffError


@pytest.fixture
def one_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments are then encoded one after the other on any machine."""
    monkeypatch.setattr(feeding.os, "cpu_count", lambda: 1)


@pytest.mark.usefixtures("one_reader")
def test_what_was_done_before_an_error_is_kept(gut: Dataset, store: FeatureStore) -> None:
    """At every place it can come: all segments whose frames were encoded are there, and nothing else."""
    ends = np.cumsum([len(segment) for segment in gut.segments])
    for after in range(0, int(ends[-1]), 2 * BATCHES):
        here = FeatureStore(store.folder / f"{after}")
        with pytest.raises(CameOffError):
            of(gut, coming_off(Sums(), after, cable), here)
        done = int((ends <= after).sum())
        assert len(kept(here)) == done
        assert running() == []
        again = Sums()
        check(gut, again, of(gut, again, here), gut.segments)
        assert again.seen == frames_in(gut.segments[done:])


def extract_and_die(root: Path, folder: Path, after: int) -> None:
    encoder = coming_off(Sums(), after, lambda: os.kill(os.getpid(), signal.SIGKILL))
    of(load_dataset(root), encoder, FeatureStore(folder))


@pytest.mark.usefixtures("one_reader")
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")
def test_what_was_done_before_a_kill_is_kept(gut: Dataset, store: FeatureStore) -> None:
    ends = np.cumsum([len(segment) for segment in gut.segments])
    after = 2 * BATCHES * (int(ends[3]) // (2 * BATCHES) + 1)  # in the next segment, or just behind it
    process = multiprocessing.get_context("fork").Process(
        target=extract_and_die, args=(gut.root, store.folder, after)
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    done = int((ends <= after).sum())
    assert len(kept(store)) == done
    encoder = Sums()
    check(gut, encoder, of(gut, encoder, store), gut.segments)
    assert encoder.seen == frames_in(gut.segments[done:])


def test_two_at_once_in_one_store(gut: Dataset, store: FeatureStore) -> None:
    faults: list[BaseException] = []

    def work(segments: Sequence[Segment]) -> None:
        try:
            encoder = Sums()
            check(gut, encoder, of(gut, encoder, store, segments), segments)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(gut.segments[::way],)) for way in (1, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(kept(store)) == len(gut.segments)
