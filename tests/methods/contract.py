"""What every deep method must hold to. A check takes a case, a method with some of its options, and raises
AssertionError with the case's name; `test_contract` runs all of them over everything deep that is
registered."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import safetensors.torch
import torch
from contract_cases import (
    JUNK,
    PAIRS,
    Case,
    D,
    K,
    a_batch,
    all_same,
    answer,
    features_of,
    finite,
    learn,
    need,
    same,
    some_bags,
)

from devcem.methods import Bag, collate, create, describe


def shapes_and_types(case: Case) -> None:
    method, batch = case.make(), a_batch()
    output = answer(method, batch)
    b, t = batch.mask.shape
    parts = {
        "video_logits": (output.video_logits, (b, K)),
        "attention": (output.attention, (b, t)),
        "frame_logits": (output.frame_logits, (b, t, K)),
        "scores": (method.scores(output), (b, K)),
        "frame_scores": (method.frame_scores(output), (b, t, K)),
    }
    for name, (value, shape) in parts.items():
        need(case, tuple(value.shape) == shape, f"{name}: shape {[*value.shape]}, not {[*shape]}")
        need(case, value.dtype == torch.float32, f"{name}: {value.dtype}, not float32")
    terms = method.loss(output, batch)
    need(case, "total" in terms, f"the loss has no total, only {[*terms]}")
    need(case, all(term.shape == () for term in terms.values()), "a term of the loss is not one number")
    finite(case, "loss", terms)


def attention_is_over_real_frames(case: Case) -> None:
    batch = a_batch()
    output = answer(case.make(), batch)
    weights = {"attention": output.attention}
    classwise = output.extras.get("class_attention")
    if classwise is not None:
        weights |= {f"attention of class {k}": classwise[..., k] for k in range(K)}
        same(case, "class attention's mean", output.attention, classwise.mean(2))
        same(case, "its evidence", (classwise * output.frame_logits).sum(1), output.video_logits)
    for name, weight in weights.items():
        same(case, f"{name}'s sum", weight.sum(1), torch.ones(len(batch)))
        need(case, (weight >= 0).all(), f"{name} is negative")
        need(case, (weight[~batch.mask] == 0).all(), f"{name} is not 0 at padding")
    need(case, (output.frame_logits[~batch.mask] == 0).all(), "frame logits are not 0 at padding")


def padding_changes_nothing(case: Case) -> None:
    """Scores, loss and gradients, for more padding and for any content of it."""
    method, batch = case.make().eval(), a_batch()
    more = torch.nn.functional.pad(batch.mask, (0, len(JUNK)))
    padded = torch.nn.functional.pad(features_of(batch), (0, 0, 0, len(JUNK)))
    wanted = answer(method, batch)
    wanted_terms, wanted_gradients = learn(method, batch)
    t = batch.mask.shape[1]
    for junk in (0.0, *JUNK):
        filled = replace(batch, mask=more, features=padded.masked_fill(~more[..., None], junk))
        output = answer(method, filled)
        what = f"padding of {junk}"
        same(case, f"{what}, video logits", output.video_logits, wanted.video_logits)
        same(case, f"{what}, attention", output.attention[:, :t], wanted.attention)
        same(case, f"{what}, frame logits", output.frame_logits[:, :t], wanted.frame_logits)
        need(case, (output.attention[:, t:] == 0).all(), f"{what}: attended to")
        need(case, (output.frame_logits[:, t:] == 0).all(), f"{what}: frame logits are not 0")
        terms, gradients = learn(method, filled)
        all_same(case, f"{what}, loss", terms, wanted_terms)
        there = gradients["features"]
        need(case, (there[~more] == 0).all(), f"{what}: has a gradient")
        all_same(case, f"{what}, gradient", gradients | {"features": there[:, :t]}, wanted_gradients)
        finite(case, f"{what}, gradient in training", learn(case.make().train(), filled)[1])


def a_batch_is_its_bags(case: Case) -> None:
    method, bags = case.make().eval(), some_bags()
    together = answer(method, collate(bags))
    terms, gradients = learn(method, collate(bags))
    alone = [learn(method, collate([bag])) for bag in bags]
    for i, bag in enumerate(bags):
        output = answer(method, collate([bag]))
        same(case, f"video logits of {bag.id}", together.video_logits[i], output.video_logits[0])
        same(case, f"attention of {bag.id}", together.attention[i, : len(bag)], output.attention[0])
        same(case, f"frame logits of {bag.id}", together.frame_logits[i, : len(bag)], output.frame_logits[0])
    for name, term in terms.items():
        same(case, f"loss, {name}", term, torch.stack([one[name] for one, _ in alone]).mean())
    for name, _ in method.named_parameters():
        mean = torch.stack([one[name] for _, one in alone]).mean(0)
        same(case, f"gradient, {name}", gradients[name], mean)


def a_step_is_its_parts(case: Case) -> None:
    """Where a step's pairs are kept together, what processes make of their parts adds up to the step."""
    method, bags = case.make().eval(), some_bags()
    parts = [([1], []), ([0, 3], [(0, 1)]), ([2], [])]
    weight = len(bags) / len(PAIRS)
    found = [learn(method, collate([bags[i] for i in part], pairs, weight)) for part, pairs in parts]
    terms, gradients = learn(method, collate(bags, PAIRS))
    for name, term in terms.items():
        added = sum(len(part) * one[name] for (part, _), (one, _) in zip(parts, found, strict=True))
        same(case, f"loss of parts, {name}", torch.as_tensor(added) / len(bags), term)
    for name, _ in method.named_parameters():
        added = sum(len(part) * one[name] for (part, _), (_, one) in zip(parts, found, strict=True))
        same(case, f"gradient of parts, {name}", torch.as_tensor(added) / len(bags), gradients[name])


def one_frame_is_enough(case: Case) -> None:
    method, bag = case.make(), some_bags()[1]
    output = answer(method, collate([bag, bag]))
    same(case, "attention of the only frame", output.attention, torch.ones(2, 1))
    for what, found in zip(("loss", "gradient"), learn(method, collate([bag])), strict=True):
        finite(case, f"a bag of one frame, {what}", found)


def order_matters_where_it_says(case: Case) -> None:
    method, bags = case.make().eval(), some_bags()
    turned = [replace(bag, features=bag.features.flip(0)) for bag in bags if bag.features is not None]
    before, after = answer(method, collate(bags)), answer(method, collate(turned))
    if not method.order_free:
        change = (before.video_logits - after.video_logits).abs().max()
        need(case, change > 1e-4, "the order of the frames changes nothing: set order_free")
        return
    same(case, "video logits of frames in another order", after.video_logits, before.video_logits)
    for i, bag in enumerate(bags):
        n = len(bag)
        for part in ("attention", "frame_logits"):
            moved = getattr(after, part)[i, :n].flip(0)
            same(case, f"{part} of frames in another order", moved, getattr(before, part)[i, :n])


def evidence_adds_up_where_it_says(case: Case) -> None:
    method = case.make().eval()
    output = answer(method, a_batch())
    added = (output.attention[..., None] * output.frame_logits).sum(1)
    if method.additive:
        same(case, "sum of attention x frame logits", added, output.video_logits)
    else:
        off = (added - output.video_logits).abs().max()
        need(case, off > 1e-5, "attention x frame logits adds up: set additive")


def unknown_classes_enter_nothing(case: Case) -> None:
    method, batch = case.make().eval(), a_batch()
    terms, gradients = learn(method, batch)
    for junk in (float("nan"), 0.0, 1.0):
        told = replace(batch, labels=batch.labels.masked_fill(~batch.known, junk))
        found_terms, found_gradients = learn(method, told)
        all_same(case, f"unknown labels of {junk}, loss", found_terms, terms)
        all_same(case, f"unknown labels of {junk}, gradient", found_gradients, gradients)
    output = answer(method, batch)
    video = output.video_logits.clone().requires_grad_()
    frame = output.frame_logits.clone().requires_grad_()
    total = method.loss(replace(output, video_logits=video, frame_logits=frame), batch)["total"]
    found = torch.autograd.grad(total, [video, frame], allow_unused=True)
    need(case, any(gradient is not None for gradient in found), "the loss depends on no logits")
    for gradient in found:
        if gradient is not None:
            by_class = gradient.abs().reshape(len(batch), -1, K).amax(1)
            need(case, (by_class[~batch.known] == 0).all(), "logits of unknown classes have a gradient")


def knowing_nothing_teaches_nothing(case: Case) -> None:
    """Terms without labels may remain; the video term is 0."""
    method, batch = case.make(), a_batch()
    blind = replace(batch, known=torch.zeros_like(batch.known))
    terms, gradients = learn(method, blind)
    finite(case, "no class is known, loss", terms)
    finite(case, "no class is known, gradient", gradients)
    need(case, terms.get("video", torch.tensor(0.0)) == 0, "no class is known, yet there is a video loss")
    others, _ = learn(method, replace(blind, labels=1 - blind.labels))
    all_same(case, "no class is known, loss of other labels", others, terms)


def no_positive_label_is_fine(case: Case) -> None:
    batch = a_batch()
    empty = replace(batch, labels=torch.zeros_like(batch.labels), known=torch.ones_like(batch.known))
    for what, found in zip(("loss", "gradient"), learn(case.make(), empty), strict=True):
        finite(case, f"no positive label, {what}", found)


def equal_frames_are_fine(case: Case) -> None:
    """All frames alike: nothing to prefer, where order means nothing."""
    method, batch = case.make(), a_batch()
    for value in (0.0, 0.5):
        flat = replace(batch, features=torch.full_like(features_of(batch), value) * batch.mask[..., None])
        for what, found in zip(("loss", "gradient"), learn(method, flat), strict=True):
            finite(case, f"frames all {value}, {what}", found)
        if method.order_free:
            share = batch.mask / batch.mask.sum(1, keepdim=True)
            shown = answer(case.make().eval(), flat).attention  # dropout makes frames differ
            same(case, f"attention to frames all {value}", shown, share)


def every_parameter_learns(case: Case) -> None:
    method = case.make().train()
    gradients = learn(method, a_batch())[1]
    parameters = [name for name, _ in method.named_parameters()]
    need(case, bool(parameters), "it has no parameters")
    for name in method.inert:
        need(case, name in parameters, f"inert names {name}, which is no parameter")
    for name in parameters:
        most = gradients[name].abs().max()
        if name in method.inert:
            need(case, most < 1e-6, f"{name} is said to be inert, but learns")
        else:
            need(case, most > 0, f"{name} gets no gradient")


def the_loss_touches_no_parameter(case: Case) -> None:
    """So that all that is trained is used in `forward`, where data-parallel training sees it."""
    method, batch = case.make(), a_batch()
    total = method.loss(answer(method, batch), batch)["total"]
    need(case, not total.requires_grad, "the loss uses parameters")


def a_batch_can_be_learnt(case: Case) -> None:
    """A frame a class carries a direction of its own; 6 bags, 3 classes. Dropout would only slow it down."""
    has = {option.name for option in describe(case.name).options}
    method = case.make(**({"dropout": 0.0} if "dropout" in has else {})).train()
    draw = torch.Generator().manual_seed(3)
    labels = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 0], [0, 1, 1]])
    bags = []
    for i, present in enumerate(labels):
        features = 0.3 * torch.randn(3 + i % 4, D, generator=draw)
        for k in present.nonzero().flatten().tolist():
            features[k % len(features), k] += 4
        bags.append(Bag(f"bag{i}", present, torch.ones(K).bool(), features))
    batch = collate(bags)
    optimizer = torch.optim.Adam(method.parameters(), lr=0.05)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        total = method.loss(method(features_of(batch), batch.mask), batch)["total"]
        total.backward()
        optimizer.step()
        losses.append(float(total.detach()))
    need(case, losses[-1] < 0.3 * losses[0], f"the loss went from {losses[0]:.3g} to {losses[-1]:.3g} only")
    scores = method.scores(answer(method.eval(), batch))
    if (
        method.relative
    ):  # in each bag, what is present lies above what is absent; a bag without labels is not seen
        present, absent = scores.where(labels > 0, 1.0).amin(1), scores.where(labels == 0, 0.0).amax(1)
        right = (present > absent)[labels.any(1)]
    else:
        right = (scores > 0.5) == labels.bool()
    need(case, right.all(), f"learnt, yet scores are {scores.tolist()}")


def what_is_saved_is_all(case: Case) -> None:
    """Name, options and state dict, by way of their files, make the same method."""
    method, batch = case.make().eval(), a_batch()
    told = json.loads(json.dumps(method.options))
    need(case, told == method.options, "the options are not JSON")
    twin = create(method.name, num_classes=K, feature_dim=D, **told).eval()
    need(case, twin.options == method.options, "the options come back changed")
    twin.load_state_dict(safetensors.torch.load(safetensors.torch.save(method.state_dict())))
    found, wanted = answer(twin, batch), answer(method, batch)
    for part in ("video_logits", "attention", "frame_logits"):
        need(case, torch.equal(getattr(found, part), getattr(wanted, part)), f"{part} differ after loading")


def eval_is_eval(case: Case) -> None:
    method, batch = case.make().eval(), a_batch()
    before = {name: value.clone() for name, value in method.state_dict().items()}
    torch.manual_seed(1)
    once = answer(method, batch)
    torch.manual_seed(2)
    again = answer(method, batch)
    need(case, torch.equal(once.video_logits, again.video_logits), "chance enters eval mode")
    need(case, torch.equal(once.attention, again.attention), "chance enters attention in eval mode")
    unchanged = all(torch.equal(value, before[name]) for name, value in method.state_dict().items())
    need(case, unchanged, "forward changes the state in eval mode")
    if "dropout" in method.options:
        dropping = case.make(dropout=0.5)
        draws = [answer(dropping.train(), batch).video_logits for _ in range(2)]
        need(case, not torch.equal(*draws), "dropout drops nothing")
        kept = answer(dropping.eval(), batch).video_logits
        same(case, "dropout in eval mode", kept, answer(case.make(dropout=0.0).eval(), batch).video_logits)


def scores_are_probabilities(case: Case) -> None:
    method, batch = case.make().eval(), a_batch()
    for scale in (1, 1e4):
        output = answer(method, replace(batch, features=features_of(batch) * scale))
        for name, scores in (
            ("scores", method.scores(output)),
            ("frame_scores", method.frame_scores(output)),
        ):
            need(case, ((scores >= 0) & (scores <= 1)).all(), f"{name} leave 0..1 for features x {scale:g}")


def bf16_is_near(case: Case) -> None:
    method, batch = case.make(), a_batch()
    exact = answer(method.eval(), batch)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        near = answer(method, batch)
        terms, gradients = learn(method.train(), batch)
    for part in ("video_logits", "attention", "frame_logits"):
        value = getattr(near, part)
        need(case, value.dtype == torch.float32, f"{part} in bf16: {value.dtype}, not float32")
        same(case, f"{part} in bf16", value, getattr(exact, part), 0.06)
    same(case, "attention's sum in bf16", near.attention.sum(1), torch.ones(len(batch)))
    finite(case, "bf16, loss", terms)
    finite(case, "bf16, gradient", gradients)


def weights_enter_the_loss(case: Case) -> None:
    method, batch = case.make().eval(), a_batch()
    state = set(method.state_dict())
    plain = learn(method, batch)[0]["total"]
    method.weigh(positive=torch.full((K,), 5.0))
    need(case, learn(method, batch)[0]["total"] > plain, "heavier positive labels cost no more")
    method.weigh(classes=torch.tensor([1.0, 0, 0]))
    terms = learn(method, batch)[0]
    flipped = batch.labels.clone()
    flipped[:, 1:] = 1 - flipped[:, 1:]
    all_same(case, "labels of weightless classes", learn(method, replace(batch, labels=flipped))[0], terms)
    need(case, terms["total"] != plain, "class weights change nothing")
    method.weigh()
    need(case, learn(method, batch)[0]["total"] == plain, "weigh() does not take the weights back")
    need(case, set(method.state_dict()) == state, "weights enter the state dict")


def inputs_are_left_alone(case: Case) -> None:
    batch = a_batch()
    method, features, mask = case.make(), features_of(batch).clone(), batch.mask.clone()
    features[~mask] = 7
    given = features.clone()
    with torch.no_grad():
        method(given, mask)
    need(case, torch.equal(given, features) and torch.equal(mask, batch.mask), "forward changes its inputs")


def chance_is_torchs(case: Case) -> None:
    """The same seed, the same parameters; another seed, others."""
    first, second, other = (case.make(seed).state_dict() for seed in (0, 0, 1))
    need(case, all(torch.equal(first[name], second[name]) for name in first), "the seed does not decide")
    need(case, any(not torch.equal(first[name], other[name]) for name in first), "the seed changes nothing")


CHECKS: list[Callable[[Case], None]] = [
    shapes_and_types,
    attention_is_over_real_frames,
    padding_changes_nothing,
    a_batch_is_its_bags,
    a_step_is_its_parts,
    one_frame_is_enough,
    order_matters_where_it_says,
    evidence_adds_up_where_it_says,
    unknown_classes_enter_nothing,
    knowing_nothing_teaches_nothing,
    no_positive_label_is_fine,
    equal_frames_are_fine,
    every_parameter_learns,
    the_loss_touches_no_parameter,
    a_batch_can_be_learnt,
    what_is_saved_is_all,
    eval_is_eval,
    scores_are_probabilities,
    bf16_is_near,
    weights_enter_the_loss,
    inputs_are_left_alone,
    chance_is_torchs,
]
