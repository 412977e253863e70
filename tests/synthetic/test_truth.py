from __future__ import annotations

import numpy as np

from devcem.labels import CLASSES, Run
from devcem.synthetic.motion import follow
from devcem.synthetic.render import coverage, visible
from devcem.synthetic.scene import Finding, Patient, Scene
from devcem.synthetic.truth import REACH, at, is_sick, labels_of, runs_of, truth


def seen(*frames: str) -> np.ndarray:
    return np.array([[name in frame.split() for name in CLASSES] for frame in frames])


def passing(*findings: Finding) -> Scene:
    """A capsule that passes position 10 at an even pace."""
    path = follow(np.random.default_rng(0), np.full(60, 0.15), position=4.0)
    return Scene(Patient("P001", 7), findings, path)


def test_a_lesion_comes_into_view_and_leaves_it() -> None:
    frames = truth(passing(Finding("tumour", 9.0, 1.0, 0.5, 1.0, 3)))
    shown = frames[:, CLASSES.index("tumour")]
    assert 3 <= shown.sum() < 50
    assert not shown[0]
    assert not shown[-1]
    assert (frames[:, CLASSES.index("normal")] == ~shown).all()
    assert frames.sum() == 60  # nothing else


def test_frames_out_of_reach_show_nothing() -> None:
    """What `truth` does not look at would not have been seen."""
    findings = (Finding("tumour", 10.0, 1.0, 0.65, 1.5, 3), Finding("inflammation", 2.0, 0.0, 1.0, 1.5, 4))
    scene = passing(*findings)
    assert np.array_equal(truth(scene), visible(coverage(scene)))
    far = passing(Finding("tumour", 13.0 + REACH + 1.5, 1.0, 0.65, 1.5, 3))
    assert truth(far)[:, CLASSES.index("normal")].all()


def test_contents_are_no_disease() -> None:
    frames = truth(passing(Finding("debris", 8.0, 0.0, 2.0, 1.5, 3)))
    assert frames[:, CLASSES.index("debris")].any()
    assert frames[:, CLASSES.index("normal")].all()
    assert not is_sick(frames).any()


def test_labels_of_a_segment() -> None:
    assert labels_of(seen("normal", "polyp", "normal debris")) == ("debris", "polyp")
    assert labels_of(seen("normal", "normal debris")) == ("debris", "normal")
    assert labels_of(seen("normal")) == ("normal",)


def test_runs() -> None:
    frames = seen("normal", "normal", "polyp", "polyp erosion", "normal")
    assert runs_of("S1", frames) == [
        Run("S1", 0, 2, ("normal",)),
        Run("S1", 2, 3, ("polyp",)),
        Run("S1", 3, 4, ("erosion", "polyp")),
        Run("S1", 4, 5, ("normal",)),
    ]
    assert is_sick(frames).tolist() == [False, False, True, True, False]


def test_part_of_a_path() -> None:
    path = passing().path
    mask = np.arange(60) % 7 == 0
    assert np.array_equal(at(path, mask).times, path.times[::7])
    assert np.array_equal(at(path, np.array([3, 1])).offset, path.offset[[3, 1]])
