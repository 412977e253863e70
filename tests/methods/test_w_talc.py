"""W-TALC's terms by hand, against the formulas frame by frame in NumPy, and by numeric gradients."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
import torch
from torch import Tensor

from devcem.methods import Bag, Method, collate, create
from devcem.methods.w_talc import co_activity, co_activity_loss, mil_loss, shared_classes

ONES = torch.ones(2)
ALL = torch.ones(2).bool()


def mil(
    logits: list[list[float]],
    labels: list[list[float]],
    known: list[list[int]] | None = None,
    positive: Tensor | None = None,
    classes: Tensor | None = None,
) -> float:
    shape = len(logits), len(logits[0])
    mask = torch.ones(shape).bool() if known is None else torch.tensor(known).bool()
    ones = torch.ones(shape[1])
    weights = ones if positive is None else positive, ones if classes is None else classes
    return float(mil_loss(torch.tensor(logits), torch.tensor(labels), mask, *weights))


def test_mil_by_hand() -> None:
    """Softmax of (log 3, 0) is (3/4, 1/4). One label: -log of its share. Two: each has half the weight."""
    logits = [[log(3), 0.0]]
    assert mil(logits, [[1, 0]]) == pytest.approx(log(4 / 3))
    assert mil(logits, [[0, 1]]) == pytest.approx(log(4))
    assert mil(logits, [[1, 1]]) == pytest.approx((log(4 / 3) + log(4)) / 2)


def test_bags_without_labels_count_as_nothing() -> None:
    """They are skipped, and stand in the mean over bags."""
    assert mil([[log(3), 0]], [[0, 0]]) == 0
    assert mil([[log(3), 0], [5, 1]], [[1, 0], [0, 0]]) == pytest.approx(log(4 / 3) / 2)
    assert mil([[log(3), 0]], [[1, 0]], [[0, 1]]) == 0  # its label is not known


def test_unknown_classes_are_in_no_softmax() -> None:
    """Of (log 3, 0, 9) with the third unknown, the first has 3/4; its own label there means nothing."""
    for label in (0.0, 1.0, float("nan")):
        assert mil([[log(3), 0, 9]], [[1, 0, label]], [[1, 1, 0]]) == pytest.approx(log(4 / 3))
    logits = torch.tensor([[log(3), 0, float("nan")]], requires_grad=True)
    known = torch.tensor([[True, True, False]])
    mil_loss(logits, torch.tensor([[1.0, 0, 1]]), known, torch.ones(3), torch.ones(3)).backward()
    assert logits.grad is not None  # softmax - target: 3/4 - 1, 1/4
    assert logits.grad[0].tolist() == [pytest.approx(-0.25), pytest.approx(0.25), 0.0]


def test_mil_weights_by_hand() -> None:
    """Class weights 3 and 1 split the labels 3/4, 1/4; positive weights 2 and 10 multiply what each costs."""
    both = [[log(3), 0.0]], [[1.0, 1.0]]
    weighed = mil(*both, classes=torch.tensor([3.0, 1.0]))
    assert weighed == pytest.approx(0.75 * log(4 / 3) + 0.25 * log(4))
    costly = mil(*both, positive=torch.tensor([2.0, 10.0]))
    assert costly == pytest.approx((2 * log(4 / 3) + 10 * log(4)) / 2)
    assert mil([[log(3), 0]], [[0, 1]], classes=torch.tensor([1.0, 0.0])) == 0


def test_mil_gradients() -> None:
    labels = torch.tensor([[1.0, 0, 1], [0, 0, 0], [0, 1, 1]])
    known = torch.tensor([[1, 1, 1], [1, 1, 1], [0, 1, 1]]).bool()
    ones = torch.ones(3)

    logits = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: mil_loss(z, labels, known, ones, ones), logits)


def test_active_and_idle_by_hand() -> None:
    """Frames (1, 0), (0, 1), (2, 2) with logits log 2, log 1, log 1: a = 1/2, 1/4, 1/4.

    high = 1/2 (1, 0) + 1/4 (0, 1) + 1/4 (2, 2) = (1, 3/4)
    low = [1/2 (1, 0) + 3/4 (0, 1) + 3/4 (2, 2)] / 2 = (1, 9/8)
    """
    x = torch.tensor([[[1.0, 0], [0, 1], [2, 2], [9, 9]]])
    logits = torch.tensor([[[log(2)], [0.0], [0.0], [50.0]]])
    high, low = co_activity(x, logits, torch.tensor([[True, True, True, False]]))
    torch.testing.assert_close(high, torch.tensor([[[1.0, 0.75]]]))
    torch.testing.assert_close(low, torch.tensor([[[1.0, 1.125]]]))


def test_one_frame_is_active_and_nothing_is_idle() -> None:
    """T - 1 = 0 is taken for 1."""
    high, low = co_activity(torch.tensor([[[3.0, 4.0]]]), torch.tensor([[[7.0]]]), torch.ones(1, 1).bool())
    assert high.tolist() == [[[3, 4]]] and low.tolist() == [[[0, 0]]]


EAST, NORTH, NORTHEAST = [1.0, 0.0], [0.0, 2.0], [3.0, 3.0]
COS = 0.5**0.5  # of 45 degrees


@pytest.mark.parametrize(
    ("high1", "high2", "low1", "low2", "wanted"),
    [
        # active alike (d = 0), idle at right angles (d = 1): 0 - 1 + 1/2 < 0 on both sides
        (EAST, EAST, NORTH, NORTH, 0.0),
        # active at right angles (1), each idle part like the other's active one (0): 1 - 0 + 1/2, twice
        (EAST, NORTH, NORTH, EAST, 1.5),
        # d(high1, high2) = 1 - cos; d(high1, low2) = 0: 1 - cos + 1/2; d(low1, high2) = 1 - cos: 1/2
        (EAST, NORTHEAST, NORTH, EAST, ((1 - COS + 0.5) + 0.5) / 2),
        # nothing idle, as in bags of one frame: distance 1 to everything, and 0 - 1 + 1/2 < 0
        (EAST, EAST, [0.0, 0.0], [0.0, 0.0], 0.0),
    ],
)
def test_hinge_by_hand(
    high1: list[float], high2: list[float], low1: list[float], low2: list[float], wanted: float
) -> None:
    high, low = torch.tensor([[high1], [high2]]), torch.tensor([[low1], [low2]])
    pairs = torch.tensor([[0, 1]])
    found = co_activity_loss(high, low, pairs, torch.ones(1, 1))
    assert found.tolist() == [pytest.approx(wanted)]
    turned = co_activity_loss(high, low, pairs.flip(1), torch.ones(1, 1))
    assert turned.tolist() == [pytest.approx(wanted)]  # symmetric


def test_a_pair_is_the_mean_over_the_classes_it_shares() -> None:
    """Class 0 costs 1.5, class 1 nothing (both from above): shared both 0.75, one 1.5 or 0, none 0."""
    high = torch.tensor([[EAST, EAST], [NORTH, EAST]])
    low = torch.tensor([[NORTH, NORTH], [EAST, NORTH]])
    pairs = torch.tensor([[0, 1]])
    for shared, wanted in (
        ([1.0, 1], 0.75),
        ([1.0, 0], 1.5),
        ([0.0, 1], 0),
        ([0.0, 0], 0),
        ([3.0, 1], 1.125),
    ):
        found = co_activity_loss(high, low, pairs, torch.tensor([shared]))
        assert found.tolist() == [pytest.approx(wanted)]
    wide = co_activity_loss(high, low, pairs, torch.tensor([[1.0, 0]]), margin=2.0)
    assert wide.tolist() == [pytest.approx(3.0)]  # 1 - 0 + 2


def test_a_class_is_shared_where_both_are_known_to_carry_it() -> None:
    labels = torch.tensor([[1.0, 1, 0, 1], [1, 1, 1, 0]])
    known = torch.tensor([[1, 1, 1, 1], [1, 0, 1, 1]]).bool()
    assert shared_classes(labels, known, torch.tensor([[0, 1]])).tolist() == [[True, False, False, False]]


def test_co_activity_gradients() -> None:
    torch.manual_seed(3)
    x = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    logits = torch.randn(2, 4, 2, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])

    def cost(x: Tensor, logits: Tensor) -> Tensor:
        high, low = co_activity(x, logits, mask)
        return co_activity_loss(high, low, torch.tensor([[0, 1]]), torch.ones(1, 2), 3.0)  # hinges open

    assert torch.autograd.gradcheck(cost, (x, logits))


def test_no_activity_has_no_angle_and_a_finite_gradient() -> None:
    high = torch.zeros(2, 1, 3, requires_grad=True)
    co_activity_loss(high, torch.zeros(2, 1, 3), torch.tensor([[0, 1]]), torch.ones(1, 1)).sum().backward()
    assert high.grad is not None and high.grad.isfinite().all()


def identity(**options: object) -> Method:
    """Two classes whose logits are two features that are not negative."""
    method = create("w-talc", num_classes=2, feature_dim=2, dropout=0.0, **options)
    with torch.no_grad():
        for layer in (method.embedding[0], method.head):  # type: ignore[index]
            layer.weight.copy_(torch.eye(2))
            layer.bias.zero_()
    return method


def test_the_top_eighth_by_hand() -> None:
    """Nine frames: k = 2, and (5 + 4) / 2 for class 0; class 1 ties at the last place of three frames: 3, and
    one half of the weight is shared by the two that tie at 2."""
    first = [5.0, 4, 0, 0, 0, 0, 0, 0, 0]
    second = [0.0, 2, 2, 3, 0, 0, 0, 0, 0]
    x = torch.tensor([first, second]).T[None]
    output = identity()(x, torch.ones(1, 9).bool())
    assert output.video_logits.tolist() == [[4.5, 2.5]]
    weights = output.extras["class_attention"][0].T.tolist()
    assert weights == [[0.5, 0.5, 0, 0, 0, 0, 0, 0, 0], [0, 0.25, 0.25, 0.5, 0, 0, 0, 0, 0]]
    torch.testing.assert_close(output.attention[0, :5], torch.tensor([0.25, 0.375, 0.125, 0.25, 0]))


@pytest.mark.parametrize(("frames", "k"), [(1, 1), (7, 1), (8, 1), (9, 2), (16, 2), (17, 3), (30, 4)])
def test_k_counts_real_frames(frames: int, k: int) -> None:
    """As it counts T/8, rounded up; in a bag padded by 10 frames."""
    x = torch.zeros(1, frames + 10, 2)
    x[0, :frames, 0] = torch.arange(frames)
    output = identity()(x, torch.arange(frames + 10)[None] < frames)
    assert int((output.extras["class_attention"][0, :, 0] > 0).sum()) == k
    assert output.video_logits[0, 0].item() == pytest.approx(np.arange(frames)[-k:].mean())


def test_the_score_is_a_sigmoid_that_several_classes_may_pass() -> None:
    method = identity()
    output = method(torch.tensor([[[log(3), log(9)]]]), torch.ones(1, 1).bool())
    assert method.scores(output).tolist() == [[pytest.approx(0.75), pytest.approx(0.9)]]


def reference(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean of the top k, active and idle features [K,D] of one bag, in loops."""
    logits = x @ w.T + b
    k = -(-len(x) // 8)
    top = np.array([np.sort(column)[-k:].mean() for column in logits.T])
    active = np.exp(logits) / np.exp(logits).sum(0)
    high = np.array([sum(a * frame for a, frame in zip(column, x, strict=True)) for column in active.T])
    idle = (1 - active) / max(len(x) - 1, 1)
    low = np.array([sum(a * frame for a, frame in zip(column, x, strict=True)) for column in idle.T])
    return top, high, low


def test_against_the_formulas() -> None:
    """Three bags of 20, 3 and 9 frames, the first and the last a pair that shares class 1."""
    torch.manual_seed(5)
    method = create("w-talc", num_classes=3, feature_dim=6).eval()
    labels = np.array([[1.0, 1, 0], [0, 0, 1], [0, 1, 1]])
    drawn = [torch.randn(length, 6) for length in (20, 3, 9)]
    bags = [Bag(str(i), torch.tensor(labels[i]).float(), torch.ones(3).bool(), drawn[i]) for i in range(3)]
    batch = collate(bags, [(0, 2)])
    terms = method.loss(method(batch.features, batch.mask), batch)
    p = {name: value.double().numpy() for name, value in method.state_dict().items()}
    found = []
    for x in drawn:
        h = np.maximum(x.double().numpy() @ p["embedding.0.weight"].T + p["embedding.0.bias"], 0)
        found.append(reference(h, p["head.weight"], p["head.bias"]))
    video = 0.0
    for (top, _, _), row in zip(found, labels, strict=True):
        video -= (row / row.sum() * np.log(np.exp(top) / np.exp(top).sum())).sum() / 3

    def d(one: np.ndarray, two: np.ndarray) -> float:
        return float(1 - one @ two / (np.linalg.norm(one) * np.linalg.norm(two)))

    (_, high1, low1), (_, high2, low2) = found[0], found[2]
    near = d(high1[1], high2[1])
    together = 0.5 * max(0, near - d(high1[1], low2[1]) + 0.5) + 0.5 * max(
        0, near - d(low1[1], high2[1]) + 0.5
    )
    assert together > 0
    assert terms["video"].item() == pytest.approx(video, abs=1e-5)
    assert terms["co_activity"].item() == pytest.approx(together, abs=1e-5)
    assert terms["total"].item() == pytest.approx(0.5 * video + 0.5 * together, abs=1e-5)


def test_without_pairs_there_is_no_co_activity() -> None:
    method = identity()
    bags = [Bag(name, ONES, ALL, torch.rand(3, 2)) for name in "ab"]
    terms = [method.loss(method(b.features, b.mask), b) for b in (collate(bags), collate(bags, [(0, 1)]))]
    assert terms[0]["co_activity"] == 0 < terms[1]["co_activity"]
    assert terms[0]["video"] == terms[1]["video"]


def test_the_softmax_is_of_means_of_logits() -> None:
    """One bag of two frames, k = 1: logits (1, 0) and (0, 2), top (1, 2): -log of e / (e + e^2)."""
    method = identity()
    batch = collate([Bag("a", torch.tensor([1.0, 0]), ALL, torch.tensor([[1.0, 0], [0, 2]]))])
    loss = method.loss(method(batch.features, batch.mask), batch)["video"].item()
    assert loss == pytest.approx(-log(exp(1) / (exp(1) + exp(2))))
