"""What every classical method must hold to, as `create` makes it: many labels over one kernel matrix.

A check takes a case, as in `contract`; `test_contract_classical` runs all of them over everything
classical that is registered.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import safetensors.torch
import torch
from contract_cases import JUNK, Case, D, K, answer, features_of, need, same
from sklearn.base import clone

from devcem.evaluation import multilabel_metrics
from devcem.methods import Bag, Batch, MILOutput, collate, create, describe, names
from devcem.methods.classical import BagEstimator, BagScaler, OneVsRest

N = 24
CLASS = 0  # that is looked at where one will do


@dataclass(frozen=True)
class Bags:
    """N bags of 1 to 6 frames; a label lifts one feature in one frame or more."""

    features: list[np.ndarray]
    labels: np.ndarray  # [N,K]
    known: np.ndarray  # [N,K]

    def only(self, chosen: np.ndarray) -> Bags:
        return Bags([self.features[i] for i in chosen], self.labels[chosen], self.known[chosen])


def some_bags(seed: int = 1, longest: int = 6) -> Bags:
    rng = np.random.default_rng(seed)
    labels = (np.arange(N)[:, None] >> np.arange(K)) % 2 == 1  # every combination, three times
    features = []
    for row in labels:
        bag = 0.4 * rng.standard_normal((int(rng.integers(1, longest + 1)), D))
        for k in np.flatnonzero(row):
            bag[rng.integers(len(bag), size=1 + len(bag) // 3), k] += 3
        features.append(bag.astype(np.float32))
    known = np.ones((N, K), bool)
    known[[0, 5, 9, 14], [0, 0, 0, 1]] = False
    return Bags(features, labels, known)


def fitted(case: Case, bags: Bags | None = None) -> OneVsRest:
    method = create(case.name, num_classes=K, feature_dim=D, **dict(case.options))
    assert isinstance(method, OneVsRest)
    bags = bags or some_bags()
    return method.fit(bags.features, bags.labels, bags.known)


def batch_of(bags: Bags) -> Batch:
    rows = zip(bags.features, bags.labels, bags.known, strict=True)
    return collate(
        [
            Bag(f"bag{i}", torch.tensor(row).float(), torch.tensor(known), torch.from_numpy(x))
            for i, (x, row, known) in enumerate(rows)
        ]
    )


def unseen() -> Batch:
    return batch_of(some_bags(2).only(np.arange(5)))


def cases() -> list[Case]:
    """Every name; once each its other kernel, balanced classes, and features as they come."""
    found = []
    for name in names("classical"):
        options = {option.name: option for option in describe(name).options}
        other = next(kind for kind in options["kernel"].choices if kind != options["kernel"].default)
        changes = (("kernel", other), ("class_weight", "balanced"), ("standardise", False))
        found += [Case(name), *(Case(name, (change,)) for change in changes)]
    return found


def alone(method: OneVsRest, bags: Bags, k: int) -> tuple[BagEstimator, BagScaler | None]:
    """The same estimator by itself on one class, which works out its kernel from frames."""
    known = np.flatnonzero(bags.known[:, k])
    scaler = BagScaler().fit(bags.features) if method.standardise else None
    scaled = bags.features if scaler is None else scaler.transform(bags.features)
    gamma = float(method.shared.get()["gamma"])
    machine: BagEstimator = clone(method.estimator).set_params(kernel=method.kernel, gamma=gamma)
    return machine.fit([scaled[i] for i in known], bags.labels[known, k].astype(int)), scaler


def shapes_and_types(case: Case) -> None:
    method, batch = fitted(case), unseen()
    output = answer(method, batch)
    b, t = batch.mask.shape
    for name, value, shape in (
        ("video_logits", output.video_logits, (b, K)),
        ("attention", output.attention, (b, t)),
        ("frame_logits", output.frame_logits, (b, t, K)),
        ("scores", method.scores(output), (b, K)),
        ("frame_scores", method.frame_scores(output), (b, t, K)),
    ):
        need(case, tuple(value.shape) == shape, f"{name}: shape {[*value.shape]}, not {[*shape]}")
        need(case, value.dtype == torch.float32, f"{name}: {value.dtype}, not float32")
        need(case, bool(value.isfinite().all()), f"{name} is not finite")


def scores_keep_the_zero(case: Case) -> None:
    method = fitted(case)
    for scale in (1.0, 1e4):
        batch = unseen()
        output = answer(method, replace(batch, features=features_of(batch) * scale))
        for name, logits, scores in (
            ("scores", output.video_logits, method.scores(output)),
            ("frame_scores", output.frame_logits, method.frame_scores(output)),
        ):
            need(case, ((scores >= 0) & (scores <= 1)).all(), f"{name} leave 0..1 for features x {scale:g}")
            clear = logits.abs() > 1e-6
            need(case, ((scores > 0.5) == (logits > 0))[clear].all(), f"{name}: 0.5 is not the zero decision")


def attention_is_the_share_of_the_evidence(case: Case) -> None:
    method, batch = fitted(case), unseen()
    output = answer(method, batch)
    weights = output.extras["class_attention"]
    same(case, "its sum over frames", weights.sum(1), torch.ones(len(batch), K))
    same(case, "attention", output.attention, weights.mean(2))
    same(case, "its evidence", (weights * output.frame_logits).sum(1), output.video_logits)
    need(case, (weights >= 0).all() and (weights[~batch.mask] == 0).all(), "weight at padding, or below 0")
    need(case, (output.frame_logits[~batch.mask] == 0).all(), "frame logits are not 0 at padding")


def it_is_the_estimator_of_each_class(case: Case) -> None:
    """Sharing a kernel, leaving unknown bags out and keeping only what is needed change nothing."""
    bags = some_bags()
    method, batch = fitted(case, bags), unseen()
    output = answer(method, batch)
    for k in range(K):
        machine, scaler = alone(method, bags, k)
        features = some_bags(2).only(np.arange(5)).features
        seen = features if scaler is None else scaler.transform(features)
        wanted = torch.from_numpy(machine.decision_function(seen)).float()
        same(case, f"decisions of class {k}", output.video_logits[:, k], wanted, 1e-4)
        frames = np.concatenate([machine.instance_decision_function(bag) for bag in seen])
        found = output.frame_logits[batch.mask][:, k]
        same(case, f"decisions on frames of class {k}", found, torch.from_numpy(frames).float(), 1e-4)


def padding_changes_nothing(case: Case) -> None:
    method, batch = fitted(case), unseen()
    wanted, t = answer(method, batch), batch.mask.shape[1]
    more = torch.nn.functional.pad(batch.mask, (0, 3))
    padded = torch.nn.functional.pad(features_of(batch), (0, 0, 0, 3))
    for junk in (0.0, *JUNK):
        output = answer(
            method, replace(batch, mask=more, features=padded.masked_fill(~more[..., None], junk))
        )
        same(case, f"padding of {junk}, video logits", output.video_logits, wanted.video_logits)
        same(case, f"padding of {junk}, frame logits", output.frame_logits[:, :t], wanted.frame_logits)
        need(case, (output.attention[:, t:] == 0).all(), f"padding of {junk}: attended to")


def a_batch_is_its_bags(case: Case) -> None:
    method, bags = fitted(case), some_bags(2).only(np.arange(5))
    together = answer(method, batch_of(bags))
    for i, features in enumerate(bags.features):
        output = answer(method, batch_of(bags.only(np.array([i]))))
        same(case, f"video logits of bag {i}", together.video_logits[i], output.video_logits[0])
        n = len(features)
        same(case, f"frame logits of bag {i}", together.frame_logits[i, :n], output.frame_logits[0])


def the_order_of_frames_means_nothing(case: Case) -> None:
    method, bags = fitted(case), some_bags(2)
    turned = Bags([x[::-1].copy() for x in bags.features], bags.labels, bags.known)
    before, after = answer(method, batch_of(bags)), answer(method, batch_of(turned))
    same(case, "video logits of turned bags", after.video_logits, before.video_logits)
    for i, features in enumerate(bags.features):
        n = len(features)
        moved = after.frame_logits[i, :n].flip(0)
        same(case, "frame logits of turned bags", moved, before.frame_logits[i, :n])


def the_order_of_training_means_nothing(case: Case) -> None:
    """Bags, and frames within them, in another order.

    A convex step is solved to a tolerance, and where rounds choose by its result, one choice may differ: that
    is far less than a label that moved.
    """
    bags, rng = some_bags(), np.random.default_rng(3)
    other = bags.only(rng.permutation(N))
    other = Bags([x[rng.permutation(len(x))] for x in other.features], other.labels, other.known)
    before, after = answer(fitted(case, bags), unseen()), answer(fitted(case, other), unseen())
    same(case, "video logits after training in another order", after.video_logits, before.video_logits, 0.1)


def unknown_labels_enter_nothing(case: Case) -> None:
    bags = some_bags()
    flipped = Bags(bags.features, np.where(bags.known, bags.labels, ~bags.labels), bags.known)
    found, wanted = fitted(case, flipped).state_dict(), fitted(case, bags).state_dict()
    need(case, all(torch.equal(found[name], wanted[name]) for name in wanted), "unknown labels change it")


def one_frame_is_enough(case: Case) -> None:
    """Bags of one frame to learn from and to judge; no frame of a bag is another's."""
    method = fitted(case, some_bags(longest=1))
    output = answer(method, batch_of(some_bags(3, longest=1)))
    same(case, "attention of the only frame", output.attention, torch.ones(N, 1))
    same(case, "its logits", output.frame_logits[:, 0], output.video_logits)


def it_learns(case: Case) -> None:
    """Ranking, as zero thresholds of some are of little use."""
    bags = some_bags()
    scores = answer(fitted(case), batch_of(bags)).video_logits.numpy()
    table = multilabel_metrics(bags.labels, scores, bags.known)
    need(case, float(table["auroc"]["macro"]) > 0.9, f"AUROC {table['auroc'].tolist()} on what it learnt")


def a_class_of_one_side_is_constant(case: Case) -> None:
    bags = some_bags()
    labels = bags.labels.copy()
    labels[:, 1], labels[:, 2] = False, True
    method = create(case.name, num_classes=K, feature_dim=D, **dict(case.options))
    assert isinstance(method, OneVsRest)
    lesson = method.lesson(bags.features, labels, bags.known)
    solved = [lesson.solve(k) for k in range(K)]
    method.take(lesson, solved)
    output = answer(method, unseen())
    scores = method.scores(output)
    need(
        case,
        (scores[:, 1] == scores[0, 1]).all() and scores[0, 1] < 0.5,
        "no positive: not constantly absent",
    )
    need(
        case,
        (scores[:, 2] == scores[0, 2]).all() and scores[0, 2] > 0.5,
        "no negative: not constantly present",
    )
    need(
        case, not solved[0].notes and all("constant" in " ".join(one.notes) for one in solved[1:]), "not said"
    )
    shares = unseen().mask / unseen().mask.sum(1, keepdim=True)
    same(case, "its attention", output.extras["class_attention"][..., 1], shares)
    whole = answer(fitted(case), unseen()).video_logits[:, 0]
    same(case, "another class beside it", output.video_logits[:, 0], whole)


def what_is_saved_is_all(case: Case) -> None:
    """Name, options and state dict, by way of their files, decide the same to the bit."""
    method = fitted(case)
    told = json.loads(json.dumps(method.options))
    twin = create(method.name, num_classes=K, feature_dim=D, **told)
    need(case, twin.options == method.options, "the options come back changed")
    twin.load_state_dict(safetensors.torch.load(safetensors.torch.save(method.state_dict())))
    found, wanted = answer(twin, unseen()), answer(method, unseen())
    for part in ("video_logits", "attention", "frame_logits"):
        need(case, torch.equal(getattr(found, part), getattr(wanted, part)), f"{part} differ after loading")


def only_what_is_needed_is_kept(case: Case) -> None:
    """Each training frame once, for all classes, and none that no class needs."""
    method = fitted(case)
    arrays = method.state_dict()
    used = torch.cat([value for name, value in arrays.items() if name.endswith(".support")]).unique()
    count = len(arrays["shared.frames"])
    need(case, used.tolist() == list(range(count)), "frames are kept that no class needs")
    need(case, count <= sum(map(len, some_bags().features)), "frames are kept twice")


def pieces_make_the_whole(case: Case) -> None:
    """Classes solved in another order, from a lesson of their own, as a resumed run does."""
    bags = some_bags()
    method = create(case.name, num_classes=K, feature_dim=D, **dict(case.options))
    assert isinstance(method, OneVsRest)
    solved: dict[int, Any] = {}
    for k in reversed(range(K)):
        lesson = method.lesson(bags.features, bags.labels, bags.known)
        solved[k] = lesson.solve(k)
    method.take(lesson, [solved[k] for k in range(K)])
    wanted, found = fitted(case).state_dict(), method.state_dict()
    need(case, found.keys() == wanted.keys(), "other arrays")
    need(case, all(torch.equal(found[name], wanted[name]) for name in wanted), "other values")


def inputs_are_left_alone(case: Case) -> None:
    bags, kept = some_bags(), some_bags()
    output: MILOutput = answer(fitted(case, bags), batch_of(bags))
    need(case, bool(output.video_logits.isfinite().all()), "not finite")
    need(case, all(map(np.array_equal, bags.features, kept.features)), "features are changed")


CHECKS: list[Callable[[Case], None]] = [
    shapes_and_types,
    scores_keep_the_zero,
    attention_is_the_share_of_the_evidence,
    it_is_the_estimator_of_each_class,
    padding_changes_nothing,
    a_batch_is_its_bags,
    the_order_of_frames_means_nothing,
    the_order_of_training_means_nothing,
    unknown_labels_enter_nothing,
    one_frame_is_enough,
    it_learns,
    a_class_of_one_side_is_constant,
    what_is_saved_is_all,
    only_what_is_needed_is_kept,
    pieces_make_the_whole,
    inputs_are_left_alone,
]
