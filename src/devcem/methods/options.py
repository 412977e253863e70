"""A method's options, read from its signature, so that they are written down once."""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from devcem.errors import UserError
from devcem.labels.spelling import nearest


@dataclass(frozen=True)
class About:
    """Stands in an `Annotated` argument: one line of help, and the limits of a number."""

    help: str
    minimum: float | None = None
    below: float | None = None


@dataclass(frozen=True)
class Option:
    """One keyword-only argument of a method."""

    name: str
    type: str  # "bool", "int", "float", the choices: "h | x | hx", or both: "scale | float"
    default: Any
    help: str
    choices: tuple[Any, ...] = ()
    minimum: float | None = None
    below: float | None = None

    def checked(self, value: Any, where: str) -> Any:
        """*value* in this option's type, or a UserError that says what would do."""
        remedy = f"give {self._wanted()}"
        if value in self.choices and type(value) is not bool:
            return self.choices[self.choices.index(value)]
        plain = self._plain
        if plain is None or (self.choices and isinstance(value, str)):
            near = nearest(value, map(str, self.choices)) if isinstance(value, str) else None
            meant = f"did you mean '{near}'? {remedy}" if near else remedy
            raise UserError(f"'{value}' is no choice of the option '{self.name}'", where, meant)
        if plain == "float" and type(value) is int:
            value = float(value)
        if type(value).__name__ != plain:
            what = f"the option '{self.name}' is of type {self.type}, not {type(value).__name__} ({value!r})"
            raise UserError(what, where, remedy)
        low = self.minimum is not None and value < self.minimum
        high = self.below is not None and value >= self.below
        if low or high or not math.isfinite(value):
            raise UserError(f"the option '{self.name}' can't be {value}", where, remedy)
        return value

    def as_row(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"choices": list(self.choices)}

    @property
    def _plain(self) -> str | None:
        """The type of a value that is none of the choices; None where it has to be one."""
        last = self.type.split(" | ")[-1]
        return last if last in ("bool", "int", "float") else None

    def _wanted(self) -> str:
        listed = ", ".join(map(str, self.choices))
        if self._plain is None:
            return f"one of {listed}"
        if self._plain == "bool":
            return "true or false"
        words = [f"{listed} or"] * bool(listed) + ["a whole number" if self._plain == "int" else "a number"]
        if self.minimum is not None:
            words.append(f"of at least {self.minimum:g}")
        if self.below is not None:
            words.append(f"{'and ' if self.minimum is not None else ''}below {self.below:g}")
        return " ".join(words)


def options_of(build: Callable[..., Any], preset: Mapping[str, Any] | None = None) -> tuple[Option, ...]:
    """The options of a method class, with the defaults of *preset* where it names them."""
    hints = get_type_hints(build.__init__ if inspect.isclass(build) else build, include_extras=True)
    found = []
    for name, parameter in inspect.signature(build).parameters.items():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        kind, about = get_args(hints[name])[:2]
        parts = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
        choices = tuple(c for part in parts if get_origin(part) is Literal for c in get_args(part))
        plain = [part.__name__ for part in parts if get_origin(part) is not Literal]
        default = (preset or {}).get(name, parameter.default)
        type_ = " | ".join([*map(str, choices), *plain])
        found.append(Option(name, type_, default, about.help, choices, about.minimum, about.below))
    return tuple(found)


def resolved(options: tuple[Option, ...], given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Every option's value: what is given, checked, else the default."""
    by_name = {option.name: option for option in options}
    for name in given:
        if name not in by_name:
            near = nearest(name, by_name)
            known = f"use one of {', '.join(by_name)}" if by_name else "give it none: it has no options"
            remedy = f"did you mean '{near}'? {known}" if near else known
            raise UserError(f"there is no option '{name}'", where, remedy)
    return {
        name: option.checked(given[name], where) if name in given else option.default
        for name, option in by_name.items()
    }
