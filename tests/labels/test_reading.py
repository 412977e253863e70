"""Loading a dataset that people wrote, and refusing one with errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from devcem.errors import UserError
from devcem.labels import Segment, load_dataset, load_runs

Folder = Callable[..., Path]


def test_a_dataset_written_by_hand(folder: Folder) -> None:
    header = "segment, note, source,start,stop,patient,split,labels,unknown,camera\n"
    rows = 's1,"x, y", a.avi,0,50,p1,train,"POLYP; ulcus",debris,rear\n2,,b/c.avi,7,9,p2,,,,\n'
    dataset = load_dataset(folder(rows, header=header))
    assert dataset.segments == [
        Segment("s1", "a.avi", 0, 50, "p1", "train", ("erosion", "polyp"), ("debris",), "rear"),
        Segment("2", "b/c.avi", 7, 9, "p2"),
    ]
    assert (dataset.name, dataset.licence, dataset.window, dataset.synthetic) == ("hand", "CC0", 30, False)
    assert (dataset.classes, dataset.aliases) == (
        ("erosion", "normal", "polyp", "debris"),
        {"ulcus": "erosion"},
    )
    assert [len(segment) for segment in dataset.segments] == [50, 2]
    labels, known = dataset.targets()
    np.testing.assert_array_equal(labels, [[1, 0, 1, 0], [0, 0, 0, 0]])
    np.testing.assert_array_equal(known, [[1, 1, 1, 0], [1, 1, 1, 1]])
    assert dataset.targets([])[0].shape == (0, 4)


def test_defaults_of_the_description(folder: Folder) -> None:
    dataset = load_dataset(folder("", yaml="name: bare\nclasses: [polyp]\n"))
    assert (dataset.licence, dataset.aliases, dataset.window, dataset.synthetic) == ("unknown", {}, 30, False)


def test_the_first_errors_and_their_number_are_told(folder: Folder) -> None:
    root = folder("".join(f"s{i},a.avi,0,50,p1,train,polpy,\n" for i in range(7)))
    with pytest.raises(UserError) as raised:
        load_dataset(root)
    message = str(raised.value)
    assert "the dataset has 7 errors: segments.csv:2:24: error: 'polpy' is not a class" in message
    assert "did you mean 'polyp'?" in message
    assert message.count("polpy") == 5
    assert message.endswith(f"`devcem data check {root}` lists all")
    assert "\n" not in message


@pytest.mark.parametrize("load", [load_dataset, lambda root: load_runs(load_dataset(root))])
def test_a_broken_description_is_refused(folder: Folder, load: Callable[[Path], object]) -> None:
    with pytest.raises(UserError, match=r"1 error: dataset.yaml:1:1: error: the key 'classes' is missing"):
        load(folder(yaml="name: x\n"))


def test_runs_with_errors_are_refused(folder: Folder) -> None:
    dataset = load_dataset(folder(runs="s1,0,51,polyp,\n"))
    with pytest.raises(UserError, match=r"frames.csv:2:6: error: stop 51 lies outside"):
        load_runs(dataset)
    (dataset.root / "dataset.yaml").write_text("name: [\n")
    with pytest.raises(UserError, match="not YAML"):
        load_runs(dataset)


def test_warnings_do_not_stop_anybody(folder: Folder) -> None:
    root = folder("s1,gone.avi,0,50,,train,polyp;normal,\n", runs="s1,0,9,debris,\n")
    assert len(load_runs(load_dataset(root))) == 1
