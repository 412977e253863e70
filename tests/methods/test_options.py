from __future__ import annotations

import json
from math import inf, nan
from typing import Annotated, Any, Literal

import pytest

from devcem.errors import UserError
from devcem.methods.options import About, options_of, resolved


class Example:
    def __init__(
        self,
        num_classes: int,
        feature_dim: int,
        *,
        pool: Annotated[Literal["mean", "max"], About("how")] = "mean",
        layers: Annotated[Literal[1, 2], About("how many")] = 1,
        gated: Annotated[bool, About("with a gate")] = False,
        hidden: Annotated[int, About("units", minimum=1)] = 8,
        dropout: Annotated[float, About("share", minimum=0, below=1)] = 0.5,
        weight: Annotated[float, About("any number")] = 1.0,
    ) -> None: ...


OPTIONS = options_of(Example)


def test_are_read_from_the_signature() -> None:
    rows = {option.name: option.as_row() for option in OPTIONS}
    assert list(rows) == ["pool", "layers", "gated", "hidden", "dropout", "weight"]
    assert rows["pool"]["type"] == "mean | max" and rows["pool"]["choices"] == ["mean", "max"]
    assert rows["layers"] == {
        "name": "layers",
        "type": "1 | 2",
        "default": 1,
        "help": "how many",
        "choices": [1, 2],
        "minimum": None,
        "below": None,
    }
    assert [rows[name]["type"] for name in ("gated", "hidden", "dropout")] == ["bool", "int", "float"]
    assert (rows["dropout"]["minimum"], rows["dropout"]["below"]) == (0, 1)
    assert json.loads(json.dumps(rows)) == rows


def test_a_preset_changes_defaults() -> None:
    changed = {option.name: option.default for option in options_of(Example, {"hidden": 3, "gated": True})}
    assert changed["hidden"] == 3 and changed["gated"] is True and changed["pool"] == "mean"


def test_what_is_not_given_keeps_its_default() -> None:
    values = resolved(OPTIONS, {"dropout": 0, "layers": 2}, "example")
    assert values == {
        "pool": "mean",
        "layers": 2,
        "gated": False,
        "hidden": 8,
        "dropout": 0.0,
        "weight": 1.0,
    }
    assert type(values["dropout"]) is float  # a whole number will do for one


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"hiden": 3}, "no option 'hiden'.*did you mean 'hidden'"),
        ({"zzz": 3}, "no option 'zzz'.*use one of pool, layers, gated"),
        ({"pool": "men"}, "'men' is no choice of the option 'pool'.*did you mean 'mean'.*one of mean, max"),
        ({"layers": 3}, "'3' is no choice of the option 'layers'.*one of 1, 2"),
        ({"layers": True}, "'True' is no choice of the option 'layers'"),
        ({"gated": 1}, "'gated' is of type bool, not int.*give true or false"),
        ({"gated": "yes"}, "'gated' is of type bool, not str"),
        ({"hidden": 0}, "'hidden' can't be 0.*a whole number of at least 1"),
        ({"hidden": 2.0}, "'hidden' is of type int, not float"),
        ({"hidden": True}, "'hidden' is of type int, not bool"),
        ({"dropout": 1.0}, "'dropout' can't be 1.0.*a number of at least 0 and below 1"),
        ({"dropout": -0.1}, "'dropout' can't be -0.1"),
        ({"dropout": True}, "'dropout' is of type float, not bool"),
        ({"weight": nan}, "'weight' can't be nan.*give a number"),
        ({"weight": inf}, "'weight' can't be inf"),
        ({"weight": "1"}, "'weight' is of type float, not str"),
        ({"weight": None}, "'weight' is of type float, not NoneType"),
    ],
)
def test_what_does_not_fit_is_named(given: dict[str, Any], what: str) -> None:
    with pytest.raises(UserError, match=what) as error:
        resolved(OPTIONS, given, "example")
    assert str(error.value).startswith("example: ")


def test_a_method_without_options_says_so() -> None:
    with pytest.raises(UserError, match="it has no options"):
        resolved((), {"hidden": 3}, "mean-pool")


def widths(*, gamma: Annotated[Literal["scale"] | float, About("width", minimum=0.1)] = "scale") -> None: ...


def test_a_choice_or_a_number() -> None:
    (option,) = options_of(widths)
    assert (option.type, option.choices, option.default) == ("scale | float", ("scale",), "scale")
    assert resolved((option,), {}, "x") == {"gamma": "scale"}
    assert resolved((option,), {"gamma": "scale"}, "x") == {"gamma": "scale"}
    assert resolved((option,), {"gamma": 2}, "x") == {"gamma": 2.0}
    wanted = r"give scale or a number of at least 0\.1"
    for value, complaint in (
        ("scael", rf"'scael' is no choice of the option 'gamma'.*did you mean 'scale'\? {wanted}"),
        (0.01, rf"the option 'gamma' can't be 0\.01.*{wanted}"),
        (True, rf"of type scale \| float, not bool.*{wanted}"),
    ):
        with pytest.raises(UserError, match=complaint):
            resolved((option,), {"gamma": value}, "x")
