"""mi-Net, MI-Net and the smoothness of frames, by hand and against NumPy."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
import torch
from torch import Tensor

from devcem.methods import Bag, MILOutput, collate, create
from devcem.methods.smoothness import similarity, smoothness_loss

MASK = torch.tensor([[True] * 4, [True, True, False, False]])


def layers(method: torch.nn.Module, x: np.ndarray) -> np.ndarray:
    """The three ReLU layers, in NumPy."""
    p = {name: value.double().numpy() for name, value in method.state_dict().items()}
    for index in (0, 2, 4):
        x = np.maximum(x @ p[f"embedding.{index}.weight"].T + p[f"embedding.{index}.bias"], 0)
    return x


def made(name: str) -> tuple[torch.nn.Module, Tensor, MILOutput]:
    torch.manual_seed(1)
    method = create(name, num_classes=3, feature_dim=5).eval()
    with torch.no_grad():
        for parameter in method.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))  # biases begin at 0
    x = torch.randn(2, 4, 5)
    return method, x, method(x, MASK)


def test_mi_net_pools_scores() -> None:
    method, x, output = made("mi-net")
    w, b = method.head.weight.detach().double().numpy(), method.head.bias.detach().double().numpy()
    for i, n in enumerate((4, 2)):
        logits = layers(method, x[i, :n].double().numpy()) @ w.T + b
        np.testing.assert_allclose(output.frame_logits[i, :n].detach().numpy(), logits, atol=1e-5)
        np.testing.assert_allclose(output.video_logits[i].detach().numpy(), logits.max(0), atol=1e-5)
        chosen = output.extras["class_attention"][i, :n].argmax(0).tolist()
        assert chosen == logits.argmax(0).tolist()
        counts = np.bincount(chosen, minlength=n) / 3
        np.testing.assert_allclose(output.attention[i, :n].numpy(), counts, atol=1e-6)


def test_mi_net_embedding_pools_features() -> None:
    method, x, output = made("mi-net-embedding")
    w, b = method.head.weight.detach().double().numpy(), method.head.bias.detach().double().numpy()
    for i, n in enumerate((4, 2)):
        h = layers(method, x[i, :n].double().numpy())  # [n,64]
        np.testing.assert_allclose(output.video_logits[i].detach().numpy(), w @ h.max(0) + b, atol=1e-5)
        np.testing.assert_allclose(output.frame_logits[i, :n].detach().numpy(), h @ w.T + b, atol=1e-5)
        top = h == h.max(0)
        wanted = (top / top.sum(0)).mean(1)
        np.testing.assert_allclose(output.attention[i, :n].detach().numpy(), wanted, atol=1e-6)


def test_layers_begin_as_in_keras() -> None:
    """Glorot's uniform weights, within sqrt(6 / (in + out)), and biases of 0."""
    torch.manual_seed(0)
    for name in ("mi-net", "mi-net-embedding", "w-talc"):
        method = create(name, num_classes=3, feature_dim=200)
        for layer in method.modules():
            if isinstance(layer, torch.nn.Linear):
                bound = (6 / sum(layer.weight.shape)) ** 0.5
                assert 0.9 * bound < layer.weight.abs().max() <= bound
                assert not layer.bias.any()


X = torch.tensor([[[0.0], [1.0], [3.0]], [[0.0], [2.0], [99.0]]])
REAL = torch.tensor([[True, True, True], [True, True, False]])


def test_similarity_by_hand() -> None:
    """|x - x'|^2 is 1, 9, 4 between the three frames, 4 between the two."""
    found = similarity(X, REAL, gamma=0.5)
    first = [[1, exp(-0.5), exp(-4.5)], [exp(-0.5), 1, exp(-2)], [exp(-4.5), exp(-2), 1]]
    torch.testing.assert_close(found[0], torch.tensor(first))
    torch.testing.assert_close(found[1], torch.tensor([[1, exp(-2), 0], [exp(-2), 1, 0], [0.0, 0, 0]]))


def test_similarity_by_the_bags_own_scale() -> None:
    """The means are (1 + 9 + 4) / 3 = 14/3 and 4; equal frames, and one alone, are like themselves."""
    found = similarity(X, REAL)
    assert found[0, 0].tolist() == pytest.approx([1, exp(-3 / 14), exp(-27 / 14)])
    assert found[1, 0].tolist() == pytest.approx([1, exp(-1), 0])
    torch.testing.assert_close(similarity(1000 * X, REAL), found)
    assert similarity(torch.ones(1, 3, 2), torch.ones(1, 3).bool()).tolist() == [[[1] * 3] * 3]
    assert similarity(torch.ones(1, 1, 2), torch.ones(1, 1).bool()).tolist() == [[[1]]]


def test_smoothness_by_hand() -> None:
    """Two frames alike by 1/2 that score 0.9 and 0.1: both orders of the pair, 2 x 1/2 x 0.64, over 2 x 2
    pairs. The second class scores alike and costs nothing; a bag of one frame neither."""
    alike = torch.tensor([[[1, 0.5], [0.5, 1]], [[1, 0], [0, 0]]])
    mask = torch.tensor([[True, True], [True, False]])
    scores = torch.tensor([[[0.9, 0.3], [0.1, 0.3]], [[0.9, 0.1], [0.5, 0.5]]])
    weight = torch.ones(2, 2)
    assert smoothness_loss(scores, alike, mask, weight).item() == pytest.approx((0.16 + 0) / 2 / 2)
    first = torch.tensor([[1.0, 0], [1, 0]])
    assert smoothness_loss(scores, alike, mask, first).item() == pytest.approx(0.16 / 2)
    assert smoothness_loss(scores, alike, mask, torch.zeros(2, 2)) == 0


def test_smoothness_gradients() -> None:
    torch.manual_seed(0)
    scores = torch.rand(2, 3, 2, dtype=torch.float64, requires_grad=True)
    alike, weight = similarity(X, REAL).double(), torch.tensor([[1.0, 2], [0, 1]])
    assert torch.autograd.gradcheck(lambda s: smoothness_loss(s, alike, REAL, weight), scores)


def test_smoothness_is_an_option_of_mi_net() -> None:
    torch.manual_seed(0)
    bag = Bag("a", torch.tensor([1.0, 0]), torch.tensor([True, False]), torch.randn(4, 3))
    batch = collate([bag])
    assert batch.features is not None
    method = create("mi-net", num_classes=2, feature_dim=3, smoothness=0.5, dropout=0.0)
    output = method(batch.features, batch.mask)
    terms = method.loss(output, batch)
    scores = output.frame_logits.sigmoid()[..., :1]  # the second class is not known
    alike = similarity(batch.features, batch.mask)
    apart = (scores - scores.transpose(1, 2)).square()
    torch.testing.assert_close(terms["smoothness"], (alike * apart).mean())
    torch.testing.assert_close(terms["total"], terms["video"] + 0.5 * terms["smoothness"])
    assert "smoothness" not in create("mi-net", num_classes=2, feature_dim=3).loss(output, batch)
