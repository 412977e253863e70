"""The part of an LSTM layer that must go frame by frame, both directions side by side, for a CPU.

What does not depend on the frame before is left out of the loops and done for all frames in one product: the
inputs' share of the gates before the forward loop, the weights' gradient after the backward one. In bf16
PyTorch's own layer takes half as long again, most of it backwards; in fp32 it is the quicker one
(benchmarks/head_training.py).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Recurrence(torch.autograd.Function):
    """Gates' inputs [T,2,B,4H], in PyTorch's order i, f, g, o, and weights [2,4H,H] to states [T,2,B,H].

    Products are in the inputs' precision, all else is in float32 or better.
    """

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor) -> Tensor:
        frames, _, bags, width = inputs.shape
        hidden, exact = width // 4, torch.promote_types(inputs.dtype, torch.float32)
        across = weight.to(inputs.dtype).transpose(1, 2)  # [2,H,4H]
        gates = inputs.to(exact, copy=True)
        cells = gates.new_zeros(frames + 1, 2, bags, hidden)
        states = gates.new_zeros(frames + 1, 2, bags, hidden)
        for t in range(frames):
            gate = gates[t]
            if t:
                gate += torch.bmm(states[t].to(inputs.dtype), across)
            gate[..., : 2 * hidden].sigmoid_()
            gate[..., 2 * hidden : 3 * hidden].tanh_()
            gate[..., 3 * hidden :].sigmoid_()
            i, f, g, o = gate.chunk(4, 2)
            torch.addcmul(f * cells[t], i, g, out=cells[t + 1])
            torch.mul(o, cells[t + 1].tanh(), out=states[t + 1])
        ctx.save_for_backward(gates, cells, states, weight)
        ctx.precision = inputs.dtype
        return states[1:].to(inputs.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        gates, cells, states, weight = ctx.saved_tensors
        frames, _, bags, width = gates.shape
        hidden = width // 4
        i, f, g, o = gates.chunk(4, 3)
        squashed = cells[1:].tanh()
        # slopes of the gates' inputs by the cell [T,2,B,3,H] and by the state, of the cell by the state
        by_cell = torch.stack([g * i * (1 - i), cells[:-1] * f * (1 - f), i * (1 - g * g)], 3)
        by_state, onto_cell = squashed * o * (1 - o), o * (1 - squashed * squashed)
        slopes = gates.new_empty(frames, 2, bags, width)
        back = weight.to(ctx.precision)
        outer = grads[0].to(gates.dtype)
        state, cell = outer[-1], torch.zeros_like(outer[-1])
        for t in reversed(range(frames)):
            cell = torch.addcmul(cell, state, onto_cell[t])
            slope = slopes[t].view(2, bags, 4, hidden)
            torch.mul(cell[:, :, None], by_cell[t], out=slope[:, :, :3])
            torch.mul(state, by_state[t], out=slope[:, :, 3])
            if t:
                cell = cell * f[t]
                state = outer[t - 1] + torch.bmm(slopes[t].to(ctx.precision), back)
        inputs = slopes.to(ctx.precision)
        before = states[:-1].to(ctx.precision)
        flat = [part.transpose(0, 1).reshape(2, frames * bags, -1) for part in (inputs, before)]
        return inputs, torch.bmm(flat[0].transpose(1, 2), flat[1]).to(weight.dtype)
