"""Folded and plain networks compute the same, forwards and backwards."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

from devcem.encoders import load_backbone
from devcem.training.folding import folded, pairs

SIZE = 64


def network(name: str) -> nn.Module:
    """Statistics and scales as if it had been trained, in float64."""
    built = load_backbone(name, "random", SIZE).network.double()
    torch.manual_seed(0)
    for module in built.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, 0, 0.3)
            module.momentum = 1.0
    built.train()(pixels(8))
    return built.eval()


def pixels(rows: int = 2) -> Tensor:
    return torch.rand(rows, 3, SIZE, SIZE, generator=torch.Generator().manual_seed(1)).double()


def scales(of: nn.Module) -> list[str]:
    norms = [name for name, m in of.named_modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    return [f"{name}.weight" for name in norms]


def outcome(of: nn.Module) -> tuple[Tensor, dict[str, Tensor]]:
    of.zero_grad()
    output: Tensor = of(pixels())
    output.square().sum().backward()
    return output.detach(), {n: p.grad.clone() for n, p in of.named_parameters() if p.grad is not None}


@pytest.mark.parametrize(
    ("name", "least"), [("resnet18", 20), ("efficientnet-lite0", 44), ("densenet121", 50), ("vgg11_bn", 8)]
)
def test_folding_changes_neither_features_nor_gradients(name: str, least: int) -> None:
    built = network(name)
    plain = outcome(built)
    found = pairs(built, pixels(1))
    assert len(found) >= least
    with folded(found):
        quick = outcome(built)
    torch.testing.assert_close(quick, plain, rtol=1e-9, atol=1e-9)
    assert all(bool(quick[1][key].abs().max() > 0) for key in scales(built))


def test_outside_the_context_nothing_is_left_of_it() -> None:
    built = network("resnet18")
    names, found = [*built.state_dict()], pairs(built, pixels(1))
    with pytest.raises(KeyboardInterrupt), folded(found):
        assert found[0][0].forward.func is not nn.Conv2d.forward  # type: ignore[attr-defined]
        raise KeyboardInterrupt
    assert not any("forward" in vars(module) for module in built.modules())
    assert [*copy.deepcopy(built).state_dict()] == names


class Twice(nn.Module):
    """What the norm reads is read by another as well: the norm can't be folded away."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)
        nn.init.constant_(self.norm.weight, 0.5)

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x)
        return (self.norm(y) + y).mean((2, 3))


class Again(Twice):
    """One convolution before the norm, and once more without it."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.norm(self.conv(x)).mean((2, 3)), self.conv(x).mean((2, 3))], 1)


@pytest.mark.parametrize("kind", [Twice, Again])
def test_a_convolution_that_others_read_is_left_alone(kind: type[Twice]) -> None:
    assert pairs(kind().double(), pixels(1)) == []


def test_less_is_kept_for_the_backward_pass() -> None:
    built, kept = network("resnet18"), []
    found = pairs(built, pixels(1))

    def count(tensor: Tensor) -> Tensor:
        kept.append(tensor.numel() if tensor.dim() == 4 and len(tensor) == 8 else 0)  # activations
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        built(pixels(8))
        plain = sum(kept)
        kept.clear()
        with folded(found):
            built(pixels(8))
    assert sum(kept) < 0.8 * plain
