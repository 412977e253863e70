from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from plans import small

from devcem.benchmark import Plan
from devcem.benchmark.plan import begin, chosen
from devcem.errors import UserError
from devcem.labels import load_dataset
from devcem.methods import names
from devcem.training.settings import PRESETS, TrainSettings


def test_words_for_methods() -> None:
    assert chosen(["all"]) == tuple(names())
    assert chosen(["sil,ps-devcem", "deep"])[:2] == ("sil", "ps-devcem")
    assert set(chosen(["deep", "classical"])) == set(names())
    assert chosen(["sil", "sil"]) == ("sil",)
    with pytest.raises(UserError, match=r"no method is called 'ps-devcen'.*did you mean 'ps-devcem'"):
        chosen(["sil", "ps-devcen"])


def test_every_method_is_told_the_same_and_its_seed() -> None:
    plan = Plan(("ps-devcem", "sil"), (0, 1), words=("epochs=7", "encoder.train=true"))
    deep, classical = (plan.settings(name, 1, 20) for name in plan.methods)
    assert (deep.method, deep.seed, deep.epochs, deep.data.window) == ("ps-devcem", 1, 7, 20)
    assert deep.batch == PRESETS["fast"]["batch"]
    assert plan.end_to_end and deep.encoder.train and not classical.encoder.train
    assert plan.jobs == [("ps-devcem", 0), ("sil", 0), ("ps-devcem", 1), ("sil", 1)]


def test_published_where_there_is_something_published() -> None:
    plan = Plan(("mi-net", "ps-devcem"), (0,), "published")
    published = plan.settings("mi-net", 0)
    assert (published.optimiser.name, published.epochs, published.batch) == ("sgd", 50, 1)
    assert plan.settings("ps-devcem", 0) == Plan(("ps-devcem",), (0,)).settings("ps-devcem", 0)
    assert published != TrainSettings(method="mi-net")


def test_one_folder_holds_one_benchmark(gut: Path, tmp_path: Path) -> None:
    data = load_dataset(gut)
    begin(tmp_path / "out", small("mean-pool"), data)
    begin(tmp_path / "out", small("max-pool", seeds=3), data)  # may grow
    with pytest.raises(UserError, match=r"holds another benchmark: set was .*choose another --out"):
        begin(tmp_path / "out", small(words=("epochs=3",)), data)
    relabelled = replace(data, segments=[replace(one, labels=()) for one in data.segments])
    with pytest.raises(UserError, match="the folder holds another benchmark: segments was"):
        begin(tmp_path / "out", small(), relabelled)
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "letter.txt").write_text("mine")
    with pytest.raises(UserError, match="something that is no benchmark"):
        begin(tmp_path / "else", small(), data)
