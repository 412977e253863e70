"""The loop learns, counts every bag once an epoch, keeps the best weights, and stops with a reason."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from toy_bags import history, run, same, settings, tiny, toy

from devcem.errors import UserError
from devcem.evaluation import mean_ap
from devcem.methods.bag import Bag, collate
from devcem.training.bags import FeatureBags
from devcem.training.loop import Progress
from devcem.training.order import steps


def test_ps_devcem_overfits_eight_bags() -> None:
    told = settings(epochs=40, select="map")
    bags = toy(8, noise=1.0, settings=told)
    fitted = run(told, bags, bags)
    losses = [row["train_total"] for row in fitted.progress.history]
    assert losses[-1] < 0.1 * losses[0]
    assert mean_ap(bags.labels, fitted.verdict.scores) > 0.99
    assert fitted.verdict.map > 0.99


@pytest.mark.parametrize(
    "method",
    [
        "ps-devcem-no-selfsup",
        "atten-conv",
        "attention-mil",
        "gated-attention-mil",
        "stpn",
        "w-talc",
        "mi-net",
        "mi-net-embedding",
        "mean-pool",
    ],
)
def test_other_methods_learn_by_the_same_loop(method: str) -> None:
    fitted = run(settings(epochs=10), trainee=tiny(method))
    losses = [row["train_total"] for row in fitted.progress.history]
    assert losses[-1] < 0.9 * losses[0]


def test_the_loss_in_the_history_is_the_mean_over_bags() -> None:
    """With weights that do not move: batches of 3, 3 and 2 bags, each bag's loss worked out alone."""
    told = settings(batch=3, epochs=1, optimiser={"lr": 1e-30})
    bags, judges, trainee = toy(8, settings=told), toy(5, seed=2, settings=told), tiny()

    def alone(of: FeatureBags) -> dict[str, float]:
        found = [trainee.judged(collate([of.judge(index)]))[1] for index in range(len(of.ids))]
        return {name: float(np.mean([terms[name].item() for terms in found])) for name in found[0]}

    expected, judged = alone(bags), alone(judges)
    row = run(told, bags, judges, trainee).progress.history[0]
    assert {row["epoch"], row["lr"]} == {1, 1e-30}
    for name in ("video", "selfsup", "total"):
        assert row[f"train_{name}"] == pytest.approx(expected[name], rel=1e-5)
        assert row[f"val_{name}"] == pytest.approx(judged[name], rel=1e-5)


def test_pairs_reach_the_loss_and_the_history() -> None:
    """Weights that do not move, one step of 8 bags with its two pairs: the history has this batch's terms."""
    told = settings(batch=8, epochs=1, data={"sampling": "uniform"}, optimiser={"lr": 1e-30})
    bags, trainee = toy(8, settings=told), tiny("w-talc", dropout=0.0)
    (step,) = steps(trainee.method.compose, bags.labels, 8, told.seed, 0)
    assert len(step.pairs) == 2
    terms = trainee.judged(collate([bags.draw(int(n), 0) for n in step.bags], step.pairs.tolist()))[1]
    assert terms["co_activity"] > 0
    row = run(told, bags, trainee=trainee).progress.history[0]
    for name, term in terms.items():
        assert row[f"train_{name}"] == pytest.approx(term.item(), rel=1e-5)
    assert row["val_co_activity"] == 0  # validation has no pairs


def test_a_run_in_pairs_goes_on_within_an_epoch(tmp_path: Path) -> None:
    told = settings(batch=3, epochs=3, checkpoint_seconds=0)
    whole = run(told, toy(11, settings=told), trainee=tiny("w-talc"))

    class Cut(Exception):
        pass

    def listen(progress: Progress, _loss: float | None) -> None:
        if progress.steps == 6 and progress.step == 2:
            raise Cut

    with pytest.raises(Cut):
        run(told, toy(11, settings=told), trainee=tiny("w-talc"), folder=tmp_path, listener=listen)
    again = run(told, toy(11, settings=told), trainee=tiny("w-talc"), folder=tmp_path)
    assert same(again.last, whole.last) and same(history(again), history(whole))


def test_each_epoch_draws_every_bag_once_also_when_the_last_batch_is_short() -> None:
    told = settings(batch=2, epochs=3)
    drawn: list[tuple[int, int]] = []

    class Counted(FeatureBags):
        def draw(self, index: int, epoch: int) -> Bag:
            drawn.append((epoch, index))
            return super().draw(index, epoch)

    bags = toy(5, settings=told)
    bags.__class__ = Counted
    fitted = run(told, bags)
    assert sorted(drawn) == [(epoch, index) for epoch in range(3) for index in range(5)]
    assert fitted.progress.steps == 9


def test_reading_threads_change_nothing() -> None:
    one, four = (run(settings(workers=workers, epochs=3)) for workers in (1, 4))
    assert same(history(one), history(four))
    assert same(one.last, four.last)


def test_a_worse_validation_never_replaces_the_best_and_patience_ends_the_run() -> None:
    """Judges with all labels turned round: the first epoch is the best, and what learning adds is harm."""
    told = settings(epochs=30, patience=3, optimiser={"lr": 0.02})
    bags = toy(8, settings=told)
    judges = toy(8, settings=told)
    judges.labels = ~judges.labels
    trainee = tiny("ps-devcem-no-selfsup")
    fitted = run(told, bags, judges, trainee)
    assert fitted.progress.ended
    assert fitted.progress.best_epoch == 0
    assert fitted.progress.epoch == len(fitted.progress.history) == 4
    once = tiny("ps-devcem-no-selfsup")
    first = run(settings(epochs=1, optimiser={"lr": 0.02}), bags, judges, once)
    assert same(dict(trainee.state_dict()), dict(once.state_dict()))  # the best weights are in place
    assert same(dict(trainee.state_dict()), first.last)
    assert not same(fitted.last, first.last)
    assert fitted.verdict.loss == first.verdict.loss == fitted.progress.history[0]["val_total"]


def test_what_selects_decides_the_epoch() -> None:
    for select, key, best in (("loss", "val_total", min), ("map", "val_map", max)):
        told = settings(epochs=12, select=select, optimiser={"lr": 0.05})
        fitted = run(told, toy(8, noise=2.0, settings=told), toy(9, 3, noise=2.0, settings=told))
        kept = fitted.progress.history[fitted.progress.best_epoch][key]
        assert kept == best(row[key] for row in fitted.progress.history)


def test_the_learning_rate_follows_its_schedule() -> None:
    told = settings(batch=4, epochs=4, optimiser={"lr": 1.0, "lowest_lr": 0.5, "schedule": "cosine"})
    rates = [row["lr"] for row in run(told, toy(8, settings=told)).progress.history]
    assert rates == pytest.approx([0.75 + 0.25 * math.cos(math.pi * step / 8) for step in (2, 4, 6, 8)])


def test_the_gradient_is_clipped() -> None:
    """Adam hides the gradient's size, but not from its own moments: after one step v = (1 - b2) g^2."""
    norms = []
    for clip in (0.0, 1e-3):
        told = settings(batch=8, epochs=1, optimiser={"clip": clip})
        trainee = tiny()
        run(told, toy(8, settings=told), trainee=trainee)
        norms.append(
            math.sqrt(sum(float(p.grad.square().sum()) for p in trainee.parameters() if p.grad is not None))
        )
    assert norms[1] == pytest.approx(1e-3, rel=1e-3)
    assert norms[0] > 1e-2


def test_what_is_not_finite_stops_the_run_and_names_the_batch() -> None:
    told = settings(batch=2)
    bags = toy(6, settings=told)
    poisoned = FeatureBags(
        bags.ids,
        [f if index != 4 else f * np.nan for index, f in enumerate(bags._features)],
        bags.labels,
        data=told.data,
    )
    trainee = tiny()
    with pytest.raises(UserError, match=r"not finite .*video nan.* in epoch 1, step \d, on .*bag4") as told_:
        run(told, poisoned, trainee=trainee)
    assert told_.value.what.count("bag") == 2  # the batch, and no other
    assert all(bool(p.isfinite().all()) for p in trainee.parameters())  # the step was not taken


def test_a_validation_that_is_not_finite_is_told_with_its_segments() -> None:
    told = settings(epochs=1)
    judges = toy(5, settings=told)
    judges._features[3][:] = np.inf
    with pytest.raises(UserError, match=r"validation.*not finite.*bag3"):
        run(told, validation=judges)


def test_unknown_labels_enter_neither_loss_nor_selection() -> None:
    told = settings(epochs=3)
    bags, turned = toy(8, settings=told), toy(8, settings=told)
    known = np.random.default_rng(0).random(bags.labels.shape) < 0.7
    bags.known = turned.known = known
    turned.labels = np.where(known, turned.labels, ~turned.labels)
    one, two = run(told, bags, bags), run(told, turned, turned)
    assert same(history(one), history(two))
    assert same(one.last, two.last)


def test_the_listener_hears_of_steps_and_epochs() -> None:
    heard: list[tuple[int, int, bool]] = []

    def listen(progress: Progress, loss: float | None) -> None:
        heard.append((progress.epoch, progress.steps, loss is None))

    run(settings(batch=4, epochs=2), toy(8), listener=listen)
    assert heard == [(0, 1, False), (0, 2, False), (1, 2, True), (1, 3, False), (1, 4, False), (2, 4, True)]


def test_bf16_learns_like_fp32() -> None:
    curves = [
        [row["train_total"] for row in run(settings(precision=precision, epochs=8)).progress.history]
        for precision in ("fp32", "bf16")
    ]
    assert curves[1] != curves[0]
    assert curves[1] == pytest.approx(curves[0], abs=0.1)
    assert curves[1][-1] < 0.7 * curves[1][0]


def test_memory_that_runs_out_says_what_to_lower(monkeypatch: pytest.MonkeyPatch) -> None:
    trainee = tiny()

    def hungry(*_: object) -> None:
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried 1 TiB")

    monkeypatch.setattr(trainee.method, "forward", hungry)
    with pytest.raises(UserError, match=r"memory ran out\. Remedy: set batch=2 \(now 4\)"):
        run(settings(), trainee=trainee)


def test_a_folder_is_not_needed_and_none_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(settings(epochs=1, checkpoint_seconds=0))
    assert list(tmp_path.iterdir()) == []


def test_neither_drawing_nor_judging_writes_into_the_features() -> None:
    told = settings(epochs=2, data={"window": 5})
    bags = toy(8, settings=told)
    before = [features.copy() for features in bags._features]
    run(told, bags)
    assert all(np.array_equal(one, two) for one, two in zip(before, bags._features, strict=True))
