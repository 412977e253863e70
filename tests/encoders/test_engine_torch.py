from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from photographs import crops, palace_and_flower
from PIL import Image

from devcem.encoders import Backbone, TorchEncoder, load_backbone
from devcem.encoders.architecture import architecture
from devcem.encoders.weights import packaged, read_state
from devcem.errors import UserError

NAME = "efficientnet-lite0"


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    torch.set_num_threads(1)
    return load_backbone(NAME)


@pytest.fixture(scope="module")
def encoder(backbone: Backbone) -> TorchEncoder:
    return TorchEncoder(backbone)


def test_features_are_what_stands_before_the_classifier(encoder: TorchEncoder) -> None:
    frames = palace_and_flower()
    whole = architecture(NAME).filled(read_state(packaged(NAME)), Path())
    features = encoder.encode(frames)
    assert features.shape == (2, encoder.dim) == (2, 1280)
    assert features.dtype == np.float32
    with torch.inference_mode():
        logits = whole((torch.from_numpy(frames).permute(0, 3, 1, 2).float() - 127) / 128)
        ours = whole.classifier(torch.from_numpy(features))  # type: ignore[operator]
    torch.testing.assert_close(ours, logits, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("batch", [1, 5, 64])
def test_the_batch_size_moves_features_by_rounding_alone(
    backbone: Backbone, encoder: TorchEncoder, batch: int
) -> None:
    frames = crops(12)
    features = encoder.encode(frames)
    difference = np.abs(TorchEncoder(backbone, batch=batch).encode(frames) - features).max()
    assert difference <= encoder.BATCH_BOUND * features.max()


def test_the_same_call_gives_the_same_bits(encoder: TorchEncoder) -> None:
    frames = crops(6)
    np.testing.assert_array_equal(encoder.encode(frames), encoder.encode(frames))


def test_each_frame_by_itself_and_in_order(encoder: TorchEncoder) -> None:
    frames = crops(10)
    turned = encoder.encode(frames[::-1])[::-1]
    np.testing.assert_allclose(turned, encoder.encode(frames), atol=1e-4)


def test_larger_frames_are_scaled(encoder: TorchEncoder) -> None:
    small = palace_and_flower()
    large = np.stack([np.asarray(Image.fromarray(frame).resize((448, 448))) for frame in small])
    one, other = encoder.encode(small), encoder.encode(large)
    cosine = (one @ other.T) / np.outer(np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1))
    assert np.diag(cosine).min() > 0.9
    assert cosine[0, 1] < 0.5  # another picture


def test_bf16_agrees(backbone: Backbone, encoder: TorchEncoder) -> None:
    frames = crops(12)
    exact, quick = encoder.encode(frames), TorchEncoder(backbone, precision="bf16").encode(frames)
    exact, quick = exact - exact.mean(0), quick - exact.mean(0)
    cosine = (exact * quick).sum(1) / np.linalg.norm(exact, axis=1) / np.linalg.norm(quick, axis=1)
    assert 0.97 < cosine.min() < 0.999999  # close, and really another arithmetic


def test_nothing_in_gives_nothing_out(encoder: TorchEncoder) -> None:
    assert encoder.encode(np.empty((0, 32, 32, 3), np.uint8)).shape == (0, 1280)


def test_the_fingerprint_names_all_that_decides(backbone: Backbone, encoder: TorchEncoder) -> None:
    known = encoder.fingerprint
    assert (known["encoder"], known["size"], known["precision"]) == (NAME, 224, "fp32")
    assert known["engine"] == "torch cpu"
    assert TorchEncoder(backbone, precision="bf16").fingerprint != known


def test_training_the_backbone_further_leaves_an_encoder_alone_and_changes_the_next() -> None:
    backbone = load_backbone("test_resnet", "random")
    frames = crops(2)
    encoder = TorchEncoder(backbone)
    features = encoder.encode(frames)
    with torch.no_grad():
        next(backbone.network.parameters()).add_(0.1)
    np.testing.assert_array_equal(encoder.encode(frames), features)
    trained = TorchEncoder(backbone)
    assert trained.fingerprint["weights"] != encoder.fingerprint["weights"]
    assert np.abs(trained.encode(frames) - features).max() > 1e-3


def test_a_device_that_is_not_there(backbone: Backbone) -> None:
    with pytest.raises(UserError, match=r"device 'cuda:99' can't be used here.*--device cpu"):
        TorchEncoder(backbone, "cuda:99")
