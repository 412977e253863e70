from __future__ import annotations

import pytest
import torch

from devcem.methods import Method, create


def identity(name: str) -> Method:
    """Two classes whose logits are the two features."""
    method = create(name, num_classes=2, feature_dim=2)
    torch.nn.init.eye_(method.head.weight)
    torch.nn.init.zeros_(method.head.bias)
    return method


FEATURES = torch.tensor([[[1.0, 4], [3, 4], [2, 1]], [[-1, -2], [9, 9], [9, 9]]])
MASK = torch.tensor([[True, True, True], [True, False, False]])


def test_mean_by_hand() -> None:
    output = identity("mean-pool")(FEATURES, MASK)
    torch.testing.assert_close(output.video_logits, torch.tensor([[2.0, 3], [-1, -2]]))
    torch.testing.assert_close(output.attention, torch.tensor([[1 / 3] * 3, [1, 0, 0]]))
    assert output.frame_logits[0].tolist() == [[1, 4], [3, 4], [2, 1]]
    assert output.frame_logits[1].tolist() == [[-1, -2], [0, 0], [0, 0]]


def test_maximum_by_hand() -> None:
    """The second class ties between two frames, which share its weight."""
    output = identity("max-pool")(FEATURES, MASK)
    assert output.video_logits.tolist() == [[3, 4], [-1, -2]]
    wanted = [[[0, 0.5], [1, 0.5], [0, 0]], [[1, 1], [0, 0], [0, 0]]]
    assert output.extras["class_attention"].tolist() == wanted
    assert output.attention.tolist() == [[0.25, 0.75, 0], [1, 0, 0]]


def test_scores_are_sigmoids() -> None:
    method = identity("max-pool")
    output = method(FEATURES, MASK)
    assert method.scores(output)[0].tolist() == pytest.approx([0.952574, 0.982014], abs=1e-6)
    assert method.frame_scores(output)[0, 0].tolist() == pytest.approx([0.731059, 0.982014], abs=1e-6)


@pytest.mark.parametrize("wrong", [torch.ones(3), torch.tensor([-1.0, 1]), torch.tensor([float("inf"), 1])])
def test_weights_are_checked(wrong: torch.Tensor) -> None:
    for which in ("positive", "classes"):
        with pytest.raises(ValueError, match="2 finite numbers of at least 0"):
            identity("mean-pool").weigh(**{which: wrong})
