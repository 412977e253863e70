"""dataset.yaml: what a dataset is called, its classes and their aliases."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from devcem.labels.problems import Problem
from devcem.labels.spelling import nearest
from devcem.labels.table import CONTROL, read_text

FILE = "dataset.yaml"
Place = tuple[int, int]  # line and column, from 1


class Description(BaseModel):
    """The keys of dataset.yaml."""

    model_config = ConfigDict(strict=True, extra="forbid")

    format: Literal[1] = 1
    name: str = Field(min_length=1)
    licence: str = "unknown"
    classes: list[str] = Field(min_length=1)
    aliases: dict[str, str] = {}  # another name -> class
    window: int = Field(30, ge=1)  # frames a model sees at once
    synthetic: bool = False


def read_description(root: Path, problems: list[Problem]) -> Description | None:
    """The description, its aliases by lower-case name. What is wrong with it is told in *problems*.

    What can be made of a faulty one comes back too, so that the tables can be looked through; None, where it
    names no classes.
    """
    path = root / FILE
    if not path.is_file():
        problems.append(Problem("error", FILE, 0, 0, "", "the file is missing: this is not a dataset folder"))
        return None
    text = read_text(path, problems)
    try:
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        message = f"not YAML: {error.problem or error.context}"
        problems.append(Problem("error", FILE, line, column, _line(text, line), message))
        return None
    except (
        yaml.YAMLError,
        ValueError,
        RecursionError,
    ) as error:  # control characters, dates that are none, [[[[
        problems.append(Problem("error", FILE, 1, 1, "", f"not YAML: {' '.join(str(error).split())}"))
        return None
    places = _places(tree, problems)
    try:
        description = Description.model_validate(content)
    except ValidationError as error:
        told = [_told(dict(e), places) for e in error.errors(include_url=False)]
        description = _salvaged(tree)
    else:
        told = []
    told_at = {(problem.line, problem.column) for problem in told}
    found = [p for p in _check_names(description, places) if (p.line, p.column) not in told_at]
    problems.extend(told + found)
    description.aliases = {alias.strip().lower(): name for alias, name in description.aliases.items()}
    return description if description.classes else None


def _salvaged(tree: yaml.Node | None) -> Description:
    """Classes and aliases as they are written, whatever else is wrong: `no` is a name here, not False."""
    keys = {key.value: node for key, node in tree.value} if isinstance(tree, yaml.MappingNode) else {}
    classes, aliases = keys.get("classes"), keys.get("aliases")
    return Description.model_construct(
        name="",
        classes=[_written(node) for node in classes.value] if isinstance(classes, yaml.SequenceNode) else [],
        aliases={_written(alias): _written(name) for alias, name in aliases.value}
        if isinstance(aliases, yaml.MappingNode)
        else {},
    )


def _written(node: yaml.Node) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


class _Places(dict[tuple[Any, ...], Place]):
    """Path in the file -> where its value stands; (*path, "key") -> where its key stands."""

    def __missing__(
        self, path: tuple[Any, ...]
    ) -> Place:  # what an anchor brings in stands where its parent does
        return self[path[:-1]] if path else (1, 1)


def _places(tree: yaml.Node | None, problems: list[Problem]) -> _Places:
    """Where everything stands. Complains of keys that stand twice: YAML itself keeps the last in silence."""
    places = _Places()
    seen: set[int] = set()  # an anchor may lead back to itself

    def walk(node: yaml.Node, path: tuple[Any, ...]) -> None:
        places[path] = (node.start_mark.line + 1, node.start_mark.column + 1)
        if id(node) in seen:
            return
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for index, child in enumerate(node.value):
                walk(child, (*path, index))
        elif isinstance(node, yaml.MappingNode):
            for key, child in node.value:
                place = (key.start_mark.line + 1, key.start_mark.column + 1)
                if (*path, key.value, "key") in places:
                    message = f"the key '{key.value}' stands twice"
                    problems.append(Problem("error", FILE, *place, str(key.value), message))
                places[(*path, key.value, "key")] = place
                walk(child, (*path, key.value))

    if tree is not None:
        walk(tree, ())
    return places


def _told(error: dict[str, Any], places: _Places) -> Problem:
    """pydantic's complaint in our words, at its place in the file."""
    path, value = tuple(error["loc"]), error["input"]
    key = str(path[-1]) if path else ""
    if error["type"] == "extra_forbidden":
        return Problem(
            "error",
            FILE,
            *places[(*path, "key")],
            key,
            f"unknown key '{key}'",
            nearest(key, Description.model_fields),
        )
    if error["type"] == "missing":
        return Problem("error", FILE, 1, 1, "", f"the key '{key}' is missing")
    where = ".".join(str(part) for part in path) or "the file"
    hint = (
        "; put quotes round it"
        if error["type"] == "string_type" and isinstance(value, bool | int | float)
        else ""
    )
    message = f"{where}: {error['msg'][0].lower()}{error['msg'][1:]}, but it is {value!r}{hint}"
    return Problem("error", FILE, *places[path], str(value), message)


def _check_names(description: Description, places: _Places) -> list[Problem]:
    """Classes and aliases must be tellable apart when they are joined by ';' in a table."""
    found = []
    taken: dict[str, str] = {}
    for index, name in enumerate(description.classes):
        place = places[("classes", index)]
        if name != name.strip() or not name or any(s in ';,"' for s in name) or CONTROL.search(name):
            message = f"'{name}' cannot be a class: no ; , quotes, line breaks or spaces around it"
            found.append(Problem("error", FILE, *place, name, message))
        if name.lower() in taken:
            found.append(Problem("error", FILE, *place, name, f"the class '{name}' stands twice"))
        taken[name.lower()] = name
    for alias, name in description.aliases.items():
        if name not in description.classes:
            message = f"the alias '{alias}' means '{name}', which is not a class"
            place = places[("aliases", alias)]
            found.append(Problem("error", FILE, *place, name, message, nearest(name, description.classes)))
        key = alias.strip().lower()
        if taken.get(key, name) != name:
            message = f"the alias '{alias}' already means '{taken[key]}'"
            found.append(Problem("error", FILE, *places[("aliases", alias, "key")], alias, message))
        taken.setdefault(key, name)
    return found


def _line(text: str, line: int) -> str:
    lines = text.splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
