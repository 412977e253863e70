"""PS-DeVCEM and its five ablations: one module, six presets in the registry.

x_n --- BiLSTM --- (+ 1x1 convolution of x_n) --- h_n --- attention a_n --- sum of a_n (W h_n + b)
                                                    |_____ a_n > 1/N: Z+, else Z- --- g: which is which?
"""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from torch import Tensor, nn

from devcem.errors import UserError
from devcem.methods.bag import Batch
from devcem.methods.method import Method
from devcem.methods.options import About
from devcem.methods.output import MILOutput
from devcem.methods.pooling import Attention, SharedDropout, pool, real_only
from devcem.methods.recurrent import BiLSTM, final_state
from devcem.methods.selfsup import Aggregate, Kind, SelfSupervision, selfsup_loss


class PSDeVCEM(Method):
    """Residual BiLSTM, temporal attention, self-supervision (Mohammed et al. 2020).

    Where the paper is silent or contradicts itself:

    - 512 hidden units a direction (its listing), not 1024 (its text, which may mean both together).
    - The residual is a linear map of x to the BiLSTM's width (its text and figure; the listing has none).
    - AttenLSTM and GuidedLSTM attend from h; "h_i and extracted feature x_i" is `attention=hx`. AttenConvLSTM
      has no residual; its caption's "residual LSTM block" is `residual=true`.
    - AttenConv (`rescale`): x_n becomes a_n x_n before the BiLSTM, not multiplied by N, and the head sees the
      last forward and the last backward state. No frame's share of that is defined, so frame logits are the
      head on each step, and the method is not additive.
    - Z+ and Z- are sums (`aggregate=mean` for means: a sum tells how many frames it holds). The bag
      classifier is one layer (its listing; `bag_layers=2` for its text, 256 wide). Lambda is 1.
    """

    inert = (f"attention.{Attention.INERT}",)

    def __init__(
        self,
        num_classes: int,
        feature_dim: int,
        *,
        attention: Annotated[
            Literal["h", "x", "hx"], About("attend from temporal features, frame features, or both")
        ] = "h",
        rescale: Annotated[bool, About("weigh frames before the LSTM, classify its end state")] = False,
        residual: Annotated[bool, About("add a linear map of the frame features to the LSTM's")] = True,
        selfsup: Annotated[
            Kind, About("self-supervision: none, g(Z+) against g(Z-), or g of pairs' differences")
        ] = "polarity",
        aggregate: Annotated[Aggregate, About("how Z+ and Z- gather their frames")] = "sum",
        bag_layers: Annotated[Literal[1, 2], About("layers of the bag classifier g")] = 1,
        hidden: Annotated[int, About("LSTM units a direction", minimum=1)] = 512,
        layers: Annotated[int, About("LSTM layers", minimum=1)] = 2,
        attention_dim: Annotated[int, About("hidden units of the attention", minimum=1)] = 256,
        selfsup_weight: Annotated[float, About("weight of self-supervision in the loss", minimum=0)] = 1.0,
        dropout: Annotated[float, About("share dropped before the head", minimum=0, below=1)] = 0.0,
    ) -> None:
        super().__init__(num_classes, feature_dim)
        if rescale and attention != "x":
            remedy = "set attention=x with rescale, or leave rescale off"
            raise UserError(f"rescale comes before the LSTM, so attention={attention} can't", remedy=remedy)
        self.attend_from, self.rescale, self.selfsup_weight = attention, rescale, selfsup_weight
        self.additive = not rescale
        width = 2 * hidden
        self.temporal = BiLSTM(feature_dim, hidden, layers)
        self.residual = nn.Linear(feature_dim, width) if residual else None  # a 1x1 convolution over time
        seen = {"h": width, "x": feature_dim, "hx": width + feature_dim}[attention]
        self.attention = Attention(seen, attention_dim)
        self.dropout = SharedDropout(dropout)
        self.head = nn.Linear(width, num_classes)
        self.selfsup = None if selfsup == "none" else SelfSupervision(width, selfsup, aggregate, bag_layers)

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        x = real_only(features, mask)
        if self.attend_from == "x":
            attention = self.attention(x, mask)  # [B,T]
            h = self.encode(attention[..., None] * x if self.rescale else x, mask)
        else:
            h = self.encode(x, mask)  # [B,T,W]
            attention = self.attention(h if self.attend_from == "h" else torch.cat([h, x], dim=2), mask)
        frame_logits = real_only(self.head(self.dropout(h)).float(), mask)  # [B,T,K]
        if self.rescale:
            video_logits = self.head(self.dropout(final_state(h, mask)[:, None])[:, 0]).float()
        else:
            video_logits = pool(attention, frame_logits)
        extras = {} if self.selfsup is None else self.selfsup(h, attention, mask)
        return MILOutput(video_logits, attention, frame_logits, extras)

    def encode(self, x: Tensor, mask: Tensor) -> Tensor:
        h: Tensor = self.temporal(x, mask)
        return h if self.residual is None else real_only(h + self.residual(x), mask)

    def loss(self, output: MILOutput, batch: Batch) -> dict[str, Tensor]:
        """Eq. 5 with its signs mended: video + selfsup_weight * selfsup."""
        terms = {"video": self.video_loss(output, batch)}
        if self.selfsup is not None:
            terms["selfsup"] = selfsup_loss(output.extras)
            return terms | {"total": terms["video"] + self.selfsup_weight * terms["selfsup"]}
        return terms | {"total": terms["video"]}
