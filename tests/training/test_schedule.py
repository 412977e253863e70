"""Learning rates by hand, against torch's own, and the groups that an optimiser takes."""

from __future__ import annotations

import math

import pytest
import torch
from torch.optim.lr_scheduler import CyclicLR

from devcem.training.schedule import make_optimiser, make_schedule
from devcem.training.settings import PRESETS, Optimiser


def rates(settings: Optimiser, steps: int) -> list[float]:
    optimiser = make_optimiser([torch.nn.Parameter(torch.zeros(1))], settings)
    schedule = make_schedule(optimiser, settings, steps)
    found = []
    for _ in range(steps):
        found.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        schedule.step()
    return found


def test_the_papers_cycle_is_a_triangle_from_1e_5_to_1e_4() -> None:
    paper = Optimiser(**{**PRESETS["paper"]["optimiser"], "half_cycle": 4})
    up = [1e-5 + 9e-5 * part for part in (0, 0.25, 0.5, 0.75)]
    down = [1e-5 + 9e-5 * part for part in (1, 0.75, 0.5, 0.25)]
    assert rates(paper, 16) == pytest.approx([*up, *down, *up, *down])


def test_it_is_torchs_cyclic_lr() -> None:
    reference = torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], lr=1e-4)
    cycle = CyclicLR(reference, 1e-5, 1e-4, step_size_up=2000, mode="triangular", cycle_momentum=False)
    found = []
    for _ in range(5000):
        found.append(reference.param_groups[0]["lr"])
        reference.step()
        cycle.step()
    assert rates(Optimiser(**PRESETS["paper"]["optimiser"]), 5000) == pytest.approx(found, rel=1e-12)


def test_a_cosine_ends_at_its_foot() -> None:
    settings = Optimiser(lr=1.0, lowest_lr=0.1, schedule="cosine")
    expected = [0.1 + 0.45 * (1 + math.cos(math.pi * step / 10)) for step in range(10)]
    assert rates(settings, 10) == pytest.approx(expected)


def test_constant() -> None:
    assert rates(Optimiser(lr=0.25), 5) == [0.25] * 5


def test_one_step_of_adam_by_hand() -> None:
    """From g = 2 and weight decay 0.5 on w = 4: g becomes 4, and the first step is lr * sign."""
    weight = torch.nn.Parameter(torch.tensor([4.0]))
    optimiser = make_optimiser([weight], Optimiser(lr=0.1, weight_decay=0.5))
    weight.grad = torch.tensor([2.0])
    optimiser.step()
    assert weight.item() == pytest.approx(3.9)
    decoupled = torch.nn.Parameter(torch.tensor([4.0]))
    optimiser = make_optimiser([decoupled], Optimiser(name="adamw", lr=0.1, weight_decay=0.5))
    decoupled.grad = torch.tensor([2.0])
    optimiser.step()
    assert decoupled.item() == pytest.approx(4 * (1 - 0.1 * 0.5) - 0.1)  # decay beside the step


def test_two_steps_of_sgd_by_hand() -> None:
    """w = 4, gradient 2 + decay 0.5 w = 4. Nesterov with momentum 0.5: v = 4, w -= 0.1 (4 + 0.5 * 4) = 0.6.
    Then g = 2 + 1.7 = 3.7, v = 2 + 3.7 = 5.7, w -= 0.1 (3.7 + 2.85)."""
    weight = torch.nn.Parameter(torch.tensor([4.0]))
    optimiser = make_optimiser([weight], Optimiser(name="sgd", lr=0.1, momentum=0.5, weight_decay=0.5))
    for wanted in (3.4, 3.4 - 0.655):
        weight.grad = torch.tensor([2.0])
        optimiser.step()
        assert weight.item() == pytest.approx(wanted)
    plain = torch.nn.Parameter(torch.tensor([4.0]))
    optimiser = make_optimiser([plain], Optimiser(name="sgd", lr=0.1, momentum=0, weight_decay=0))
    plain.grad = torch.tensor([2.0])
    optimiser.step()
    assert plain.item() == pytest.approx(3.8)


def test_frozen_weights_are_left_out() -> None:
    one, two = torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.zeros(3), requires_grad=False)
    optimiser = make_optimiser([one, two], Optimiser())
    assert [len(group["params"]) for group in optimiser.param_groups] == [1]
    assert optimiser.param_groups[0]["params"][0] is one
