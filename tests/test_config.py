"""Settings from files and words: what they become, and what is said when they do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from devcem.config import Settings, assignments, checked, differences, merged, read_yaml
from devcem.errors import UserError


class Inner(Settings):
    rate: float = 0.1
    kind: Literal["a", "b"] = "a"


class Outer(Settings):
    name: str = "x"
    count: int | None = None
    inner: Inner = Inner()
    free: dict[str, Any] = Field(default_factory=dict)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("count=3", {"count": 3}),
        ("inner.rate=1e-3", {"inner": {"rate": 0.001}}),  # text in YAML 1.1
        ("inner.rate=-.5", {"inner": {"rate": -0.5}}),
        ("on=true", {"on": True}),
        ("patience=null", {"patience": None}),
        ("name=a=b", {"name": "a=b"}),
        ("betas=[0.9, 0.99]", {"betas": [0.9, 0.99]}),
        ("name=", {"name": None}),
        ("name=[", {"name": "["}),
        ("name=2026-02-30", {"name": "2026-02-30"}),  # the calendar has no such day
        ("a.b.c=1", {"a": {"b": {"c": 1}}}),
    ],
)
def test_a_word(word: str, expected: dict[str, Any]) -> None:
    assert assignments([word]) == expected


def test_words_add_up_and_the_last_wins() -> None:
    assert assignments(["a.b=1", "a.c=2", "a.b=3", "d=4"]) == {"a": {"b": 3, "c": 2}, "d": 4}


@pytest.mark.parametrize("word", ["epochs", "=3", "", " =3"])
def test_what_is_no_assignment(word: str) -> None:
    with pytest.raises(UserError, match=r"is not key=value.*--set optimiser\.lr=1e-3"):
        assignments([word])


def test_layers() -> None:
    below, above = {"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 9}, "d": {"e": 1}}
    assert merged(below, above) == {"a": {"b": 9, "c": 2}, "d": {"e": 1}}
    assert below == {"a": {"b": 1, "c": 2}, "d": 3}


TREES = st.recursive(
    st.integers() | st.none(), lambda inner: st.dictionaries(st.sampled_from("abc"), inner), max_leaves=8
).filter(lambda tree: isinstance(tree, dict))


@given(TREES, TREES)
def test_differences_are_none_between_equals_and_symmetric(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert differences(one, one) == []
    keys = [{line.split()[0] for line in differences(*pair)} for pair in ((one, two), (two, one))]
    assert keys[0] == keys[1]


@given(TREES, TREES)
def test_a_layer_over_itself_changes_nothing(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert merged(one, one) == one
    assert merged(one, two, two) == merged(one, two)


def test_differences_name_key_and_both_values() -> None:
    before, after = {"a": {"b": 1, "c": 2}, "d": "x"}, {"a": {"b": 1, "c": 3}, "e": None, "d": "x"}
    assert differences(before, after) == ["a.c was 2, now 3"]
    assert differences({"a": {"b": 1}}, {"a": 4}) == ["a was {'b': 1}, now 4"]


def test_what_fits_is_typed() -> None:
    told = checked(Outer, {"count": 2, "inner": {"rate": 1, "kind": "b"}, "free": {"any": [1]}})
    assert told == Outer(count=2, inner=Inner(rate=1.0, kind="b"), free={"any": [1]})


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"nmae": 1}, r"nmae: there is no such setting\. Remedy: use one of name, count, inner, free$"),
        ({"inner": {"rte": 1}}, r"inner\.rte: there is no such setting\. Remedy: use one of rate, kind$"),
        ({"inner": {"rate": "fast"}}, r"inner\.rate: Input should be a valid number.*not 'fast'"),
        ({"inner": {"kind": "c"}}, r"inner\.kind: Input should be 'a' or 'b', not 'c'"),
        ({"inner": 3}, r"inner: .*not 3"),
        ({"count": "x", "name": 1}, r"name: Input should be a valid string, not 1 \(and 1 more\)"),
    ],
)
def test_what_does_not_fit_is_named(values: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        checked(Outer, values)


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Outer().name = "y"  # type: ignore[misc]


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(yaml.safe_dump({"inner": {"rate": 2.0}}), encoding="utf-8")
    assert read_yaml(path) == {"inner": {"rate": 2.0}}
    path.write_text("# nothing\n", encoding="utf-8")
    assert read_yaml(path) == {}


def test_a_number_is_one_in_a_file_and_in_a_word(tmp_path: Path) -> None:
    """1e-3 is text in YAML 1.1, for which an option of a method would be refused."""
    path = tmp_path / "run.yaml"
    path.write_text("a: 1e-3\nb: {c: -1E5, d: [2e+3]}\ne: '1e-3'\nf: 1e\ng: 12e3x\n", encoding="utf-8")
    read = {"a": 0.001, "b": {"c": -100000.0, "d": [2000.0]}, "e": "1e-3", "f": "1e", "g": "12e3x"}
    assert read_yaml(path) == read
    words = ["a=1e-3", "b.c=-1E5", "b.d=[2e+3]", "e='1e-3'", "f=1e", "g=12e3x"]
    assert assignments(words) == read


@pytest.mark.parametrize("word", ["name=nan", "name=inf", "name=1_0e2_0", "name=infinity"])
def test_a_name_stays_a_name(word: str) -> None:
    assert assignments([word]) == {"name": word.partition("=")[2]}


@pytest.mark.parametrize("value", [".inf", "-.inf", ".nan"])
def test_a_number_is_finite(value: str) -> None:
    with pytest.raises(UserError, match=r"inner\.rate: Input should be a finite number"):
        checked(Outer, assignments([f"inner.rate={value}"]))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"a: 1\nb: [\n", r"run\.yaml:3: this is not YAML"),
        (b"- 1\n- 2\n", "holds no settings"),
        (b"a: \xff\n", "this is not YAML"),
        (b"a: 2026-02-30\n", "this is not YAML"),
        (b"a: !!python/object/apply:os.getcwd []\n", r"run\.yaml:1: this is not YAML"),  # nothing is run
    ],
)
def test_a_file_that_is_none(content: bytes, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_bytes(content)
    with pytest.raises(UserError, match=complaint):
        read_yaml(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file of settings"):
        read_yaml(tmp_path / "run.yaml")


class Nested(Settings):
    each: dict[str, Inner] = Field(default_factory=dict)
    either: Inner | None = None


@pytest.mark.parametrize("values", [{"each": {"polyp": {"extra": 1}}}, {"either": {"extra": 1}}])
def test_a_key_too_many_within_a_mapping_or_a_choice_is_named(values: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=r"extra: there is no such setting"):
        checked(Nested, values)
