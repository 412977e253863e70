"""Any timm name builds, and weights either fit to the last tensor or are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from devcem.encoders.architecture import architecture
from devcem.errors import UserError

FAMILIES = {  # the smallest of each, the features timm's own paper tables give it, and a side that is quick
    "resnet10t": (512, 64),
    "vgg11": (4096, 32),
    "densenet121": (1024, 64),
    "convnext_atto": (320, 64),
    "vit_tiny_patch16_224": (192, 48),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_gives_a_vector_a_frame(name: str) -> None:
    torch.set_num_threads(1)
    dim, size = FAMILIES[name]
    network = architecture(name, size).empty()
    with torch.inference_mode():
        features = network(torch.rand(2, 3, size, size))
    assert features.shape == (2, dim)
    assert not torch.equal(features[0], features[1])


def test_a_network_knows_how_it_wants_its_pixels() -> None:
    known = architecture("vit_tiny_patch16_224.augreg_in21k_ft_in1k")
    assert (known.size, known.mean, known.std) == (224, (127.5,) * 3, (127.5,) * 3)
    plain = architecture("tv_resnet50.tv_in1k")
    assert plain.mean == pytest.approx((123.675, 116.28, 103.53))
    assert plain.std == pytest.approx((58.395, 57.12, 57.375))


def test_weights_that_do_not_fit_are_named() -> None:
    built = architecture("test_resnet")
    wrong = dict(built.empty(10).state_dict())
    first, second, third = list(wrong)[:3]
    del wrong[first]
    wrong["extra.weight"] = torch.zeros(1)
    wrong[second] = torch.zeros(7, 7)
    wrong[third] = torch.zeros(7, 7)
    with pytest.raises(UserError) as caught:
        built.filled(wrong, Path("mine.pth"))
    message = str(caught.value)
    assert message.startswith(f"mine.pth: the weights do not fit test_resnet: {first} is missing; ")
    assert f"extra.weight is unexpected; {second} has shape (7, 7) instead of" in message
    assert "and 1 more" in message


@pytest.mark.parametrize("classes", [0, 3])
def test_weights_for_any_number_of_classes_fit(classes: int) -> None:
    built = architecture("test_resnet")
    given = built.empty(classes).state_dict()
    filled = built.filled(given, Path("mine.pth"))
    torch.testing.assert_close(filled.state_dict(), given)


def test_unknown_names_are_told_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"no encoder is called 'resnet5O'.*did you mean 'resnet50'\?"):
        architecture("resnet5O")
    with pytest.raises(UserError, match=r"'tv_resnet50'|'resnet50' has no weights tagged 'tv_in2k'"):
        architecture("resnet50.tv_in2k")
