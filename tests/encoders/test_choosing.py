from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from photographs import crops

from devcem.encoders import (
    Backbone,
    ColourEncoder,
    OpenVinoEncoder,
    TorchEncoder,
    choosing,
    create_encoder,
    encoder_for,
    load_backbone,
    names,
)
from devcem.encoders.architecture import OWN
from devcem.encoders.choosing import chosen
from devcem.encoders.engine_openvino import native_precision
from devcem.errors import UserError

TINY = "test_resnet"
MACHINES = {"plain": (False, False), "nvidia": (True, False), "apple": (False, True), "both": (True, True)}


def machine(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A machine with these accelerators, as far as PyTorch tells."""
    cuda, mps = MACHINES[kind]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    monkeypatch.setattr(choosing, "usable", torch.device)


@pytest.fixture(scope="module")
def tiny() -> Backbone:
    torch.set_num_threads(1)
    return load_backbone(TINY, "random", size=64)


@pytest.mark.parametrize(
    ("kind", "engine", "device", "answer"),
    [
        ("plain", "auto", "auto", ("openvino", "cpu")),
        ("plain", "torch", "auto", ("torch", "cpu")),
        ("plain", "openvino", "auto", ("openvino", "cpu")),
        ("plain", "auto", "cpu", ("openvino", "cpu")),
        ("nvidia", "auto", "auto", ("torch", "cuda")),
        ("nvidia", "torch", "auto", ("torch", "cuda")),
        ("nvidia", "openvino", "auto", ("openvino", "cpu")),
        ("nvidia", "auto", "cpu", ("openvino", "cpu")),
        ("nvidia", "torch", "cpu", ("torch", "cpu")),
        ("nvidia", "auto", "cuda:1", ("torch", "cuda:1")),
        ("apple", "auto", "auto", ("torch", "mps")),
        ("apple", "openvino", "auto", ("openvino", "cpu")),
        ("apple", "auto", "cpu", ("openvino", "cpu")),
        ("both", "auto", "auto", ("torch", "cuda")),
        ("both", "auto", "mps", ("torch", "mps")),
    ],
)
def test_the_rule(
    monkeypatch: pytest.MonkeyPatch, kind: str, engine: str, device: str, answer: tuple[str, str]
) -> None:
    machine(monkeypatch, kind)
    for precision in (None, "fp32", "bf16"):
        assert chosen(engine, device, precision) == answer


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("onnx",), "no engine is called 'onnx'.*use one of auto, torch, openvino"),
        (("auto", "cpu", "int8"), "no precision is called 'int8'.*use fp32 or bf16"),
        (("openvino", "meta"), "OpenVINO computes on the CPU here, not on 'meta'.*--device cpu"),
        (("auto", "cuda:99"), "the device 'cuda:99' can't be used here"),
        (("torch", "gpu"), "the device 'gpu' can't be used here"),
    ],
)
def test_what_can_not_be_is_told_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch, arguments: Any, said: str
) -> None:
    def reading(*_: object, **__: object) -> None:
        raise AssertionError("weights were read")

    monkeypatch.setattr(choosing, "load_backbone", reading)
    with pytest.raises(UserError, match=said):
        chosen(*arguments)
    with pytest.raises(UserError, match=said):
        create_encoder(TINY, "random", *arguments)


def test_openvino_on_an_accelerator_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, "nvidia")
    with pytest.raises(UserError, match="not on 'cuda'"):
        chosen("openvino", "cuda")


def test_every_name_works_without_a_network() -> None:
    torch.set_num_threads(1)
    frames = crops(2)
    assert names() == [*OWN, "colour"]
    for name in names():
        encoder = create_encoder(name, engine="torch", device="cpu")
        features = encoder.encode(frames)
        assert encoder.name == encoder.fingerprint["encoder"] == name
        assert features.shape == (2, encoder.dim)
        assert np.abs(features[0] - features[1]).max() > 0.1


def test_colour_needs_no_engine() -> None:
    assert isinstance(create_encoder("colour"), ColourEncoder)


def test_engines_are_what_was_asked_for_and_agree(tiny: Backbone) -> None:
    frames = crops(4)
    asked: dict[str, Any] = {"weights": "random", "device": "cpu", "precision": "fp32"}
    auto, openvino, plain = (
        encoder_for(tiny, engine, "cpu", "fp32") for engine in ("auto", "openvino", "torch")
    )
    assert [type(one) for one in (auto, openvino, plain)] == [OpenVinoEncoder, OpenVinoEncoder, TorchEncoder]
    features = plain.encode(frames)
    for one in (auto, openvino):
        np.testing.assert_allclose(one.encode(frames), features, atol=1e-5 * np.abs(features).max())
    named = create_encoder(TINY, engine="torch", **asked)
    assert named.fingerprint == TorchEncoder(load_backbone(TINY, "random"), precision="fp32").fingerprint
    assert auto.fingerprint == openvino.fingerprint != plain.fingerprint


def test_precision_and_batch_reach_the_engine(tiny: Backbone) -> None:
    assert encoder_for(tiny, "auto", "cpu").fingerprint["precision"] == native_precision()
    assert encoder_for(tiny, "torch", "cpu").fingerprint["precision"] == "fp32"
    assert encoder_for(tiny, "torch", "cpu", "bf16").fingerprint["precision"] == "bf16"
    assert encoder_for(tiny, "torch", "cpu", batch=3).batch == 3
    assert encoder_for(tiny, "torch", "cpu").batch == TorchEncoder(tiny).batch
    assert encoder_for(tiny, "auto", "cpu", batch=3).batch == OpenVinoEncoder.batch


class Deciding(torch.nn.Module):
    """What it does depends on what it sees: OpenVINO can't run it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean((2, 3)) if float(x.sum()) > 0 else x.amax((2, 3))


def test_what_openvino_can_not_run_is_left_to_pytorch_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    told = {"encoder": "toy", "architecture": "toy", "size": 8, "mean": [100] * 3, "std": [2] * 3}
    backbone = Backbone("toy", Deciding(), 3, 8, (100.0,) * 3, (2.0,) * 3, told)
    encoder = encoder_for(backbone, device="cpu", batch=5)
    assert isinstance(encoder, TorchEncoder)
    assert encoder.batch == 5
    (said,) = [line for line in capsys.readouterr().err.splitlines() if "computed by PyTorch" in line]
    assert said.startswith("features are computed by PyTorch: OpenVINO can't run 'toy' here")
    frames = np.random.default_rng(0).integers(120, 256, (2, 8, 8, 3), dtype=np.uint8)
    np.testing.assert_allclose(encoder.encode(frames), (frames.mean((1, 2)) - 100) / 2, rtol=1e-5)
    with pytest.raises(UserError, match=r"OpenVINO can't run 'toy' here.*use the engine torch"):
        encoder_for(backbone, "openvino")


@pytest.mark.parametrize("engine", ["auto", "torch"])
def test_training_further_changes_no_encoder(engine: str) -> None:
    backbone = load_backbone(TINY, "random", size=64)
    frames = crops(3)
    encoder = encoder_for(backbone, engine, "cpu", "fp32")
    before, known = encoder.encode(frames), encoder.fingerprint
    with torch.no_grad():
        for parameter in backbone.network.parameters():
            parameter.add_(0.1)
    np.testing.assert_array_equal(encoder.encode(frames), before)
    assert encoder.fingerprint == known
    trained = encoder_for(backbone, engine, "cpu", "fp32")
    assert trained.fingerprint["weights"] != known["weights"]
    assert np.abs(trained.encode(frames) - before).max() > 0.01 * np.abs(before).max()
