"""Runs, what is kept of them, and the tables: once over, killed, and gone on with."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock
from plans import WORDS, small

from devcem.benchmark import Plan, run_benchmark, running, write_report
from devcem.benchmark.collecting import collect, frame_figures, video_figures
from devcem.benchmark.colour import colour_scores
from devcem.benchmark.judged import read_judged
from devcem.benchmark.rules import OF_VIDEOS, RULES
from devcem.cli import main
from devcem.errors import UserError
from devcem.evaluation import localisation_metrics, multilabel_metrics
from devcem.evaluation.split import evaluate
from devcem.labels import load_dataset
from devcem.model import load_model

METHODS = ("mean-pool", "attention-mil", "sil")


@pytest.fixture(scope="module")
def done(gut: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Plan]:
    out, plan = tmp_path_factory.mktemp("bench") / "out", small(*METHODS, seeds=2)
    assert run_benchmark(gut, out, plan) == []
    return out, plan


def test_what_is_kept_is_what_evaluate_says(gut: Path, done: tuple[Path, Plan]) -> None:
    out, _ = done
    kept = read_judged(out / "judged" / "attention-mil" / "seed-1")
    told = evaluate(load_model(out / "runs" / "attention-mil" / "seed-1"), load_dataset(gut))
    assert (kept.method, kept.seed) == ("attention-mil", 1)
    np.testing.assert_allclose(kept.video, [one.video_scores for one in told.predictions], atol=1e-6)
    for k, one in enumerate(told.predictions):
        np.testing.assert_allclose(kept.frames[k], one.frame_scores, atol=1e-6)
        np.testing.assert_allclose(kept.attention[k], one.attention, atol=1e-6)
        np.testing.assert_array_equal(kept.numbers[k], one.numbers)
    assert kept.about["epochs"] == 2 and kept.about["seconds"] > 0


def test_figures_are_those_of_the_metrics(gut: Path, done: tuple[Path, Plan]) -> None:
    out, plan = done
    data = load_dataset(gut)
    results = collect(data, out, plan)
    told = evaluate(load_model(out / "runs" / "sil" / "seed-0"), data)
    truth, known = data.targets(told.segments)
    wanted = multilabel_metrics(truth, [one.video_scores for one in told.predictions], known).loc["macro"]
    row = video_figures(results).set_index(["method", "seed"]).loc[("sil", 0)]
    assert row["f1"] == pytest.approx(wanted["f1"]) and row["ap"] == pytest.approx(wanted["ap"])
    frames = frame_figures(results)
    assert frames is not None and results.frame_targets is not None
    scores = [one.frame_scores for one in told.predictions]
    wanted = localisation_metrics(*results.frame_targets[:1], scores, results.frame_targets[1]).loc["macro"]
    assert frames.set_index(["method", "seed"]).loc[("sil", 0), "auroc"] == pytest.approx(wanted["auroc"])


def test_what_is_done_is_not_done_again(
    gut: Path, done: tuple[Path, Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, plan = done
    monkeypatch.setattr(running, "train", lambda *_, **__: pytest.fail("it trained again"))
    assert run_benchmark(gut, out, plan) == []


def test_the_report(gut: Path, done: tuple[Path, Plan]) -> None:
    out, plan = done
    page = write_report(load_dataset(gut), out, plan)
    text = page.read_text(encoding="utf-8")
    assert "Research use only, not a medical device." in text and "synthetic video" in text
    table = pd.read_csv(out / "tables" / "table3.csv")
    assert table["method"].tolist() == ["sil", "attention-mil", *OF_VIDEOS]
    assert table["paper: F1"].tolist()[:2] == [0.066, 0.513] and table["paper: F1"][2:].isna().all()
    assert "±" in table["F1"][1]
    drawn = ("scatter", "classes", "confusion", "reliability", "kept", "together", "strip-1")
    for name in drawn:
        assert f'<img src="figures/{name}.png"' in text and (out / "figures" / f"{name}.svg").is_file(), name
    assert (out / "figures" / "video.mp4").stat().st_size > 1000
    assert (out / "tables" / "attention.csv").is_file()
    assert not (out / "tables" / "table2.csv").exists()  # none of its methods has run
    assert pd.read_csv(out / "tables" / "others.csv")["method"].tolist() == ["mean-pool", *OF_VIDEOS]
    frames = pd.read_csv(out / "tables" / "frames.csv").set_index("method")
    assert float(frames.loc["empty", "event mAP@0.1-0.7"]) == 0 and frames.index.tolist()[-7:] == [*RULES]
    assert pd.read_csv(out / "tables" / "classes.csv")["class"].tolist() == ["red", "green", "never"]
    assert pd.read_csv(out / "tables" / "learning.csv")["method"].tolist() == [
        "mean-pool",
        "attention-mil",
        "sil",
    ]
    table = pd.read_csv(out / "tables" / "differences.csv").set_index("method")
    assert table.index.tolist() == ["attention-mil", "sil"]  # less the first, as ps-devcem has no run
    figures = video_figures(collect(load_dataset(gut), out, plan)).set_index(["method", "seed"])["ap"]
    told = float(table.loc["sil", "mAP less that of mean-pool"].split()[0])
    assert told == pytest.approx(figures["sil", 0] - figures["mean-pool", 0], abs=5e-4)
    assert "frozen; 2 seeds" in (out / "tables" / "table3.md").read_text(encoding="utf-8")


def test_a_run_that_fails_is_listed_and_stops_no_other(
    gut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["benchmark", str(gut), "--out", str(tmp_path / "out"), "--methods", "w-talc,mean-pool"]
    words += [
        "--seeds",
        "1",
        "--workers",
        "1",
        *(part for word in (*WORDS, "batch=1") for part in ("--set", word)),
    ]
    assert main(words) == 3
    said = capsys.readouterr().out
    assert "w-talc/seed-0 failed: w-talc compares the videos of a step and batch=1" in said
    assert (tmp_path / "out" / "judged" / "mean-pool" / "seed-0" / "judged.json").is_file()
    assert "w-talc" in (tmp_path / "out" / "logs" / "w-talc-seed-0.txt").read_text(encoding="utf-8")
    assert main([*words, "--report", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["failures"] == []


def test_another_dataset_under_finished_runs_is_noticed(gut: Path, done: tuple[Path, Plan]) -> None:
    out, plan = done
    data = load_dataset(gut)
    fewer = [one for one in data.segments if one.segment != "p3s0"]
    data.segments[:] = fewer
    with pytest.raises(UserError, match="was judged on other segments"):
        collect(data, out, plan)
    with pytest.raises(UserError, match="no run of this benchmark is finished"):
        write_report(load_dataset(gut), out, small("w-talc"))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_and_gone_on_with(gut: Path, done: tuple[Path, Plan], tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["benchmark", str(gut), "--out", str(out), "--methods", ",".join(METHODS), "--seeds", "2"]
    words += ["--workers", "2", *(part for word in WORDS for part in ("--set", word))]
    command = [sys.executable, "-c", "import sys; from devcem.cli import main; sys.exit(main(sys.argv[1:]))"]
    with subprocess.Popen(
        [*command, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while process.poll() is None and not [*out.glob("judged/*/*/judged.json")]:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    before = {path: path.stat().st_mtime_ns for path in out.glob("judged/*/*/judged.json")}
    assert 1 <= len(before) < 6, "the kill came too late"
    for lock in out.glob("runs/*/*/.lock"):  # its workers let go of their runs as they follow it
        with FileLock(lock, timeout=60):
            pass
    assert run_benchmark(gut, out, small(*METHODS, seeds=2)) == []
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())
    for path in done[0].glob("judged/*/seed-*"):
        one, two = read_judged(path), read_judged(out / path.relative_to(done[0]))
        np.testing.assert_array_equal(one.video, two.video)


def test_the_rule_that_sees_colours(gut: Path, tmp_path: Path) -> None:
    """Corners are red or green where the class is: on frames of another patient it sees that, and of "never"
    it knows its share in train."""
    data = load_dataset(gut)
    segments = [one for one in data.segments if one.split == "test"]
    video, frames = colour_scores(data, segments, "frame", tmp_path)
    truth, _ = data.targets(segments)
    assert video.shape == truth.shape and [len(one) for one in frames] == [len(one) for one in segments]
    assert (video[:, 2] == 0).all()
    order = np.concatenate([one[:, 0] for one in frames])
    shown = np.concatenate([(np.arange(len(one)) % 2 == 0) & ("red" in one.labels) for one in segments])
    assert shown.any() and order[shown].mean() > order[~shown].mean() + 0.1
