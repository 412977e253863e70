from __future__ import annotations

import json

import pytest

from devcem.errors import UserError
from devcem.methods import create, describe, names, register
from devcem.methods.floors import MeanPool
from devcem.methods.psdevcem import PSDeVCEM

PAPERS = ["ps-devcem", "ps-devcem-no-selfsup", "guided-lstm", "atten-lstm", "atten-conv-lstm", "atten-conv"]


def test_the_papers_methods_and_the_floors_are_there() -> None:
    assert set(names()) >= {*PAPERS, "attention-mil", "mean-pool", "max-pool"}


@pytest.mark.parametrize("name", names())
def test_every_method_is_described(name: str) -> None:
    info = describe(name)
    assert info.name == name and info.paper
    assert info.summary and "\n" not in info.summary and len(info.summary) < 80
    row = info.as_row()
    assert json.loads(json.dumps(row)) == row
    assert all(option["help"] and option["default"] is not None for option in row["options"])
    assert info.build.__doc__


def test_the_six_are_one_module() -> None:
    """The options that set them apart, as section 4 of the paper does."""
    made = {name: create(name, num_classes=2, feature_dim=3, hidden=2) for name in PAPERS}
    assert all(type(method) is PSDeVCEM for method in made.values())
    keys = ("attention", "rescale", "residual", "selfsup")
    found = {name: tuple(method.options[key] for key in keys) for name, method in made.items()}
    assert found == {
        "ps-devcem": ("h", False, True, "polarity"),
        "ps-devcem-no-selfsup": ("h", False, True, "none"),
        "guided-lstm": ("h", False, False, "polarity"),
        "atten-lstm": ("h", False, False, "none"),
        "atten-conv-lstm": ("x", False, False, "none"),
        "atten-conv": ("x", True, False, "none"),
    }


def test_a_method_knows_what_it_was_made_of() -> None:
    method = create("ps-devcem", num_classes=2, feature_dim=3, hidden=4, dropout=0)
    assert (method.name, method.num_classes, method.feature_dim) == ("ps-devcem", 2, 3)
    defaults = {option.name: option.default for option in describe("ps-devcem").options}
    assert method.options == defaults | {"hidden": 4, "dropout": 0.0}


def test_an_unknown_name_is_a_users_mistake() -> None:
    with pytest.raises(UserError, match=r"no method is called 'ps-devcm'.*did you mean 'ps-devcem'"):
        create("ps-devcm", num_classes=1, feature_dim=1)
    with pytest.raises(UserError, match="use one of ps-devcem, "):
        describe("zzz")


@pytest.mark.parametrize("size", ["num_classes", "feature_dim"])
def test_sizes_are_checked(size: str) -> None:
    with pytest.raises(ValueError, match=f"{size} must be at least 1, not 0"):
        create("mean-pool", **({"num_classes": 2, "feature_dim": 2} | {size: 0}))


def test_a_name_is_given_once() -> None:
    register("mine", MeanPool, "mean", "none")
    assert names()[-1] == "mine" and describe("mine").build is MeanPool
    with pytest.raises(ValueError, match="'mine' is registered already"):
        register("mine", MeanPool, "mean", "none")


def test_a_preset_is_checked_when_registered() -> None:
    with pytest.raises(UserError, match="wrong-preset: there is no option 'hiden'"):
        register("wrong-preset", PSDeVCEM, "a slip", "none", {"hiden": 3})
    assert "wrong-preset" not in names()
