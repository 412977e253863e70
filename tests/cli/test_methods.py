from __future__ import annotations

import json

import pytest

from devcem.cli import main
from devcem.methods import names


def test_every_method_stands_in_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["method", "kind", "what", "it", "does", "paper"]
    assert [line[0] for line in lines[1:]] == names()
    row = next(" ".join(line) for line in lines if line[0] == "atten-lstm")
    assert "BiLSTM, attention on it" in row and "Mohammed et al. 2020" in row
    kinds = {line[0]: line[1] for line in lines[1:]}
    assert kinds["atten-lstm"] == "deep" and kinds["miss-svm"] == "classical"


def test_a_method_shows_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "guided-lstm"]) == 0
    told = capsys.readouterr().out
    rows = {line.split()[0]: " ".join(line.split()) for line in told.splitlines() if line.strip()}
    assert told.startswith("guided-lstm: BiLSTM, attention on it, self-supervision\nPaper: Mohammed")
    assert rows["selfsup"].startswith("selfsup none | polarity | pair polarity self-supervision: none, g(Z+)")
    assert rows["residual"].startswith("residual bool false add a linear map")  # its preset, not the class's
    assert rows["hidden"] == "hidden int 512 LSTM units a direction"
    assert "--method guided-lstm --set options." in told


def test_a_classical_method_shows_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "sil"]) == 0
    told = capsys.readouterr().out
    rows = {line.split()[0]: " ".join(line.split()) for line in told.splitlines() if line.strip()}
    assert "Kind: classical" in told
    assert rows["kernel"].startswith("kernel linear | rbf linear ")
    assert rows["gamma"].startswith("gamma scale | float scale ")
    assert rows["C"].startswith("C float 10.0 ")


def test_a_method_without_options_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "mean-pool"]) == 0
    assert "It has no options." in capsys.readouterr().out


def test_machines_get_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == names()
    assert main(["methods", "ps-devcem", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row == next(each for each in rows if each["name"] == "ps-devcem")
    options = {option["name"]: option for option in row["options"]}
    assert options["dropout"] | {"help": ""} == {
        "name": "dropout",
        "type": "float",
        "default": 0.0,
        "help": "",
        "choices": [],
        "minimum": 0,
        "below": 1,
    }


def test_an_unknown_name_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "atten-lstmm"]) == 2
    told = capsys.readouterr().err.strip()
    assert "\n" not in told and "did you mean 'atten-lstm'" in told
