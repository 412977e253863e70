from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from devcem.methods.recurrence import Recurrence
from devcem.methods.recurrent import BiLSTM, final_state


def made(layers: int = 2) -> BiLSTM:
    torch.manual_seed(0)
    return BiLSTM(3, 4, layers).eval()


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_padded_bags_are_read_as_if_alone(lengths: list[int], padding: int) -> None:
    """Also by torch's own LSTM, which knows no padding."""
    block = made()
    plain = torch.nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True)
    plain.load_state_dict(block.lstm.state_dict())
    bags = [torch.randn(n, 3) for n in lengths]
    x = torch.nn.utils.rnn.pad_sequence(bags, batch_first=True)
    x = torch.nn.functional.pad(x, (0, 0, 0, padding))
    mask = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
    states = block(x, mask)
    assert states.shape == (len(bags), x.shape[1], block.width)
    assert not states[~mask].any()
    ends = final_state(states, mask)
    for i, bag in enumerate(bags):
        wanted, (last, _) = plain(bag[None])
        torch.testing.assert_close(states[i, : len(bag)], wanted[0])
        # torch's own end states: of the last layer, forward and backward
        torch.testing.assert_close(ends[i], torch.cat([last[-2, 0], last[-1, 0]]))


@given(st.lists(st.integers(1, 7), min_size=1, max_size=4), st.integers(0, 2), st.integers(1, 2))
@settings(max_examples=20, deadline=None)
def test_the_recurrence_is_torchs_lstm_forwards_and_backwards(
    lengths: list[int], padding: int, layers: int
) -> None:
    block = made(layers).double()
    mask = torch.arange(max(lengths) + padding) < torch.tensor(lengths)[:, None]
    x = torch.randn(*mask.shape, 3, dtype=torch.float64) * mask[..., None]
    upon = torch.randn(*mask.shape, block.width, dtype=torch.float64)
    found = []
    for way in (block, block.by_recurrence):
        block.zero_grad()
        given_ = x.clone().requires_grad_()
        states = way(given_, mask)
        (states * upon).sum().backward()
        found.append([states.detach(), given_.grad, *(p.grad for p in block.parameters())])
    torch.testing.assert_close(found[1], found[0], rtol=1e-9, atol=1e-11)
    assert not found[1][1][~mask].any()


def test_the_recurrences_gradient_is_that_of_its_values() -> None:
    torch.manual_seed(0)
    inputs = torch.randn(3, 2, 2, 8, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(2, 8, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Recurrence.apply, (inputs, weight))


def test_in_bf16_on_a_cpu_it_goes_by_the_recurrence(monkeypatch: pytest.MonkeyPatch) -> None:
    """And stays nearer to float32 than bf16's own step."""
    block, x = made(), torch.randn(2, 5, 3)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    exact, way, calls = block(x, mask), block.by_recurrence, []
    monkeypatch.setattr(block, "by_recurrence", lambda *inputs: calls.append(1) or way(*inputs))
    with torch.autocast("cpu", torch.bfloat16):
        states = block(x, mask)
    assert calls == [1]
    assert states.dtype == torch.bfloat16
    torch.testing.assert_close(states.float(), exact, rtol=0.02, atol=0.02)
    assert not states[~mask].any()


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_its_parameters_are_torchs(layers: int) -> None:
    plain = torch.nn.LSTM(3, 4, layers, batch_first=True, bidirectional=True)
    shapes = {name: tuple(p.shape) for name, p in plain.named_parameters()}
    assert {name: tuple(p.shape) for name, p in made(layers).lstm.named_parameters()} == shapes


def test_end_states_by_hand() -> None:
    """Width 2: the forward half of the last real frame, the backward half of the first."""
    states = torch.tensor([[[1.0, 10], [2, 20], [3, 30]], [[4, 40], [5, 50], [0, 0]]])
    mask = torch.tensor([[True, True, True], [True, True, False]])
    assert final_state(states, mask).tolist() == [[3, 10], [5, 40]]
