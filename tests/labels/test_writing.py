"""What is written reads back equal, and exists whole or not at all."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import devcem.labels.writing
from devcem.errors import UserError
from devcem.labels import SPLITS, Dataset, Run, Segment, check_dataset, load_dataset, load_runs, save_dataset
from devcem.labels.problems import errors

NAME_SIGNS = st.characters(categories=["L", "N", "P", "S"], exclude_characters=';,"\\/')
names = st.text(NAME_SIGNS, min_size=1, max_size=9)
ids = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=9).map(
    lambda text: text.strip() or "x"
)


def subset(draw: st.DrawFn, classes: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    place = draw(st.lists(st.integers(0, 2), min_size=len(classes), max_size=len(classes)))
    labels = tuple(c for c, p in zip(classes, place, strict=True) if p == 1)
    return labels, tuple(c for c, p in zip(classes, place, strict=True) if p == 2)


@st.composite
def datasets(draw: st.DrawFn) -> tuple[Dataset, list[Run]]:
    classes = tuple(draw(st.lists(names, min_size=1, max_size=5, unique_by=str.lower)))
    other = draw(st.lists(ids.map(str.lower), max_size=3, unique=True))
    lower = {c.lower() for c in classes}
    aliases = {alias: draw(st.sampled_from(classes)) for alias in other if alias not in lower}
    segments, runs = [], []
    for name in draw(st.lists(ids, max_size=5, unique=True)):
        start = draw(st.integers(0, 10**6))
        stop = start + draw(st.integers(1, 100))
        source = "/".join(
            draw(st.lists(names.filter(lambda n: n not in (".", "..")), min_size=1, max_size=3))
        )
        if len(source) > 1 and source[1] == ":":
            source = "x" + source
        labels, unknown = subset(draw, classes)
        patient, split = draw(st.one_of(st.just(""), ids)), draw(st.sampled_from(SPLITS))
        camera = draw(st.sampled_from(["", "front"]))
        segments.append(Segment(name, source, start, stop, patient, split, labels, unknown, camera))
        cuts = sorted(draw(st.sets(st.integers(start, stop), max_size=4)))
        for first, last in pairwise(cuts):
            runs.append(Run(name, first, last, *subset(draw, classes)))
    text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
    dataset = Dataset(
        Path(),
        draw(text),
        classes,
        segments,
        draw(text),
        aliases,
        draw(st.integers(1, 500)),
        draw(st.booleans()),
    )
    return dataset, runs


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(datasets())
def test_any_dataset_reads_back_equal(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[Dataset, list[Run]]
) -> None:
    dataset, runs = drawn
    folder = dataset.root = tmp_path_factory.mktemp("d") / "set"
    save_dataset(dataset, runs, folder)
    assert load_dataset(folder) == dataset
    assert load_runs(dataset) == runs
    assert errors(check_dataset(folder)) == []


def small(root: Path) -> Dataset:
    segments = [Segment("s1", "a.avi", 0, 50, "p1", "train", ("polyp",))]
    return Dataset(root, "small", ("polyp", "normal"), segments)


def test_files_are_made_for_hands(tmp_path: Path) -> None:
    save_dataset(small(tmp_path), [Run("s1", 0, 3, ("polyp",), ("normal",))], tmp_path / "d")
    assert (tmp_path / "d" / "segments.csv").read_text() == (
        "segment,source,start,stop,patient,split,labels,unknown\ns1,a.avi,0,50,p1,train,polyp,\n"
    )
    assert (tmp_path / "d" / "frames.csv").read_text() == (
        "segment,start,stop,labels,unknown\ns1,0,3,polyp,normal\n"
    )
    assert (tmp_path / "d" / "dataset.yaml").read_text() == (
        "format: 1\nname: small\nlicence: unknown\nclasses:\n- polyp\n- normal\naliases: {}\nwindow: 30\n"
        "synthetic: false\n"
    )
    assert sorted(p.name for p in (tmp_path / "d").iterdir()) == [
        "dataset.yaml",
        "frames.csv",
        "segments.csv",
    ]


def test_a_dataset_without_runs_loses_the_old_ones(tmp_path: Path) -> None:
    save_dataset(small(tmp_path), [Run("s1", 0, 3)], tmp_path / "d")
    save_dataset(small(tmp_path), None, tmp_path / "d")
    assert not (tmp_path / "d" / "frames.csv").exists()
    with pytest.raises(UserError, match="no truth of single frames"):
        load_runs(load_dataset(tmp_path / "d"))


def test_what_would_not_read_back_is_not_written(tmp_path: Path) -> None:
    dataset = small(tmp_path)
    with pytest.raises(UserError, match="stands already on line 2"):
        save_dataset(Dataset(tmp_path, "twice", ("polyp",), dataset.segments * 2), None, tmp_path / "d")
    with pytest.raises(UserError, match="no segment 's2'"):
        save_dataset(dataset, [Run("s2", 0, 3)], tmp_path / "d")
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("existing", [False, True])
def test_a_crash_in_the_middle_leaves_no_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, existing: bool
) -> None:
    if existing:
        save_dataset(small(tmp_path), None, tmp_path / "d")

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(devcem.labels.writing, "write_text", crash)
    with pytest.raises(KeyboardInterrupt):
        save_dataset(small(tmp_path), [Run("s1", 0, 3)], tmp_path / "d")
    with pytest.raises(UserError):
        load_dataset(tmp_path / "d")


def test_loading_does_not_open_the_truth_of_frames(tmp_path: Path) -> None:
    save_dataset(small(tmp_path), None, tmp_path / "d")
    (tmp_path / "d" / "frames.csv").write_bytes(b"\xff\xfe not a table")
    assert load_dataset(tmp_path / "d").name == "small"
    with pytest.raises(UserError):
        load_runs(load_dataset(tmp_path / "d"))


def test_sixty_exams_with_tens_of_thousands_of_runs(tmp_path: Path) -> None:
    """Reading is linear in rows: the second this takes would be hours otherwise."""
    classes = ("polyp", "erosion", "normal")
    segments = [Segment(f"s{i}", f"{i}.avi", 0, 60_000, f"p{i}", labels=classes[:2]) for i in range(60)]
    runs = [
        Run(s.segment, 60 * j, 60 * j + 60, classes[j % 2 : j % 2 + 1]) for s in segments for j in range(500)
    ]
    save_dataset(Dataset(tmp_path / "d", "many", classes, segments), runs, tmp_path / "d")
    assert load_runs(load_dataset(tmp_path / "d")) == runs
