"""The multiple instance networks of Wang et al. 2018: pooled scores (mi-Net) and pooled embeddings
(MI-Net)."""

from __future__ import annotations

from typing import Annotated

from torch import Tensor, nn

from devcem.methods.bag import Batch
from devcem.methods.method import Method
from devcem.methods.options import About
from devcem.methods.output import MILOutput
from devcem.methods.pooling import glorot, real_only, top_weights
from devcem.methods.smoothness import similarity, smoothness_loss

WIDTHS = (256, 128, 64)


class Embedding(nn.Sequential):
    """Each frame by itself through three ReLU layers, and dropout: [B,T,D] to [B,T,64]."""

    def __init__(self, feature_dim: int, dropout: float) -> None:
        layers: list[nn.Module] = []
        for before, after in zip((feature_dim, *WIDTHS), WIDTHS, strict=False):
            layers += [nn.Linear(before, after), nn.ReLU()]
        super().__init__(*layers, nn.Dropout(dropout))


class MINet(Method):
    """mi-Net: a score for each frame and class; the video's is their maximum.

    The maximum of sigmoids is the sigmoid of the maximum, so logits are pooled; frames that tie share the
    weight. `smoothness` adds the loss of Kotzias et al. 2015: frames that look alike should score alike.
    """

    order_free = True

    def __init__(
        self,
        num_classes: int,
        feature_dim: int,
        *,
        smoothness: Annotated[float, About("weight of: frames alike score alike", minimum=0)] = 0.0,
        gamma: Annotated[
            float, About("alike is exp(-gamma |x - x'|^2); 0: 1 / the bag's mean of that", minimum=0)
        ] = 0.0,
        dropout: Annotated[float, About("share dropped before the head", minimum=0, below=1)] = 0.5,
    ) -> None:
        super().__init__(num_classes, feature_dim)
        self.smoothness, self.gamma = smoothness, gamma
        self.embedding = Embedding(feature_dim, dropout)
        self.head = nn.Linear(WIDTHS[-1], num_classes)
        glorot(self)

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        x = real_only(features, mask)
        frame_logits = real_only(self.head(self.embedding(x)).float(), mask)  # [B,T,K]
        weights = top_weights(frame_logits, mask)  # [B,T,K]
        extras = {"class_attention": weights}
        if self.smoothness:
            extras["alike"] = similarity(x, mask, self.gamma)
        return MILOutput((weights * frame_logits).sum(1), weights.mean(2), frame_logits, extras)

    def loss(self, output: MILOutput, batch: Batch) -> dict[str, Tensor]:
        terms = {"video": self.video_loss(output, batch)}
        if not self.smoothness:
            return terms | {"total": terms["video"]}
        weight = batch.known * self.class_weight
        scores = self.frame_scores(output)
        terms["smoothness"] = smoothness_loss(scores, output.extras["alike"], batch.mask, weight)
        return terms | {"total": terms["video"] + self.smoothness * terms["smoothness"]}


class MINetEmbedding(Method):
    """MI-Net: the maximum over frames of each of 64 features embeds the video, and a linear layer scores it.

    No frame has a defined share of a video's logit: frame logits are the head on each frame, and attention is
    the share of the 64 maxima that a frame gives, frames that tie sharing one.
    """

    order_free = True

    def __init__(
        self,
        num_classes: int,
        feature_dim: int,
        *,
        dropout: Annotated[float, About("share dropped before pooling", minimum=0, below=1)] = 0.5,
    ) -> None:
        super().__init__(num_classes, feature_dim)
        self.embedding = Embedding(feature_dim, dropout)
        self.head = nn.Linear(WIDTHS[-1], num_classes)
        glorot(self)

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        h = self.embedding(real_only(features, mask)).float()  # [B,T,64]
        maxima = top_weights(h, mask)  # [B,T,64]
        video_logits = self.head((maxima * real_only(h, mask)).sum(1)).float()
        return MILOutput(video_logits, maxima.mean(2), real_only(self.head(h).float(), mask))
