"""Parameters of every part, as the paper's listing gives them (frame features of 2048, 15 classes)."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from devcem.methods import Method, create


def paper_sized(name: str, **options: object) -> Method:
    """Without memory behind it."""
    with torch.device("meta"):
        return create(name, num_classes=15, feature_dim=2048, **options)


def count(module: nn.Module | None) -> int:
    return 0 if module is None else sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("ps-devcem", 19_170_833),
        ("ps-devcem-no-selfsup", 19_169_808),
        ("guided-lstm", 17_072_657),
        ("atten-lstm", 17_071_632),
        ("atten-conv-lstm", 17_333_776),
        ("atten-conv", 17_333_776),
        ("mean-pool", 30_735),
        ("max-pool", 30_735),
        ("attention-mil", 2048 * 128 + 128 + 128 + 1 + 30_735),
        ("gated-attention-mil", 2 * (2048 * 128 + 128) + 128 + 1 + 30_735),
        ("stpn", 2048 * 256 + 256 + 256 + 1 + 30_735),
        ("w-talc", 2048 * 2048 + 2048 + 30_735),
        ("mi-net", 2048 * 256 + 256 + 256 * 128 + 128 + 128 * 64 + 64 + 64 * 15 + 15),
        ("mi-net-embedding", 2048 * 256 + 256 + 256 * 128 + 128 + 128 * 64 + 64 + 64 * 15 + 15),
    ],
)
def test_of_a_method(name: str, wanted: int) -> None:
    assert count(paper_sized(name)) == wanted


def test_of_each_part() -> None:
    method = paper_sized("ps-devcem")
    parts = {name: count(part) for name, part in method.named_children() if count(part)}
    assert parts == {
        "temporal": 16_793_600,
        "residual": 2_098_176,
        "attention": 262_657,
        "head": 15_375,
        "selfsup": 1_025,
    }
    assert count(paper_sized("atten-conv").attention) == 524_801


def test_of_the_alternatives() -> None:
    assert count(paper_sized("ps-devcem", bag_layers=2).selfsup) == 1024 * 256 + 256 + 256 + 1
    assert count(paper_sized("atten-lstm", attention="hx").attention) == 3072 * 256 + 256 + 256 + 1
    wide = paper_sized("ps-devcem", hidden=1024)  # the text's "hidden-state dimension of 1024", a direction
    assert count(wide.temporal) == 2 * 4 * 1024 * (2048 + 1024 + 2) + 2 * 4 * 1024 * (2048 + 1024 + 2)
    gate = count(paper_sized("attention-mil", gated=True)) - count(paper_sized("attention-mil"))
    assert gate == 2048 * 128 + 128
