"""Methods that are broken on purpose: each is caught, by the check that is there for it, under its name.

All but one start from attention MIL, which passes every check, and break one thing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import pytest
import torch
from contract import CHECKS
from contract_cases import Case
from torch import Tensor, nn
from torch.nn.functional import dropout

from devcem.methods import Batch, Method, MILOutput, register
from devcem.methods.attention_mil import AttentionMIL
from devcem.methods.floors import MeanPool
from devcem.methods.losses import video_bce
from devcem.methods.options import About
from devcem.methods.pooling import pool, real_only

BROKEN: dict[str, tuple[type[Method], set[str]]] = {}  # name, class, the checks that have to catch it


def caught_by(*checks: str) -> Any:
    def note(build: type[Method]) -> type[Method]:
        BROKEN[build.__name__] = (build, set(checks))
        return build

    return note


class Sound(AttentionMIL):
    """Attention MIL, by another name: what the broken ones would be."""

    def __init__(self, num_classes: int, feature_dim: int) -> None:
        super().__init__(num_classes, feature_dim, attention_dim=6)


@caught_by("padding_changes_nothing", "a_batch_is_its_bags", "attention_is_over_real_frames")
class LeaksPadding(Sound):
    """Attends to padding, as if all bags were as long as the longest."""

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        return super().forward(features, torch.ones_like(mask))


@caught_by("padding_changes_nothing")
class TrustsPadding(Sound):
    """Right while padding is zeros: 0 x NaN is NaN, and so is a gradient."""

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        h = features * mask[..., None]
        attention = self.attention(h, mask)
        frame_logits = self.head(h) * mask[..., None]
        return MILOutput(pool(attention, frame_logits), attention, frame_logits)


@caught_by("attention_is_over_real_frames", "padding_changes_nothing")
class ShowsPadding(Sound):
    """Pools rightly, and answers unmasked attention."""

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        output = super().forward(features, mask)
        attention = output.attention.masked_fill(~mask, 1e-3)
        return replace(output, attention=attention)


@caught_by("eval_is_eval")
class AlwaysDrops(Sound):
    """The default of torch.nn.functional.dropout: training=True."""

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        return super().forward(dropout(features, 0.3), mask)


@caught_by("eval_is_eval")
class NeverDrops(AttentionMIL):
    """An option that is taken and forgotten."""

    def __init__(
        self,
        num_classes: int,
        feature_dim: int,
        *,
        dropout: Annotated[float, About("share dropped", minimum=0, below=1)] = 0.0,  # noqa: ARG002
    ) -> None:
        super().__init__(num_classes, feature_dim, attention_dim=6)


@caught_by("eval_is_eval")
class Remembers(Sound):
    """Running statistics that go on running in eval mode."""

    def __init__(self, num_classes: int, feature_dim: int) -> None:
        super().__init__(num_classes, feature_dim)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        self.seen += len(mask)
        return super().forward(features, mask)


@caught_by("every_parameter_learns")
class HasADeadParameter(Sound):
    def __init__(self, num_classes: int, feature_dim: int) -> None:
        super().__init__(num_classes, feature_dim)
        self.forgotten = nn.Linear(feature_dim, 2)


@caught_by("every_parameter_learns")
class CallsTheLivingInert(Sound):
    inert = (*Sound.inert, "head.bias")


@caught_by("every_parameter_learns")
class CallsTheMissingInert(Sound):
    inert = (*Sound.inert, "heda.bias")


@caught_by("unknown_classes_enter_nothing", "knowing_nothing_teaches_nothing")
class TakesUnknownForAbsent(Sound):
    def video_loss(self, output: MILOutput, batch: Batch) -> Tensor:
        labels = batch.labels.masked_fill(~batch.known, 0)
        known = torch.ones_like(batch.known)
        return video_bce(output.video_logits, labels, known, self.positive_weight, self.class_weight)


@caught_by("unknown_classes_enter_nothing")
class MultipliesTheUnknown(Sound):
    """0 x NaN, where a label that is not known is NaN."""

    def video_loss(self, output: MILOutput, batch: Batch) -> Tensor:
        known = batch.known.float()
        logits, weight = output.video_logits, known * self.class_weight
        cost = logits.clamp(min=0) - logits * batch.labels + (-logits.abs()).exp().log1p()
        cost = cost * torch.where(batch.labels > 0.5, self.positive_weight, 1.0)
        return ((cost * weight).sum(1) / weight.sum(1).clamp(min=1)).mean()


@caught_by("knowing_nothing_teaches_nothing")
class DividesByTheKnown(Sound):
    def video_loss(self, output: MILOutput, batch: Batch) -> Tensor:
        count = batch.known.sum()
        return super().video_loss(output, batch) * count / count


@caught_by("no_positive_label_is_fine")
class DividesByThePositive(Sound):
    """Weighs a batch by its positive labels: the usual recipe for rare classes, and 0 / 0 without any."""

    def video_loss(self, output: MILOutput, batch: Batch) -> Tensor:
        positives = ((batch.labels > 0.5) & batch.known).sum()
        return super().video_loss(output, batch) * positives / positives


@caught_by("evidence_adds_up_where_it_says")
class SaysAdditive(Sound):
    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        output = super().forward(features, mask)
        return replace(output, video_logits=5 * (output.video_logits / 5).tanh())


@caught_by("evidence_adds_up_where_it_says")
class HidesThatItIsAdditive(Sound):
    additive = False


@caught_by("order_matters_where_it_says")
class SaysOrderFree(Sound):
    """Weighs frames by their place."""

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        place = torch.arange(mask.shape[1]) / 10
        return super().forward(features + place[:, None], mask)


@caught_by("order_matters_where_it_says")
class HidesThatOrderIsFree(Sound):
    order_free = False


@caught_by("a_batch_is_its_bags")
class ComparesBags(Sound):
    """Statistics over the batch, as batch normalisation takes them in training mode."""

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        real = real_only(features, mask)
        return super().forward(features - real.sum((0, 1)) / mask.sum(), mask)


@caught_by("a_step_is_its_parts")
class AveragesItsOwnPairs(Sound):
    """Divides by the pairs at hand: a process without any weighs as much as one that has them all."""

    def loss(self, output: MILOutput, batch: Batch) -> dict[str, Tensor]:
        terms = super().loss(output, batch)
        if batch.pairs is None:
            return terms
        one, two = (output.video_logits[batch.pairs[:, side]] for side in (0, 1))
        apart = (one - two).masked_fill(~(batch.known[batch.pairs].all(1)), 0).square().mean()
        return terms | {"total": terms["total"] + apart}


@caught_by("one_frame_is_enough")
class NeedsTwoFrames(Sound):
    """Standardises over a bag's frames: one frame has no spread."""

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        x, n = real_only(features, mask), mask.sum(1)[:, None, None]
        off = real_only(x - x.sum(1, keepdim=True) / n, mask)
        return super().forward(off / (off.square().sum(1, keepdim=True) / (n - 1)).sqrt(), mask)


@caught_by("equal_frames_are_fine")
class NeedsDifferentFrames(Sound):
    """Divides by the spread of the frames: equal ones have none."""

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        x, n = real_only(features, mask), mask.sum(1)[:, None, None]
        off = real_only(x - x.sum(1, keepdim=True) / n, mask)
        spread = off.square().sum((1, 2), keepdim=True)
        return super().forward(torch.where(n > 1, x / spread.sqrt(), x), mask)


@caught_by("a_batch_can_be_learnt")
class DescendsUphill(Sound):
    """Decides by the wrong sign."""

    def scores(self, output: MILOutput) -> Tensor:
        return (-output.video_logits).sigmoid()


@caught_by("a_batch_can_be_learnt")
class SeesOnlyTheMean(MeanPool):
    """Learns its bias and next to nothing else."""

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        return super().forward(features * 1e-3, mask)


@caught_by("scores_are_probabilities")
class ScoresLogits(Sound):
    def scores(self, output: MILOutput) -> Tensor:
        return output.video_logits + 0.5


@caught_by("scores_are_probabilities")
class Overflows(Sound):
    """A sigmoid written out, and wrong beyond 88: inf / inf."""

    def frame_scores(self, output: MILOutput) -> Tensor:
        return output.frame_logits.exp() / (1 + output.frame_logits.exp())


@caught_by("what_is_saved_is_all")
class KeepsSomethingBack(Sound):
    """A tensor that is neither a parameter nor a buffer."""

    def __init__(self, num_classes: int, feature_dim: int) -> None:
        super().__init__(num_classes, feature_dim)
        self.offset = torch.randn(feature_dim)

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        return super().forward(features + self.offset, mask)


@caught_by("bf16_is_near")
class AnswersInBf16(Sound):
    """Pools what autocast gives, without going back to float32."""

    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        h = real_only(features, mask)
        attention = self.attention(h, mask)
        frame_logits = real_only(self.head(h), mask)
        return MILOutput(pool(attention, frame_logits), attention, frame_logits)


@caught_by("weights_enter_the_loss")
class IgnoresWeights(Sound):
    def video_loss(self, output: MILOutput, batch: Batch) -> Tensor:
        ones = torch.ones(self.num_classes)
        return video_bce(output.video_logits, batch.labels, batch.known, ones, ones)


@caught_by("inputs_are_left_alone")
class WritesOnItsInput(Sound):
    def forward(self, features: Tensor, mask: Tensor) -> MILOutput:
        if not features.requires_grad:
            features.masked_fill_(~mask[..., None], 0.0)
        return super().forward(features, mask)


@caught_by("the_loss_touches_no_parameter")
class DecaysInTheLoss(Sound):
    def loss(self, output: MILOutput, batch: Batch) -> dict[str, Tensor]:
        terms = super().loss(output, batch)
        return terms | {"total": terms["total"] + 1e-4 * self.head.weight.square().sum()}


@caught_by("shapes_and_types")
class AnswersOneColumn(Sound):
    def scores(self, output: MILOutput) -> Tensor:
        return super().scores(output).amax(1)


@caught_by("shapes_and_types")
class HasNoTotal(Sound):
    def loss(self, output: MILOutput, batch: Batch) -> dict[str, Tensor]:
        return {"video": self.video_loss(output, batch)}


@caught_by("chance_is_torchs")
class ForgetsTheSeed(Sound):
    """Draws its parameters from a generator of its own."""

    def __init__(self, num_classes: int, feature_dim: int) -> None:
        super().__init__(num_classes, feature_dim)
        draw = torch.Generator()
        draw.seed()
        nn.init.normal_(self.head.weight, std=0.1, generator=draw)


def complaints(build: type[Method]) -> dict[str, str]:
    """What the checks that fail say, by their names."""
    register(build.__name__, build, "broken on purpose", "none")
    found = {}
    for check in CHECKS:
        try:
            check(Case(build.__name__))
        except Exception as error:
            found[check.__name__] = str(error)
    return found


def test_the_sound_one_passes() -> None:
    assert complaints(Sound) == {}


@pytest.mark.parametrize("name", BROKEN)
def test_caught_by_its_check_and_by_name(name: str) -> None:
    build, checks = BROKEN[name]
    found = complaints(build)
    assert checks <= found.keys()
    assert all(found[check].startswith(f"{name}: ") for check in checks), found


def test_every_check_catches_one() -> None:
    assert {check.__name__ for check in CHECKS} == set().union(*(checks for _, checks in BROKEN.values()))
