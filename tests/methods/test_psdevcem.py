"""The six presets against the paper's formulas written out in NumPy, one frame at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from devcem.errors import UserError
from devcem.methods import Bag, collate, create

Array = np.ndarray[Any, Any]
D, K, HIDDEN, L = 5, 3, 4, 3
PRESETS = ["ps-devcem", "ps-devcem-no-selfsup", "guided-lstm", "atten-lstm", "atten-conv-lstm", "atten-conv"]
# what the paper's section 4 says of each: attention from, residual, self-supervision, weighted input
TRAITS = {
    "ps-devcem": ("h", True, True, False),
    "ps-devcem-no-selfsup": ("h", True, False, False),
    "guided-lstm": ("h", False, True, False),
    "atten-lstm": ("h", False, False, False),
    "atten-conv-lstm": ("x", False, False, False),
    "atten-conv": ("x", False, False, True),
}


def sigmoid(z: Array) -> Array:
    return 1 / (1 + np.exp(-z))


def one_direction(x: Array, p: dict[str, Array], suffix: str) -> Array:
    """An LSTM over [T,D], in torch's order of gates: input, forget, cell, output."""
    h, c, states = np.zeros(HIDDEN), np.zeros(HIDDEN), []
    for frame in x:
        z = p[f"weight_ih_{suffix}"] @ frame + p[f"bias_ih_{suffix}"]
        z = z + p[f"weight_hh_{suffix}"] @ h + p[f"bias_hh_{suffix}"]
        i, f, g, o = np.split(z, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        states.append(h)
    return np.array(states)


def bilstm(x: Array, p: dict[str, Array]) -> Array:
    for layer in (0, 1):
        forward = one_direction(x, p, f"l{layer}")
        backward = one_direction(x[::-1], p, f"l{layer}_reverse")[::-1]
        x = np.concatenate([forward, backward], axis=1)
    return x


def reference(name: str, p: dict[str, Array], x: Array) -> dict[str, Array]:
    """Attention (Eq. 4, 7), video logits (Eq. 3 or AttenConv's last state), sums over the bag's two sides."""
    attend_from, residual, selfsup, rescale = TRAITS[name]
    lstm = {key.removeprefix("temporal.lstm."): value for key, value in p.items() if "lstm" in key}

    def attention(seen: Array) -> Array:
        v, w = (p["attention.hidden.weight"], p["attention.hidden.bias"]), p["attention.score.weight"][0]
        scores = np.array([w @ np.tanh(v[0] @ one + v[1]) for one in seen])
        return np.exp(scores) / np.exp(scores).sum()

    if attend_from == "x":
        a = attention(x)
    h = bilstm(a[:, None] * x if rescale else x, lstm)
    if residual:
        h = h + x @ p["residual.weight"].T + p["residual.bias"]
    if attend_from == "h":
        a = attention(h)
    z = np.concatenate([h[-1, :HIDDEN], h[0, HIDDEN:]]) if rescale else (a[:, None] * h).sum(0)
    found = {"attention": a, "video_logits": p["head.weight"] @ z + p["head.bias"], "h": h}
    if selfsup:
        high = a > 1 / len(a)
        g = [p["selfsup.classifier.weight"][0] @ h[side].sum(0) for side in (high, ~high)]
        found["g"] = sigmoid(np.array(g) + p["selfsup.classifier.bias"][0])
    return found


@pytest.mark.parametrize("name", PRESETS)
def test_against_the_formulas(name: str) -> None:
    torch.manual_seed(2)
    method = create(name, num_classes=K, feature_dim=D, hidden=HIDDEN, attention_dim=L).eval()
    labels = torch.tensor([[1.0, 0, 0], [0, 1, 1], [0, 0, 0]])
    drawn = [2 * torch.randn(length, D) for length in (6, 2, 9)]
    bags = [Bag(str(i), labels[i], torch.ones(K).bool(), drawn[i]) for i in range(3)]
    batch = collate(bags)
    assert batch.features is not None
    output = method(batch.features, batch.mask)
    p = {key: value.double().numpy() for key, value in method.state_dict().items()}
    video, bag = 0.0, 0.0
    for i, x in enumerate(drawn):
        wanted = reference(name, p, x.double().numpy())
        n = len(x)
        for part in ("attention", "video_logits"):
            got = getattr(output, part)[i].detach().numpy()
            np.testing.assert_allclose(got[:n] if part == "attention" else got, wanted[part], atol=1e-5)
        frames = wanted["h"] @ p["head.weight"].T + p["head.bias"]
        np.testing.assert_allclose(output.frame_logits[i, :n].detach().numpy(), frames, atol=1e-5)
        y, g = sigmoid(wanted["video_logits"]), labels[i].numpy()
        video -= (g * np.log(y) + (1 - g) * np.log(1 - y)).mean() / 3
        if "g" in wanted:
            bag -= (np.log(wanted["g"][0]) + np.log(1 - wanted["g"][1])) / 2 / 3
    terms = method.loss(output, batch)
    assert terms["video"].item() == pytest.approx(video, abs=1e-5)
    assert terms["total"].item() == pytest.approx(video + bag, abs=1e-5)
    assert ("selfsup" in terms) == TRAITS[name][2]


def test_lambda_weighs_self_supervision() -> None:
    torch.manual_seed(0)
    method = create("ps-devcem", num_classes=K, feature_dim=D, hidden=4, selfsup_weight=0.25)
    batch = collate([Bag("a", torch.ones(K), torch.ones(K).bool(), torch.randn(5, D))])
    assert batch.features is not None
    terms = method.loss(method(batch.features, batch.mask), batch)
    assert terms["selfsup"] > 0
    torch.testing.assert_close(terms["total"], terms["video"] + 0.25 * terms["selfsup"])


def test_both_features_may_be_attended_from() -> None:
    """`attention=hx`: the paper's "h_i and extracted feature x_i"."""
    torch.manual_seed(0)
    method = create("atten-lstm", num_classes=K, feature_dim=D, hidden=HIDDEN, attention="hx").eval()
    x = torch.randn(1, 4, D)
    h = method.temporal.lstm(x)[0]
    seen = torch.cat([h, x], dim=2)
    scores = method.attention.score(method.attention.hidden(seen).tanh()).squeeze(-1)
    torch.testing.assert_close(method(x, torch.ones(1, 4).bool()).attention, scores.softmax(1))


def test_weighted_frames_need_attention_from_frames() -> None:
    with pytest.raises(UserError, match="attention=x"):
        create("ps-devcem", num_classes=K, feature_dim=D, rescale=True)


def test_self_supervision_reaches_no_attention() -> None:
    """The choice of sides is hard, so that its term alone moves neither V nor w."""
    torch.manual_seed(0)
    method = create("ps-devcem", num_classes=K, feature_dim=D, hidden=4)
    batch = collate([Bag("a", torch.ones(K), torch.ones(K).bool(), torch.randn(5, D))])
    assert batch.features is not None
    method.loss(method(batch.features, batch.mask), batch)["selfsup"].backward()
    assert all(p.grad is None or not p.grad.any() for p in method.attention.parameters())
    assert method.residual.weight.grad.any()
