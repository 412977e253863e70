from __future__ import annotations

import io

import pytest
from rich.console import Console

from devcem import progress


@pytest.fixture
def talkative(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY", -1.0)
    monkeypatch.setattr(progress, "WORTH_A_WORD", -1.0)


@pytest.mark.usefixtures("talkative")
def test_plain_lines_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress.track("abc", "reading")) == ["a", "b", "c"]
    told = capsys.readouterr()
    assert told.out == ""
    lines = told.err.splitlines()
    assert [line.split(" after")[0] for line in lines[:3]] == ["reading: 0/3", "reading: 1/3", "reading: 2/3"]
    assert lines[3].startswith("reading: 3/3 done in")


@pytest.mark.usefixtures("talkative")
def test_no_total_is_fine(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress.track(iter([1, 2]), "reading")) == [1, 2]
    assert "reading: 2 done" in capsys.readouterr().err


def test_what_is_over_at_once_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress.track([1, 2], "reading")) == [1, 2]
    assert capsys.readouterr().err == ""


def test_bars_on_a_terminal_may_be_nested(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(progress, "Console", lambda **_: Console(file=screen, force_terminal=True, width=100))
    for _ in progress.track([1, 2], "reading"):
        assert list(progress.track([1, 2, 3], "looking")) == [1, 2, 3]
    assert "reading" in screen.getvalue()
    assert "looking" in screen.getvalue()
    assert "2/2" in screen.getvalue()
