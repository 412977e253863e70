"""`devcem train` as a user calls it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from toy_gut import ENCODER, make_gut, words

from devcem.cli.app import main
from devcem.config import checked, merged, read_yaml
from devcem.training.settings import PRESETS, TrainSettings

Told = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def gut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_gut(tmp_path_factory.mktemp("gut") / "gut")


def settings_of(arguments: list[str], capsys: Told) -> TrainSettings:
    assert main(["train", *arguments, "--settings", "--json"]) == 0
    return checked(TrainSettings, json.loads(capsys.readouterr().out))


def test_a_run_told_to_people_and_to_machines(gut: Path, tmp_path: Path, capsys: Told) -> None:
    run = [
        "train",
        str(gut),
        "--method",
        "mean-pool",
        "--out",
        str(tmp_path / "run"),
        *words(method="mean-pool"),
    ]
    assert main(run) == 0
    told = capsys.readouterr()
    assert f"{tmp_path / 'run' / 'model'}: the weights of epoch " in told.out
    assert "of 3; on validation loss " in told.out
    assert "Trained on synthetic video. Research use only, not a medical device." in told.out
    assert "epoch 3/3: train loss 0." in told.err
    assert "; validation loss 0." in told.err and "mAP" in told.err and "F1" in told.err
    assert main(run) == 2
    assert "the folder holds a run already" in capsys.readouterr().err
    assert main([*run, "--resume", "--json"]) == 0  # finished: says again what it found
    found = json.loads(capsys.readouterr().out)
    assert found["model"] == str(tmp_path / "run" / "model")
    assert found["epochs"] == 3 and found["synthetic"] is True
    assert set(found["metrics"]) == {"loss", "map", "f1"}
    assert main([*run, "--overwrite", "--seed", "1"]) == 0
    assert read_yaml(tmp_path / "run" / "config.yaml")["seed"] == 1


def test_layers_of_settings(tmp_path: Path, capsys: Told) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("epochs: 7\noptimiser:\n  lr: 0.5\n  clip: 2\n", encoding="utf-8")
    told = settings_of(["--config", str(file), "--set", "optimiser.lr=1e-3", "--seed", "4"], capsys)
    mine = {"epochs": 7, "seed": 4, "optimiser": {"lr": 0.001, "clip": 2}}
    assert told == checked(TrainSettings, merged(PRESETS["fast"], mine))
    paper = settings_of(["--preset", "paper", "--method", "atten-lstm"], capsys)
    assert paper == checked(TrainSettings, merged(PRESETS["paper"], {"method": "atten-lstm"}))


def test_a_rival_with_its_authors_settings(capsys: Told) -> None:
    told = settings_of(["--preset", "published", "--method", "w-talc", "--set", "epochs=3"], capsys)
    assert (told.method, told.batch, told.epochs, told.optimiser.weight_decay) == ("w-talc", 10, 3, 5e-4)
    assert settings_of(["--preset", "published", "--set", "method=mi-net"], capsys).optimiser.name == "sgd"
    for more, complaint in (
        ([], "the preset published has no settings for 'ps-devcem'"),
        (["--method", "w-tlc"], "no method is called 'w-tlc'. Remedy: did you mean 'w-talc'?"),
    ):
        assert main(["train", "--preset", "published", *more, "--settings"]) == 2
        assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    "method", ["attention-mil", "gated-attention-mil", "mi-net", "mi-net-embedding", "stpn", "w-talc"]
)
def test_a_rival_from_its_tags_to_its_table(method: str, gut: Path, tmp_path: Path, capsys: Told) -> None:
    """Trained as published, for two epochs; then `devcem evaluate` reads the model."""
    run = ["train", str(gut), "--preset", "published", "--out", str(tmp_path / "run"), "--method", method]
    few = ["accelerator=cpu", "data.window=4", "data.view=frame", "data.validation=0.34", "epochs=2"]
    few += [f"encoder.{key}={value}" for key, value in ENCODER.items()]
    assert main([*run, *(word for each in few for word in ("--set", each))]) == 0
    told = ["evaluate", str(tmp_path / "run"), str(gut), "--out", str(tmp_path / "judged"), "--json"]
    capsys.readouterr()
    assert main(told) == 0
    assert json.loads(capsys.readouterr().out)["segments"] == 3
    assert (tmp_path / "judged" / "metrics.csv").is_file()


def test_one_video_a_step_gives_w_talc_nothing_to_compare(gut: Path, tmp_path: Path, capsys: Told) -> None:
    """The preset `paper` has batches of 1. No feature is computed, and no folder made."""
    run = ["train", str(gut), "--method", "w-talc", "--preset", "paper", "--out", str(tmp_path / "run")]
    encoder = [word for key, value in ENCODER.items() for word in ("--set", f"encoder.{key}={value}")]
    assert main([*run, *encoder]) == 2
    told = capsys.readouterr().err
    assert "w-talc compares the videos of a step" in told and "set batch=10" in told
    assert not (tmp_path / "run").exists()


def test_a_runs_config_repeats_it(gut: Path, tmp_path: Path, capsys: Told) -> None:
    run = ["train", str(gut), "--out", str(tmp_path / "run"), *words(method="mean-pool", epochs=1)]
    assert main(run) == 0
    config = tmp_path / "run" / "config.yaml"
    again = ["train", str(gut), "--out", str(tmp_path / "again"), "--config", str(config)]
    assert main(again) == 0
    models = [(tmp_path / name / "model" / "model.safetensors").read_bytes() for name in ("run", "again")]
    assert models[0] == models[1]
    capsys.readouterr()


def test_resume_takes_the_settings_from_the_run(gut: Path, tmp_path: Path, capsys: Told) -> None:
    run = ["train", str(gut), "--out", str(tmp_path / "run")]
    assert main([*run, *words(method="mean-pool", epochs=1)]) == 0
    assert main([*run, "--resume"]) == 0  # none is repeated
    capsys.readouterr()
    for more, complaint in (
        (["--set", "epochs=9"], "other settings: epochs was 1, now 9"),
        (["--method", "max-pool"], "the run trains the method mean-pool, not max-pool"),
        (["--preset", "fast"], "the run trains the method mean-pool, not ps-devcem"),
    ):
        assert main([*run, "--resume", *more]) == 2
        assert complaint in capsys.readouterr().err


def test_another_method_is_refused_by_its_name_and_not_by_its_options(
    gut: Path, tmp_path: Path, capsys: Told
) -> None:
    run = ["train", str(gut), "--out", str(tmp_path / "run")]
    assert main([*run, *words(epochs=1)]) == 0  # with options that mean-pool does not have
    assert main([*run, "--resume", "--method", "mean-pool"]) == 2
    assert "the run trains the method ps-devcem, not mean-pool" in capsys.readouterr().err


def test_a_damaged_run_is_one_line(gut: Path, tmp_path: Path, capsys: Told) -> None:
    run = ["train", str(gut), "--out", str(tmp_path / "run"), *words(method="mean-pool", epochs=1)]
    assert main(run) == 0
    (tmp_path / "run" / "run.json").write_text("{")
    capsys.readouterr()
    assert main([*run, "--resume"]) == 2
    assert "run.json: this does not describe a run. Remedy: start anew" in capsys.readouterr().err
    assert main([*run, "--overwrite"]) == 0


def test_every_setting_is_listed_with_a_word(capsys: Told) -> None:
    assert main(["train", "--settings"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line for line in lines if line.strip()}
    assert "0.0003" in rows["optimiser.lr"]
    assert "frames a sample" in rows["data.window"]
    shown = {
        key: rows[key].split(None, 1)[1] for key in ("encoder.weights", "tensorboard", "optimiser.betas")
    }
    assert shown["encoder.weights"].startswith("null ")  # as --set takes it
    assert shown["tensorboard"].startswith("false ")
    assert shown["optimiser.betas"].startswith("[0.9, 0.999]")
    assert {"method", "batch", "encoder.train", "balance.positives", "checkpoint_seconds"} <= rows.keys()


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--set", "epohcs=3"], "epohcs: there is no such setting. Remedy: use one of method, options"),
        (["--set", "optimiser.lr=fast"], "optimiser.lr: Input should be a valid number"),
        (["--set", "epochs"], "'epochs' is not key=value"),
        (["--set", "batch=0"], "batch: Input should be greater than or equal to 1, not 0"),
        (["--config", "nowhere.yaml"], "nowhere.yaml: no such file of settings"),
        (["--method", "psdevcem"], "did you mean 'ps-devcem'?"),
        (["--preset", "slow"], "slow"),
    ],
)
def test_mistakes_are_one_line(
    more: list[str], complaint: str, gut: Path, tmp_path: Path, capsys: Told
) -> None:
    assert main(["train", str(gut), "--out", str(tmp_path / "run"), *words(method="mean-pool"), *more]) == 2
    told = capsys.readouterr().err.strip()
    assert complaint in told
    assert "\n" not in told
    assert not (tmp_path / "run").exists()


def test_what_is_missing_is_asked_for(gut: Path, tmp_path: Path, capsys: Told) -> None:
    assert main(["train", str(gut)]) == 2
    assert "say where the run goes" in capsys.readouterr().err
    assert main(["train", "--out", str(tmp_path / "run")]) == 2
    assert "say what to learn from" in capsys.readouterr().err
    assert main(["train", str(tmp_path / "nowhere"), "--out", str(tmp_path / "run")]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_ctrl_c_says_how_to_go_on(
    gut: Path, tmp_path: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    import signal

    from devcem.training.reporting import Reporter

    heard = Reporter.__call__

    def listen(self: Reporter, progress, loss) -> None:  # type: ignore[no-untyped-def]
        heard(self, progress, loss)
        if progress.steps == 2:
            signal.raise_signal(signal.SIGINT)

    run = ["train", str(gut), "--out", str(tmp_path / "run"), *words(method="mean-pool")]
    with monkeypatch.context() as patch:
        patch.setattr(Reporter, "__call__", listen)
        assert main(run) == 130
    told = capsys.readouterr().err
    assert f"stopped; the same command with --resume goes on with {tmp_path / 'run'}." in told
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()] == ["step-000000002.ckpt"]
    assert main([*run, "--resume"]) == 0


def test_an_encoder_of_ones_own_comes_without_the_presets_weights(tmp_path: Path, capsys: Told) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("encoder: {name: resnet50-augnet}\n", encoding="utf-8")
    assert settings_of(["--preset", "paper"], capsys).encoder.weights == "hub"
    for more in (["--set", "encoder.name=resnet50-augnet"], ["--config", str(file)]):
        told = settings_of(["--preset", "paper", *more], capsys).encoder
        assert (told.name, told.weights, told.train) == ("resnet50-augnet", None, True)
    told = settings_of(["--preset", "paper", "--config", str(file), "--set", "encoder.weights=hub"], capsys)
    assert told.encoder.weights == "hub"


def test_the_window_is_the_datasets(gut: Path, tmp_path: Path, capsys: Told) -> None:
    shutil.copytree(gut, tmp_path / "gut")
    file = tmp_path / "gut" / "dataset.yaml"
    file.write_text(file.read_text().replace("window: 30", "window: 12"), encoding="utf-8")
    assert settings_of([], capsys).data.window == 30
    assert settings_of([str(tmp_path / "gut")], capsys).data.window == 12
    assert settings_of([str(tmp_path / "gut"), "--set", "data.window=5"], capsys).data.window == 5
