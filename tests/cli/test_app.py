"""What all commands share: exit codes, errors of one line, an example in every help, a row in the docs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from devcem import __version__
from devcem.cli import app, main
from devcem.cli.app import emit
from devcem.errors import UserError

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


COMMANDS = sorted(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("words", [(), *COMMANDS], ids=" ".join)
def test_every_help_shows_an_example(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--help"]) == 0
    assert "Example: devcem" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_stands_in_the_reference(words: tuple[str, ...]) -> None:
    assert f"`devcem {' '.join(words)}" in DOCS.read_text(encoding="utf-8")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "Usage: devcem" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["doctor", "--nope"], ["nope"]])
def test_a_wrong_word_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    told = capsys.readouterr().err.strip()
    assert "\n" not in told and "nope" in told and "--help" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["synth", "exam", "e", "--frames", "10"],
            "'--frames': Input should be greater than or equal to 100.",
        ),
        (["synth", "dataset", "d", "--preset", "papr"], "'--preset': 'papr' is not one of 'demo', 'paper'."),
        (["synth", "dataset"], "Missing argument 'out'."),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_option(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UserError("bad", "here", "mend it"), 2, "devcem: here: bad. Remedy: mend it"),
        (KeyboardInterrupt(), 130, "devcem: stopped"),
        (ZeroDivisionError("oops"), 1, "this is a bug"),
        (FileNotFoundError(2, "No such file", "part-of-devcem"), 1, "this is a bug"),
        (PermissionError(13, "Permission denied", "set/a.avi"), 2, "devcem: set/a.avi: permission denied"),
        (OSError(28, "No space left on device"), 2, "devcem: the disk is full. Remedy: free"),
    ],
)
def test_exit_codes(
    error: BaseException,
    code: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_: Path) -> None:
        raise error

    monkeypatch.setattr("devcem.doctor.examine", fail)
    assert main(["doctor"]) == code
    assert line in capsys.readouterr().err


def test_json_has_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    emit({"map": float("nan"), "row": [1.5, (np.float64("inf"), "x")], "path": Path("a"), "none": None})
    told = capsys.readouterr().out
    assert json.loads(told, parse_constant=lambda name: pytest.fail(name)) == {
        "map": None,
        "row": [1.5, [None, "x"]],
        "path": "a",
        "none": None,
    }


def test_doctor_tells_the_same_to_people_and_machines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--out", str(tmp_path / "not" / "there"), "--json"]) in (0, 3)
    rows = json.loads(capsys.readouterr().out)
    parts = {row["part"]: row for row in rows}
    assert parts["decoders"]["state"] == "ok" and parts["weights: efficientnet-lite0"]["state"] == "ok"
    main(["doctor", "--out", str(tmp_path)])
    told = capsys.readouterr().out
    assert all(part in told for part in parts)


def test_doctor_knows_every_optional_part_and_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extras of pyproject.toml, so that none is forgotten here, nor one named that is gone."""
    import importlib.metadata

    from devcem.doctor import examine

    def nothing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    extras = set(importlib.metadata.metadata("devcem").get_all("Provides-Extra") or ()) - {"dev"}
    monkeypatch.setattr("importlib.metadata.version", nothing)
    absent = {f.remedy for f in examine(Path()) if f.state == "absent" and f.remedy}
    assert absent == {"pip install --upgrade devcem", *(f"pip install 'devcem[{name}]'" for name in extras)}


def test_doctor_says_where_no_result_can_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from devcem.doctor import examine

    def disk(folder: Path) -> tuple[str, str]:
        return next((f.state, f.detail) for f in examine(folder) if f.part == "disk")

    (tmp_path / "file").touch()
    assert disk(tmp_path / "new" / "folder")[0] == "ok"
    assert disk(tmp_path / "file") == ("trouble", f"{tmp_path / 'file'} is a file")
    assert disk(tmp_path / "file" / "below") == ("trouble", f"{tmp_path / 'file'} is a file")
    monkeypatch.setattr("os.access", lambda *_: False)
    assert disk(tmp_path / "new") == ("trouble", f"{tmp_path} may not be written to")


def test_doctor_reports_trouble(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import av

    monkeypatch.setattr(av, "codecs_available", {"mjpeg"})
    assert main(["doctor", "--json"]) == 3
    rows = {row["part"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["decoders"]["state"] == "trouble" and "h264" in rows["decoders"]["detail"]
