"""A bidirectional LSTM over padded bags, as exact as over each bag alone."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from devcem.methods.pooling import real_only
from devcem.methods.recurrence import Recurrence


class BiLSTM(nn.Module):
    """Reads each bag from both ends of its real frames; padding and the other bags change nothing.

    The parameters are those of `nn.LSTM`, under its names. A batch without padding takes PyTorch's plain way,
    one with padding goes packed; in bf16 on a CPU, where PyTorch is slow, all goes through `Recurrence`. The
    three compute the same up to rounding.
    """

    def __init__(self, input_dim: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.width = 2 * hidden
        self.lstm = nn.LSTM(input_dim, hidden, layers, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """*x* [B,T,D], *mask* [B,T] with real frames first, to [B,T,2H], zeros at padding."""
        if x.device.type == "cpu" and torch.is_autocast_enabled("cpu"):
            return self.by_recurrence(x, mask)
        self.lstm.flatten_parameters()  # one block on a GPU after a move; nothing elsewhere
        lengths = mask.sum(1).cpu()
        longest = x.shape[1]
        if int(lengths.min()) == longest:
            states: Tensor = self.lstm(x)[0]
            return states
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=longest)
        return states

    def by_recurrence(self, x: Tensor, mask: Tensor) -> Tensor:
        for layer in range(self.lstm.num_layers):
            x = self._layer(x, mask, layer)
        return x

    def _layer(self, x: Tensor, mask: Tensor, layer: int) -> Tensor:
        """[B,T,W] to [B,T,2H]."""
        inward, across, bias, more = (
            [getattr(self.lstm, f"{name}_l{layer}{way}") for way in ("", "_reverse")]
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        gates = linear(x, torch.cat(inward), torch.cat(bias) + torch.cat(more))  # [B,T,8H]
        ahead, behind = gates.chunk(2, 2)
        both = torch.stack([ahead, turned(behind, mask)], 0).permute(2, 0, 1, 3)  # [T,2,B,4H]
        states: Tensor = Recurrence.apply(both, torch.stack(across))
        ahead, behind = states.permute(1, 2, 0, 3)  # [B,T,H] each
        return real_only(torch.cat([ahead, turned(behind, mask)], 2), mask)


def turned(values: Tensor, mask: Tensor) -> Tensor:
    """*values* [B,T,W] with each bag's real frames in the opposite order, padding where it was."""
    at = torch.arange(mask.shape[1], device=mask.device)
    order = torch.where(mask, mask.sum(1, keepdim=True) - 1 - at, at)  # [B,T]
    return values[torch.arange(len(mask), device=mask.device)[:, None], order]


def final_state(states: Tensor, mask: Tensor) -> Tensor:
    """What each direction knows at its end: forward at the last real frame, backward at the first. [B,2H]"""
    half = states.shape[2] // 2
    last = mask.sum(1) - 1
    forward = states[torch.arange(len(states), device=states.device), last, :half]
    return torch.cat([forward, states[:, 0, half:]], dim=1)
