"""Settings from presets, YAML files and key=value words, checked by a typed model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from devcem.errors import UserError


class Settings(BaseModel):
    """A frozen group of settings; a key that it does not have is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


S = TypeVar("S", bound=Settings)


class _Loader(yaml.SafeLoader):
    """Takes 1e-3 for a number, as people do; YAML 1.1 wants a point and a sign in it."""


FLOAT = re.compile(r"[-+]?((\d+(\.\d*)?|\.\d+)[eE][-+]?\d+|\.\d+)$")
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", FLOAT, list("-+.0123456789"))


def read_yaml(path: Path) -> dict[str, Any]:
    """A mapping from a YAML file; nothing in the file is run."""
    if not path.is_file():
        raise UserError("no such file of settings", path, "give a YAML file")
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except (yaml.YAMLError, ValueError) as error:  # the latter of bytes and of dates
        where = getattr(error, "problem_mark", None)
        place = f"{path}:{where.line + 1}" if where is not None else path
        raise UserError("this is not YAML", place, "write lines of `key: value`") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise UserError("the file holds no settings", path, "write lines of `key: value`")
    return content


def assignments(words: Iterable[str]) -> dict[str, Any]:
    """`optimiser.lr=1e-3 batch=8` as a nested mapping; values are read as YAML reads them."""
    settings: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            raise UserError(
                f"'{word}' is not key=value", "--set", "write for example --set optimiser.lr=1e-3"
            )
        nested: Any = _scalar(value)
        for part in reversed(key.strip().split(".")):
            nested = {part: nested}
        settings = merged(settings, nested)
    return settings


def merged(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Later layers win, group by group."""
    result: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            if isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
                result[key] = merged(result[key], value)
            else:
                result[key] = value
    return result


def checked(kind: type[S], values: Mapping[str, Any], where: str | Path | None = None) -> S:
    """The settings as *kind*; the first thing that is wrong is named with its key, the rest counted."""
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        first, *rest = error.errors()
        key = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            there = _fields(kind, first["loc"][:-1])
            said, remedy = (
                "there is no such setting",
                f"use one of {', '.join(there)}" if there else "leave it out",
            )
        else:
            said = (
                f"{said}, not {first['input']!r}"
                if "input" in first and not isinstance(first["input"], dict)
                else said
            )
            remedy = "give a value that fits"
        more = f" (and {len(rest)} more)" if rest else ""
        raise UserError(f"{key}: {said}{more}" if key else f"{said}{more}", where, remedy) from None


def differences(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Dotted keys whose values differ, each with both values."""
    found: list[str] = []
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(key), after.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            found += differences(old, new, f"{prefix}{key}.")
        elif old != new:
            found.append(f"{prefix}{key} was {old!r}, now {new!r}")
    return found


def _scalar(text: str) -> Any:
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError):  # the latter of a date that no calendar has
        return text


def _fields(kind: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """Names of the settings in the group at *place*; none where mappings or choices lie on the way to it."""
    group: Any = kind
    for part in place:
        fields = getattr(group, "model_fields", {})
        if part not in fields:
            return []
        group = fields[part].annotation
    return list(getattr(group, "model_fields", ()))
