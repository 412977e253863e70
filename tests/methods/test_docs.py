"""What the docs say of methods is so."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from contract import CHECKS
from contract_cases import Case

from devcem.errors import UserError
from devcem.methods import describe, names, register
from devcem.methods.options import Option

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("paper.md", "explanation/methods.md")


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


@pytest.fixture
def soft_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of own-method.md, in a file of its own and registered by the page's own lines."""
    code, lines = re.findall(r"```python\n(.*?)```", text("how-to/own-method.md"), re.DOTALL)
    file = tmp_path / "soft_pool.py"
    file.write_text(code, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("devcem.methods.soft_pool", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    exec(lines, {"register": register})


@pytest.mark.usefixtures("soft_pool")
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_example_keeps_the_contract(check: Callable[[Case], None]) -> None:
    check(Case("soft-pool"))


@pytest.mark.parametrize("page", PAGES)
def test_every_option_on_the_page_exists(page: str) -> None:
    """Written as `options.NAME=VALUE`: some method has it and takes the value."""
    found = re.findall(r"`options\.(\w+)=([^`]+)`", text(page))
    assert found
    for name, value in found:
        options = [o for method in names() for o in describe(method).options if o.name == name]
        assert options, f"{page}: no method has the option {name}"
        assert any(takes(option, value) for option in options), f"{page}: {name} can't be {value}"


def takes(option: Option, value: str) -> bool:
    """As a choice's name, or as the number or truth value that is written."""
    for meant in (value, *literal(value)):
        with suppress(UserError):
            option.checked(meant, "")
            return True
    return False


def literal(value: str) -> list[object]:
    if value in ("true", "false"):
        return [value == "true"]
    try:
        return [ast.literal_eval(value)]
    except ValueError:  # a name
        return []


@pytest.mark.parametrize("page", PAGES)
def test_every_file_on_the_page_exists(page: str) -> None:
    """Paths in back-quotes are given from src/devcem, from the root, or from docs."""
    roots = (DOCS.parent / "src" / "devcem", DOCS.parent)
    paths = re.findall(r"`([\w./-]+/[\w.-]*)`", text(page))
    assert paths
    missing = [path for path in paths if not any((root / path).exists() for root in roots)]
    assert not missing


def test_every_method_is_explained() -> None:
    told = text("explanation/methods.md")
    assert not [name for name in names() if f"`{name}`" not in told]
