from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from devcem.labels import CLASSES
from devcem.labels.tags import parse_tag
from devcem.synthetic.tags import Tag, tag_text, write_tags


@pytest.mark.parametrize("seed", range(8))
def test_the_tag_rules_read_what_is_written(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(20):
        names = {str(name) for name in rng.choice(CLASSES, rng.integers(1, 4))} - {"normal"} or {"normal"}
        shown = np.array([name in names for name in CLASSES])
        outcome = parse_tag(tag_text(shown, rng))
        assert set(outcome.labels) == names, outcome
        assert not outcome.unknown


def test_some_tags_deny_blood() -> None:
    rng = np.random.default_rng(0)
    shown = np.array([name == "polyp" for name in CLASSES])
    texts = [tag_text(shown, rng) for _ in range(200)]
    assert set(texts) == {"polyp", "polyp; no bleeding"}
    assert 20 < texts.count("polyp; no bleeding") < 60


def test_tags_csv(tmp_path: Path) -> None:
    write_tags(tmp_path, [Tag("media/a.avi", "P001", 7, 1.25, 'polyp, "flat"')])
    text = (tmp_path / "tags.csv").read_text()
    assert text == 'source,patient,frame,seconds,text\nmedia/a.avi,P001,7,1.250,"polyp, ""flat"""\n'
