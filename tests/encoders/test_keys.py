from __future__ import annotations

import pytest
import torchvision

from devcem.encoders.keys import from_augnet, from_tensorflow_port


@pytest.mark.parametrize(
    ("published", "timms"),
    [
        ("_conv_stem.weight", "conv_stem.weight"),
        ("_bn0.running_var", "bn1.running_var"),
        ("_conv_head.weight", "conv_head.weight"),
        ("_fc.bias", "classifier.bias"),
        ("_blocks.0._depthwise_conv.weight", "blocks.0.0.conv_dw.weight"),  # the one block without expansion
        ("_blocks.0._bn2.bias", "blocks.0.0.bn2.bias"),
        ("_blocks.1._expand_conv.weight", "blocks.1.0.conv_pw.weight"),  # stages of 1, 2, 2, 3, 3, 4, 1
        ("_blocks.4._bn2.weight", "blocks.2.1.bn3.weight"),
        ("_blocks.8._depthwise_conv.weight", "blocks.4.0.conv_dw.weight"),
        ("_blocks.15._project_conv.weight", "blocks.6.0.conv_pwl.weight"),
        ("blocks.0.0.conv_dw.weight", "blocks.0.0.conv_dw.weight"),
        ("classifier.weight", "classifier.weight"),
    ],
)
def test_a_tensorflow_port_by_hand(published: str, timms: str) -> None:
    assert from_tensorflow_port(published) == timms


def test_augnets_wrappers_fall_away_and_torchvisions_names_stay() -> None:
    plain = list(torchvision.models.resnet18().state_dict())
    assert [from_augnet(f"module.pre.{key}") for key in plain] == plain
    assert [from_augnet(key) for key in plain] == plain
