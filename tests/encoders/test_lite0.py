"""The packaged EfficientNet-Lite0 is what it claims to be: by hand, by sight and by its own statistics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import timm
import torch
import torch.nn.functional as F
from photographs import crops, palace_and_flower

from devcem.encoders.architecture import architecture
from devcem.encoders.weights import State, packaged, read_state
from devcem.errors import UserError

LITE0 = architecture("efficientnet-lite0")


@pytest.fixture(scope="module")
def state() -> State:
    return read_state(packaged("efficientnet-lite0"))


@pytest.fixture(scope="module")
def network(state: State) -> torch.nn.Module:
    torch.set_num_threads(1)
    return LITE0.filled(state, Path("weights.pth"))


def prepared(frames: np.ndarray) -> torch.Tensor:
    return (torch.from_numpy(frames).permute(0, 3, 1, 2).float() - 127) / 128


def by_hand(state: State, x: torch.Tensor) -> torch.Tensor:
    """EfficientNet-Lite0 from the file's own keys: "same" padding, epsilon 1e-3, ReLU6 everywhere."""

    def conv(x: torch.Tensor, key: str, stride: int = 1) -> torch.Tensor:
        weight = state[f"{key}.weight"]
        size = weight.shape[-1]
        lack = max((-(-x.shape[-1] // stride) - 1) * stride + size - x.shape[-1], 0)
        x = F.pad(x, [lack // 2, lack - lack // 2] * 2)  # the odd pixel goes right and below
        return F.conv2d(x, weight, stride=stride, groups=x.shape[1] if weight.shape[1] == 1 else 1)

    def norm(x: torch.Tensor, key: str) -> torch.Tensor:
        mean, var, gain, bias = (
            state[f"{key}.{name}"].view(-1, 1, 1)
            for name in ("running_mean", "running_var", "weight", "bias")
        )
        return (x - mean) / torch.sqrt(var + 1e-3) * gain + bias

    x = F.relu6(norm(conv(x, "_conv_stem", 2), "_bn0"))
    for block in range(16):
        key, before = f"_blocks.{block}.", x
        if block:
            x = F.relu6(norm(conv(x, key + "_expand_conv"), key + "_bn0"))
        stride = 2 if block in (1, 3, 5, 11) else 1
        x = F.relu6(norm(conv(x, key + "_depthwise_conv", stride), key + "_bn1"))
        x = norm(conv(x, key + "_project_conv"), key + "_bn2")
        x = x + before if x.shape == before.shape else x
    x = F.relu6(norm(conv(x, "_conv_head"), "_bn1"))
    return F.linear(x.mean((2, 3)), state["_fc.weight"], state["_fc.bias"])


def test_every_tensor_finds_its_place(state: State, network: torch.nn.Module) -> None:
    placed = {LITE0.rename(key) for key in state}
    assert placed == set(network.state_dict())
    assert len(placed) == len(state)
    assert sum(value.numel() for value in network.parameters()) == 4_652_008  # as published


def test_logits_equal_those_written_out_by_hand(state: State, network: torch.nn.Module) -> None:
    frames = prepared(palace_and_flower())
    with torch.inference_mode():
        torch.testing.assert_close(network(frames), by_hand(state, frames), atol=1e-4, rtol=1e-4)


def test_photographs_are_recognised(network: torch.nn.Module) -> None:
    with torch.inference_mode():
        chances = network(prepared(palace_and_flower())).softmax(1)
    palace, daisy = 698, 985
    assert chances.argmax(1).tolist() == [palace, daisy]


def test_its_running_statistics_fit_these_pixels_and_this_padding_best(state: State) -> None:
    """Batch norm remembers the variances it was trained on: they tell right preprocessing from wrong."""
    pixels = torch.from_numpy(crops(16)).permute(0, 3, 1, 2).float()

    def misfit(architecture: str, mean: object, std: object) -> float:
        network = timm.create_model(architecture)
        network.load_state_dict({LITE0.rename(key): value for key, value in state.items()})
        logs: list[float] = []

        def compare(norm: torch.nn.BatchNorm2d, inputs: tuple[torch.Tensor]) -> None:
            seen, remembered = inputs[0].var((0, 2, 3)), norm.running_var
            logs.append(float((torch.log(seen + 1e-3) - torch.log(remembered + 1e-3)).mean()))

        for module in network.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.register_forward_pre_hook(compare)
        with torch.inference_mode():
            network.eval()((pixels - mean) / std)
        return float(np.abs(logs).mean())

    imagenet = torch.tensor([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]]).view(2, 3, 1, 1) * 255
    ours = misfit(LITE0.timm_name, LITE0.mean[0], LITE0.std[0])
    assert ours < 0.2
    assert ours < 0.9 * misfit("efficientnet_lite0", 127, 128)  # PyTorch's padding and epsilon
    assert ours < 0.6 * misfit(LITE0.timm_name, 0, 255)
    assert ours < 0.6 * misfit(LITE0.timm_name, *imagenet)


def test_weights_that_do_not_fit_are_named(state: State) -> None:
    wrong = dict(state)
    del wrong["_conv_stem.weight"]
    wrong["extra.weight"] = torch.zeros(1)
    wrong["_fc.bias"] = torch.zeros(7)
    wrong["_bn0.bias"] = torch.zeros(7)
    with pytest.raises(UserError) as caught:
        LITE0.filled(wrong, Path("mine.pth"))
    message = str(caught.value)
    assert message.startswith(
        "mine.pth: the weights do not fit tf_efficientnet_lite0: conv_stem.weight is missing"
    )
    assert "extra.weight is unexpected" in message
    assert "and 1 more" in message


def test_timms_own_keys_fit_too(network: torch.nn.Module) -> None:
    again = LITE0.filled(network.state_dict(), Path("timm.pth"))
    torch.testing.assert_close(again.state_dict(), network.state_dict())
