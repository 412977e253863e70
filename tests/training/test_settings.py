"""The presets, and which settings are refused."""

from __future__ import annotations

import math

import pytest

from devcem.config import checked, merged
from devcem.errors import UserError
from devcem.methods import describe, names
from devcem.training.settings import PRESETS, PUBLISHED, TrainSettings, preset


def test_the_papers_protocol() -> None:
    """Its appendix: Adam 0.9, 0.999, 1e-4, weight decay 1e-4, cyclic, 500 epochs, batch 1, 30 frames."""
    paper = checked(TrainSettings, PRESETS["paper"])
    assert (paper.batch, paper.epochs, paper.patience, paper.select) == (1, 500, None, "loss")
    adam = paper.optimiser
    assert (adam.name, adam.betas, adam.lr, adam.weight_decay) == ("adam", (0.9, 0.999), 1e-4, 1e-4)
    assert (adam.schedule, adam.lowest_lr, adam.clip) == ("cyclic", 1e-5, 0)
    assert (paper.data.window, paper.data.sampling, paper.data.augment) == (30, "uniform", True)
    assert (paper.encoder.name, paper.encoder.train) == ("tv_resnet50.tv_in1k", True)
    assert (paper.balance.positives, paper.balance.classes) == (0, "equal")


def test_fast_learns_on_a_frozen_encoder() -> None:
    fast = checked(TrainSettings, PRESETS["fast"])
    assert not fast.encoder.train
    assert fast.patience is not None
    assert fast.patience < fast.epochs


RIVALS = {  # optimiser, learning rate, weight decay, bags a step; as the papers and their code have them
    "attention-mil": ("adam", 5e-4, 1e-4, 1),
    "gated-attention-mil": ("adam", 5e-4, 1e-4, 1),
    "mi-net": ("sgd", 5e-4, 5e-3, 1),
    "mi-net-embedding": ("sgd", 5e-4, 5e-3, 1),
    "stpn": ("adam", 1e-4, 0, 8),
    "w-talc": ("adam", 1e-4, 5e-4, 10),
}


@pytest.mark.parametrize("method", [name for name in names() if describe(name).published])
def test_the_rivals_own_settings(method: str) -> None:
    told = checked(TrainSettings, merged(preset(PUBLISHED, method), {"method": method}))
    how = told.optimiser
    assert (how.name, how.lr, how.weight_decay, told.batch) == RIVALS[method]
    assert (how.betas, how.momentum, how.schedule, how.clip) == ((0.9, 0.999), 0.9, "constant", 0)
    assert told.balance.positives == 0 and not told.encoder.train


def test_a_method_without_published_settings_says_so() -> None:
    assert {name for name in names() if describe(name).published} >= set(RIVALS)
    with pytest.raises(UserError, match=r"published has no settings for 'mean-pool'.*take fast.*w-talc"):
        preset(PUBLISHED, "mean-pool")


@pytest.mark.parametrize("name", PRESETS)
def test_settings_survive_json(name: str) -> None:
    told = checked(TrainSettings, merged(preset(name, "atten-lstm"), {"method": "atten-lstm"}))
    assert checked(TrainSettings, told.model_dump(mode="json")) == told


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"batch": 0}, "batch"),
        ({"epochs": 1.5}, "epochs"),
        ({"data": {"validation": 1.0}}, "data.validation"),
        ({"optimiser": {"lr": 0}}, "optimiser.lr"),
        ({"optimiser": {"schedule": "cosine", "lr": 1e-6}}, "optimiser: lowest_lr lies above lr"),
        ({"precision": "fp16"}, "precision"),
        ({"patience": 0}, "patience"),
        ({"optimiser": {"betas": (0.9, 1.0)}}, r"optimiser\.betas\.1"),  # torch would refuse it later
        ({"optimiser": {"betas": (-0.1, 0.9)}}, r"optimiser\.betas\.0"),
        ({"optimiser": {"lr": math.inf}}, r"optimiser\.lr"),
        ({"optimiser": {"weight_decay": math.inf}}, r"optimiser\.weight_decay"),
        ({"seed": 2**32}, "seed"),  # its thousandfold has to fit into torch's generator
    ],
)
def test_what_cannot_be(values: dict[str, object], key: str) -> None:
    with pytest.raises(UserError, match=f"^{key}"):
        checked(TrainSettings, values)
