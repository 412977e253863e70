"""STPN, the sparse temporal pooling network (Nguyen et al. 2018), for segments of one frame of RGB."""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, logsigmoid

from devcem.methods.bag import Batch
from devcem.methods.method import Method
from devcem.methods.options import About
from devcem.methods.output import MILOutput
from devcem.methods.pooling import SharedDropout, masked_softmax, pool, real_only

Over = Literal["sum", "mean"]


class STPN(Method):
    """Each frame by itself says how much it counts, lambda in 0..1; the video is the lambda-weighted sum of
    x.

    x_t --- FC 256 --- ReLU --- FC 1 --- sigmoid: lambda_t          video logits = W (sum of lambda_t x_t) + b
    x_t --- W: temporal class activation (T-CAM) [K]                a frame's score = lambda_t sigmoid(T-CAM)

    The loss is the video's cross-entropy and beta |lambda|. Where authors and reproductions differ:

    - The paper's pooled feature is a sum; some reproductions divide it by T (`pooling=mean`), which makes the
      classifier see features T times smaller.
    - |lambda| is the mean over real frames, so that long bags are not pushed harder than short ones, and beta
      means the same for any window; `sparsity=sum` is the L1 norm as written, T times as strong.

    Attention is lambda over its sum, and frame logits are the T-CAM times that sum (times the mean of lambda
    where pooled by mean), plus b: so a video's logit is split over its frames exactly. Raw lambda and T-CAM
    stay in extras: lambda is what is sparse, and it tells a bag of nothing from a bag of disease.
    """

    additive = True
    order_free = True

    def __init__(
        self,
        num_classes: int,
        feature_dim: int,
        *,
        attention_dim: Annotated[int, About("hidden units of the attention", minimum=1)] = 256,
        beta: Annotated[float, About("weight of the sparsity of lambda", minimum=0)] = 1e-4,
        pooling: Annotated[
            Over, About("the video's feature: lambda-weighted sum over frames, or / T")
        ] = "sum",
        sparsity: Annotated[Over, About("|lambda| as mean over frames, or as the paper's sum")] = "mean",
        dropout: Annotated[float, About("share dropped before the head", minimum=0, below=1)] = 0.0,
    ) -> None:
        super().__init__(num_classes, feature_dim)
        self.beta, self.pooling, self.sparsity = beta, pooling, sparsity
        self.attention = nn.Sequential(
            nn.Linear(feature_dim, attention_dim), nn.ReLU(), nn.Linear(attention_dim, 1)
        )
        self.dropout = SharedDropout(dropout)
        self.head = nn.Linear(feature_dim, num_classes)

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        x = real_only(features, mask)
        score = self.attention(x).squeeze(-1).float()  # [B,T]
        weight = score.sigmoid().masked_fill(~mask, 0.0)  # lambda
        attention = masked_softmax(logsigmoid(score), mask)  # lambda / sum, also where all lambda round to 0
        total = weight.sum(1)[:, None, None]
        if self.pooling == "mean":
            total = total / mask.sum(1)[:, None, None]
        activation = linear(self.dropout(x), self.head.weight).float()  # T-CAM [B,T,K]
        frame_logits = real_only(total * activation + self.head.bias.float(), mask)
        extras = {"lambda": weight, "activation": activation}
        return MILOutput(pool(attention, frame_logits), attention, frame_logits, extras)

    def loss(self, output: MILOutput, batch: Batch) -> dict[str, Tensor]:
        video = self.video_loss(output, batch)
        sparse = sparsity_loss(output.extras["lambda"], batch.mask, self.sparsity)
        return {"video": video, "sparsity": sparse, "total": video + self.beta * sparse}

    def frame_scores(self, output: MILOutput) -> Tensor:
        """The weighted T-CAM, which the paper localises by."""
        return output.extras["lambda"][..., None] * output.extras["activation"].sigmoid()


def sparsity_loss(weight: Tensor, mask: Tensor, over: Over = "mean") -> Tensor:
    """L1 of *weight* [B,T] over the real frames of each bag, their sum or their mean; the mean over bags."""
    each = torch.where(mask, weight.abs(), 0.0).sum(1)
    return (each / mask.sum(1) if over == "mean" else each).mean()
