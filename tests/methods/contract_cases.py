"""What the contract's checks share: cases, bags, and ways to ask and to compare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from devcem.errors import UserError
from devcem.methods import Bag, Batch, Method, MILOutput, collate, create, describe, names

D, K = 12, 3
SMALL = {"hidden": 6, "attention_dim": 6}  # given to methods that have such options, so that checks are quick
LENGTHS = (5, 1, 4, 7)
LABELS = torch.tensor([[1.0, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 0]])
KNOWN = torch.tensor([[1, 1, 1], [1, 1, 1], [1, 0, 1], [1, 1, 0]]).bool()
PAIRS = [
    (0, 3)
]  # both are known to carry class 0; of class 2, which the first carries, the last knows nothing
JUNK = (float("nan"), float("inf"), -1e30, 3.0)


@dataclass(frozen=True)
class Case:
    """A method, with options other than its own."""

    name: str
    options: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return self.name + "".join(f" {name}={value}" for name, value in self.options)

    def make(self, seed: int = 0, **options: Any) -> Method:
        torch.manual_seed(seed)
        has = {option.name for option in describe(self.name).options}
        small = {name: value for name, value in SMALL.items() if name in has}
        given = small | dict(self.options) | options
        return create(self.name, num_classes=K, feature_dim=D, **given)


def cases(of: Iterable[str] | None = None) -> list[Case]:
    """Every deep method by name; and once for each class behind a name, every other choice of its options."""
    found, seen = [], set()
    for name in names("deep") if of is None else of:
        info = describe(name)
        found.append(Case(name))
        if info.build in seen:
            continue
        seen.add(info.build)
        for option in info.options:
            choices = option.choices or ((False, True) if option.type == "bool" else ())
            others = [Case(name, ((option.name, value),)) for value in choices if value != option.default]
            found += filter(_can_be_made, others)
    return found


def _can_be_made(case: Case) -> bool:
    """False for a choice that the method refuses beside its other options."""
    try:
        case.make()
    except UserError:
        return False
    return True


def some_bags(seed: int = 1) -> list[Bag]:
    """One of a single frame, one without a positive label, two that do not know every class."""
    draw = torch.Generator().manual_seed(seed)
    drawn = [2 * torch.randn(length, D, generator=draw) for length in LENGTHS]
    return [Bag(f"bag{i}", LABELS[i], KNOWN[i], features) for i, features in enumerate(drawn)]


def a_batch(seed: int = 1) -> Batch:
    """With a pair, for methods whose loss compares bags; the others do not look at it."""
    return collate(some_bags(seed), PAIRS)


def features_of(batch: Batch) -> Tensor:
    assert batch.features is not None
    return batch.features


def answer(method: Method, batch: Batch) -> MILOutput:
    with torch.no_grad():
        output: MILOutput = method(features_of(batch), batch.mask)
    return output


def learn(method: Method, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The terms of the loss, and its gradient for every parameter and for the features."""
    method.zero_grad()
    features = features_of(batch).clone().requires_grad_()
    terms = method.loss(method(features, batch.mask), batch)
    terms["total"].backward()
    named = {**dict(method.named_parameters()), "features": features}
    found = {name: torch.zeros_like(t) if t.grad is None else t.grad.clone() for name, t in named.items()}
    return {name: term.detach() for name, term in terms.items()}, found


def need(case: Case, holds: bool | Tensor, what: str) -> None:
    if not bool(holds):
        raise AssertionError(f"{case}: {what}")


def same(case: Case, what: str, found: Tensor, wanted: Tensor, tolerance: float = 1e-5) -> None:
    need(case, found.shape == wanted.shape, f"{what}: shape {[*found.shape]}, not {[*wanted.shape]}")
    ok = torch.isclose(found, wanted, rtol=tolerance, atol=tolerance)
    off = (found - wanted).abs().max() if found.numel() else 0
    need(case, ok.all(), f"{what}: off by {off:.3g}")


def all_same(case: Case, what: str, found: dict[str, Tensor], wanted: dict[str, Tensor]) -> None:
    need(case, found.keys() == wanted.keys(), f"{what}: {[*found]}, not {[*wanted]}")
    for name in wanted:
        same(case, f"{what}, {name}", found[name], wanted[name])


def finite(case: Case, what: str, found: dict[str, Tensor]) -> None:
    for name, value in found.items():
        need(case, value.isfinite().all(), f"{what}, {name}: not finite")
