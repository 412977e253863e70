from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
import torchvision
from photographs import crops, palace_and_flower

from devcem.encoders import Backbone, empty_backbone, load_backbone
from devcem.encoders.architecture import architecture
from devcem.encoders.weights import PACKAGED, packaged, read_state, sha256
from devcem.errors import UserError

TINY = "test_resnet"


def features(backbone: Backbone, frames: np.ndarray) -> torch.Tensor:
    with torch.inference_mode():
        return backbone.network(backbone.prepare(torch.from_numpy(frames).permute(0, 3, 1, 2)))


def test_pixels_are_scaled_and_normalised() -> None:
    backbone = load_backbone(TINY, "random", size=4)
    frames = torch.arange(48, dtype=torch.uint8).view(1, 3, 4, 4)
    expected = (frames.float() - torch.tensor(backbone.mean).view(3, 1, 1)) / torch.tensor(backbone.std).view(
        3, 1, 1
    )
    torch.testing.assert_close(backbone.prepare(frames), expected)
    assert backbone.prepare(torch.zeros(2, 3, 9, 7, dtype=torch.uint8)).shape == (2, 3, 4, 4)


def test_augnets_resnet50_equals_torchvisions_with_the_same_tensors() -> None:
    torch.set_num_threads(1)
    path = packaged("resnet50-augnet")
    whole = {
        key.removeprefix("module.").removeprefix("pre."): value for key, value in read_state(path).items()
    }
    independent = torchvision.models.resnet50(num_classes=768)  # as many as AugNet's embedding has numbers
    independent.load_state_dict(whole)
    independent.fc = torch.nn.Identity()
    backbone = load_backbone("resnet50-augnet")
    frames = palace_and_flower()
    mean, std = (torch.tensor(v).view(3, 1, 1) for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    with torch.inference_mode():
        pixels = (torch.from_numpy(frames).permute(0, 3, 1, 2).float() / 255 - mean) / std
        expected = independent.eval()(pixels)
    torch.testing.assert_close(features(backbone, frames), expected, atol=1e-4, rtol=1e-4)
    assert backbone.dim == 2048
    assert backbone.fingerprint["weights"] == PACKAGED["resnet50-augnet"][1]


def test_random_weights_follow_their_seed_and_move_no_other_generator() -> None:
    before = torch.get_rng_state()
    one, same, other = (load_backbone(TINY, weights) for weights in ("random:7", "random:7", "random:8"))
    torch.testing.assert_close(torch.get_rng_state(), before)
    assert one.fingerprint == same.fingerprint
    assert one.fingerprint["weights"] != other.fingerprint["weights"]
    torch.testing.assert_close(one.network.state_dict(), same.network.state_dict())


@pytest.mark.parametrize("name", ["mine.pth", "mine.safetensors"])
def test_a_local_file(tmp_path: Path, name: str) -> None:
    whole = architecture(TINY).empty(5)
    path = tmp_path / name
    if path.suffix == ".pth":
        torch.save(whole.state_dict(), path)
    else:
        safetensors.torch.save_file(whole.state_dict(), path)
    backbone = load_backbone(TINY, path)
    assert backbone.fingerprint["weights"] == sha256(path)
    assert backbone.fingerprint["source"] == f"file {name}"
    frames = crops(2)
    with torch.inference_mode():
        pixels = backbone.prepare(torch.from_numpy(frames).permute(0, 3, 1, 2))
        pooled = whole.forward_head(whole.forward_features(pixels), pre_logits=True)  # type: ignore[operator]
    torch.testing.assert_close(features(backbone, frames), pooled)


def test_what_a_fingerprint_tells_is_built_again() -> None:
    backbone = load_backbone(TINY, "random:3", size=96)
    again = empty_backbone(backbone.fingerprint)
    again.network.load_state_dict(backbone.network.state_dict())
    frames = crops(2)
    torch.testing.assert_close(features(again, frames), features(backbone, frames))
    assert again.identity() == backbone.identity()
    assert again.fingerprint == backbone.fingerprint


def test_what_cannot_be_had_is_said() -> None:
    with pytest.raises(UserError, match=r"no package carries weights of 'test_resnet'.*'hub'.*'random'"):
        load_backbone(TINY)
    with pytest.raises(UserError, match=r"in a package, not in timm's hub.*tf_efficientnet_lite0"):
        load_backbone("efficientnet-lite0", "hub")
    with pytest.raises(UserError, match=r"'random:x' has no seed.*random:7"):
        load_backbone(TINY, "random:x")
    with pytest.raises(UserError, match=r"nowhere\.pth: no such file of weights"):
        load_backbone(TINY, "nowhere.pth")
    with pytest.raises(UserError, match=r"'vit_tiny_patch16_224' can't take frames of 8 pixels"):
        load_backbone("vit_tiny_patch16_224", "random", size=8)


def test_the_hub_without_a_network_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise OSError("no route\nto host")

    monkeypatch.setattr("devcem.encoders.architecture.timm.create_model", unreachable)
    with pytest.raises(UserError, match=r"can't be fetched \(no route\)\. Remedy: .*pass the file"):
        load_backbone("tv_resnet50.tv_in1k", "hub")
