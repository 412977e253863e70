"""The demo, small: every promise of its last lines is kept, and a second run takes up the first."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from devcem.cli import main
from devcem.demo import learning, run, run_demo
from devcem.demo.run import Size
from devcem.errors import UserError
from devcem.labels import check_dataset, load_dataset
from devcem.model import load_model

SMALL = Size(segments=12, patients=4, exam_frames=300, epochs=2)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "out"
    assert run_demo(folder, seed=1, size=SMALL, workers=1) == folder / "index.html"
    return folder


@pytest.mark.parametrize("name", ["collection", "exam", "imported"])
def test_the_folders_are_sound_datasets(out: Path, name: str) -> None:
    assert [p for p in check_dataset(out / name, frames=True) if p.severity == "error"] == []


def test_the_import_masks_what_the_exam_burnt_in(out: Path) -> None:
    dataset = load_dataset(out / "imported")
    assert dataset.segments
    picture = next((out / "imported" / "media" / dataset.segments[0].source).glob("*.jpg"))
    corner = (0, 0, 40, 14)  # where the time stands at 256 pixels
    assert max(high for _, high in Image.open(picture).crop(corner).getextrema()) < 30


def test_the_probe_has_a_row_a_class(out: Path) -> None:
    table = pd.read_csv(out / "probe.csv")
    assert list(table["class"]) == [*load_dataset(out / "collection").classes, "macro"]
    scored = table[table["reason"].isna()]
    assert scored[["colour", "efficientnet-lite0"]].notna().all(axis=None)


def test_every_picture_of_the_page_is_there(out: Path) -> None:
    class Pictures(HTMLParser):
        found: list[str] = []  # noqa: RUF012

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.found += [str(value) for name, value in attrs if tag == "img" and name == "src"]

    page = (out / "index.html").read_text(encoding="utf-8")
    Pictures().feed(page)
    assert len(Pictures.found) == 6
    assert all(Image.open(out / name).size[0] > 300 for name in Pictures.found)
    assert "Research use only, not a medical device" in page
    assert "Synthetic" in page


def test_a_model_was_trained_on_the_train_split_alone(out: Path) -> None:
    model, data = load_model(out / "run"), load_dataset(out / "collection")
    on = model.info.trained_on
    assert model.info.method == "ps-devcem" and on.synthetic
    assert on.segments + on.validation_segments == sum(s.split == "train" for s in data.segments)
    assert len(pd.read_csv(out / "run" / "history.csv")) == 2


def test_it_was_judged_on_every_test_segment(out: Path) -> None:
    data = load_dataset(out / "collection")
    test = [segment.segment for segment in data.segments if segment.split == "test"]
    assert pd.read_csv(out / "evaluation" / "scores.csv")["segment"].tolist() == test
    told = json.loads((out / "evaluation" / "evaluation.json").read_text())
    assert told["synthetic"] is True and not any("Optimistic" in said for said in told["notices"])


def test_the_page_prints_what_was_written(out: Path) -> None:
    """The figures on the page are those of the tables beside it."""
    page = (out / "index.html").read_text(encoding="utf-8")
    judged = pd.read_csv(out / "evaluation" / "metrics.csv", index_col="class")
    for figure in ("auroc", "ap"):
        assert f"<td>{judged.loc['macro', figure]:.3f}</td>" in page
    clip = json.loads((out / "analysis" / "exam.json").read_text())
    assert clip["source"] in page and clip["synthetic"] is True


def test_a_second_run_renders_and_trains_nothing_again(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def again(*_: object, **__: object) -> None:
        raise AssertionError("made again")

    for module, name in ((run, "write_collection"), (run, "write_exam"), (learning, "train")):
        monkeypatch.setattr(module, name, again)
    monkeypatch.setattr("devcem.encoders.extract.encoded", again)
    assert run_demo(out, seed=1, size=SMALL).exists()


def test_another_wish_does_not_mix_with_what_is_there(out: Path) -> None:
    with pytest.raises(UserError, match="something else"):
        run_demo(out, seed=2, size=SMALL)


def test_the_command_says_what_to_open(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("devcem.demo.run_demo", lambda out, *_, **__: out / "index.html")
    assert main(["demo", "--out", "there"]) == 0
    told = capsys.readouterr().out
    assert str(Path("there") / "index.html") in told
    assert "Research use only" in told
    assert main(["demo", "--out", "there", "--json"]) == 0
    assert '"synthetic": true' in capsys.readouterr().out
