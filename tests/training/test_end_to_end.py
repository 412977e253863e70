"""The encoder learns with the method: gradients, frozen statistics, bf16, recomputed activations."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from toy_gut import small

from devcem.encoders import load_backbone
from devcem.labels import load_dataset
from devcem.methods import create, describe
from devcem.methods.bag import Batch, collate
from devcem.training.bags import FrameBags
from devcem.training.devices import make_fabric
from devcem.training.loop import fit
from devcem.training.trainee import Trainee

SIZE = 48


DROPPING = ("w-talc", "mi-net", "mi-net-embedding")


def trainee(
    freeze_norm: bool = True, checkpointing: bool = False, method: str = "ps-devcem", **options: float
) -> Trainee:
    backbone = load_backbone("test_resnet", "random", SIZE)
    for module in backbone.network.modules():  # timm starts residual branches at nothing, without gradients
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.constant_(module.weight, 0.5)
    torch.manual_seed(0)
    has = {option.name for option in describe(method).options}
    few = {name: value for name, value in {"hidden": 8, "attention_dim": 6}.items() if name in has}
    built = create(method, num_classes=3, feature_dim=backbone.dim, **few | options)
    return Trainee(built, backbone.network, backbone.prepare, freeze_norm, checkpointing)


@pytest.fixture(scope="module")
def bags(gut: Path) -> FrameBags:
    data = load_dataset(gut)
    return FrameBags(data, data.segments[:6], SIZE, small().data)


@pytest.fixture(scope="module")
def batch(gut: Path) -> Batch:
    """Three bags of different lengths."""
    data = load_dataset(gut)
    whole = FrameBags(data, data.segments, SIZE, small(data={"window": 30}).data)
    lengths = {len(segment): index for index, segment in enumerate(data.segments)}
    assert len(lengths) >= 3
    return collate([whole.judge(index) for index in [*lengths.values()][:3]])


def gradients(of: Trainee, batch: Batch) -> dict[str, torch.Tensor]:
    of.train()
    of.zero_grad()
    of(lambda: batch)["total"].backward()
    return {name: parameter.grad for name, parameter in of.named_parameters() if parameter.grad is not None}


def test_gradients_reach_every_tensor_of_the_encoder(batch: Batch) -> None:
    learner = trainee()
    found = gradients(learner, batch)
    encoder = {name for name, _ in learner.named_parameters() if name.startswith("encoder.")}
    assert len(encoder) > 20
    assert encoder <= found.keys()
    assert all(bool(found[name].abs().sum() > 0) for name in encoder)


def test_only_real_frames_are_encoded_and_padding_changes_nothing(batch: Batch) -> None:
    learner = trainee().eval()
    learner.judged(batch)  # the first call also tries one frame, to see which norms can be folded
    seen: list[int] = []
    assert learner.encoder is not None
    hook = learner.encoder.register_forward_pre_hook(lambda _module, inputs: seen.append(len(inputs[0])))
    output, _ = learner.judged(batch)
    hook.remove()
    real = int(batch.mask.sum())
    assert seen == [real]
    assert real < batch.mask.numel()
    frames, at = batch.frames, 0
    assert frames is not None
    for row, length in enumerate(batch.mask.sum(1).tolist()):
        alone = Batch(
            [batch.ids[row]],
            torch.ones(1, length, dtype=torch.bool),
            batch.labels[row : row + 1],
            batch.known[row : row + 1],
            frames=frames[at : at + length],
        )
        at += length
        single, _ = learner.judged(alone)
        torch.testing.assert_close(single.video_logits[0], output.video_logits[row], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("frozen", [True, False])
def test_statistics_of_batch_norm(frozen: bool, batch: Batch) -> None:
    learner = trainee(freeze_norm=frozen)
    before = {name: value.clone() for name, value in learner.named_buffers() if "running" in name}
    assert before
    gradients(learner, batch)
    after = dict(learner.named_buffers())
    assert all(torch.equal(value, after[name]) for name, value in before.items()) == frozen
    affine = [name for name, _ in learner.named_parameters() if "bn1.weight" in name]
    assert affine and affine[0] in gradients(learner, batch)  # scale and shift learn either way


def test_recomputed_activations_give_the_same_gradients(batch: Batch) -> None:
    plain, lean = trainee(), trainee(checkpointing=True)
    one, two = gradients(plain, batch), gradients(lean, batch)
    assert lean.encoder is not None and lean.encoder.grad_checkpointing  # timm's own switch
    assert one.keys() == two.keys()
    for name in one:
        torch.testing.assert_close(two[name], one[name], rtol=1e-5, atol=1e-7)


def test_bf16_is_near_fp32(batch: Batch) -> None:
    """Without self-supervision, whose choice of frames may turn on a rounding."""
    learner = trainee(method="ps-devcem-no-selfsup")
    exact = learner(lambda: batch)["total"].item()
    one = gradients(learner, batch)
    with torch.autocast("cpu", torch.bfloat16):
        loss = learner(lambda: batch)["total"]
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(exact, rel=0.01)
    assert loss.item() != exact
    learner.zero_grad()
    loss.backward()
    flat = [
        torch.cat([found[name].flatten() for name in one])
        for found in (one, {name: p.grad for name, p in learner.named_parameters() if p.grad is not None})
    ]
    assert torch.cosine_similarity(flat[0], flat[1], dim=0).item() > 0.98


RIVALS = ["attention-mil", "gated-attention-mil", "stpn", "w-talc", "mi-net", "mi-net-embedding"]


@pytest.mark.parametrize("method", RIVALS)
def test_every_deep_rival_trains_the_encoder(method: str, bags: FrameBags) -> None:
    """The loss falls on bags it has seen, and every tensor of the encoder has moved."""
    learner = trainee(method=method, **{} if method not in DROPPING else {"dropout": 0.0})
    before = {name: value.clone() for name, value in learner.state_dict().items()}
    told = small(encoder={"train": True}, batch=4, epochs=6, optimiser={"lr": 0.003, "weight_decay": 0})
    fitted = fit(make_fabric(told), learner, bags, bags, told)
    losses = [row["train_total"] for row in fitted.progress.history]
    assert losses[-1] < 0.9 * losses[0]
    assert learner.encoder is not None
    encoder = {name for name, _ in learner.encoder.named_parameters(prefix="encoder")}
    assert encoder <= {name for name, value in fitted.last.items() if not torch.equal(value, before[name])}


def test_the_loop_trains_the_encoder(bags: FrameBags) -> None:
    learner = trainee()
    before = {name: value.clone() for name, value in learner.state_dict().items()}
    told = small(
        encoder={"train": True}, epochs=6, precision="bf16", optimiser={"lr": 0.003, "weight_decay": 0}
    )
    fitted = fit(make_fabric(told), learner, bags, bags, told)
    losses = [row["train_video"] for row in fitted.progress.history]
    assert losses[-1] < 0.85 * losses[0]
    moved = {name for name, value in fitted.last.items() if not torch.equal(value, before[name])}
    assert {name for name, _ in learner.encoder.named_parameters(prefix="encoder")} <= moved  # type: ignore[union-attr]
    assert not any("running" in name or "num_batches" in name for name in moved)
