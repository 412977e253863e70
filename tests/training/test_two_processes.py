"""Two processes do what one does at the same global batch; uneven shares neither hang nor drop."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from toy_bags import history, run, settings, tiny, toy

HERE = Path(__file__).parent
TIMEOUT = 120.0

PLANS: dict[str, dict[str, Any]] = {
    # name: bags that learn, bags that judge, settings
    "even": {"train": 8, "judges": 6, "settings": {"batch": 4, "optimiser": {"clip": 0.5}}},
    # the last batch has one bag, so that one process has none; three judges
    "uneven": {"train": 5, "judges": 3, "settings": {"batch": 2, "data": {"window": 5}}},
    "fewer bags than processes": {"train": 3, "judges": 1, "settings": {"batch": 1, "epochs": 3}},
    # three pairs and four bags a step, then two bags; a process may have no pair
    "in pairs": {"method": "w-talc", "train": 12, "judges": 3, "settings": {"batch": 10, "epochs": 3}},
    "one pair": {"method": "w-talc", "train": 5, "judges": 3, "settings": {"batch": 2, "epochs": 3}},
    "all at once": {"train": 7, "judges": 4, "settings": {"batch": 64, "select": "map", "patience": 2}},
}

SCRIPT = """
import json, sys
from pathlib import Path
import torch
from toy_bags import history, same, settings, tiny, toy
from devcem.training.devices import make_fabric
from devcem.training.loop import fit

class Cut(Exception):
    pass

torch.set_num_threads(1)
fabric = make_fabric(settings())
fabric.launch()
assert fabric.world_size == 2
drawn = []

def go(plan, folder=None, cut=0, **options):
    told = settings(**plan["settings"], checkpoint_seconds=0)
    train, judges = toy(plan["train"], 0, told), toy(plan["judges"], 1, told)
    draw = train.draw
    train.draw = lambda index, epoch: drawn.append((epoch, index)) or draw(index, epoch)
    def listen(progress, loss):
        if loss is None and progress.epoch == cut:
            raise Cut
    method = plan.get("method", "ps-devcem")
    if method == "w-talc":
        options = {"dropout": 0.0}  # processes draw theirs apart
    return fit(fabric, tiny(method, **options), train, judges, told, folder, listen)

found = {}
for name, plan in json.loads(sys.argv[1]).items():
    drawn.clear()
    fitted = go(plan)
    mine = [None, None]
    torch.distributed.all_gather_object(mine, (drawn, fitted.verdict.scores.tolist()))
    found[name] = {
        "history": history(fitted),
        "last": {key: value.tolist() for key, value in fitted.last.items()},
        "scores": [part[1] for part in mine],
        "drawn": [part[0] for part in mine],
    }

folder = Path(sys.argv[2])
plan = json.loads(sys.argv[1])["uneven"]
whole = go(plan, folder / "whole", dropout=0.3)
for cut in (2, 4):
    try:
        go(plan, folder / "cut", cut, dropout=0.3)
    except Cut:
        pass
again = go(plan, folder / "cut", dropout=0.3)
found["resumed alike"] = same(again.last, whole.last) and same(history(again), history(whole))
if fabric.is_global_zero:
    (folder / "found.json").write_text(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What two processes under torchrun made of all plans; both started once, for starting is what costs."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "script.py").write_text(SCRIPT)
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    words += [str(folder / "script.py"), json.dumps(PLANS), str(folder)]
    paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr[-4000:]
    content: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return content


@pytest.mark.parametrize("plan", PLANS)
def test_the_curve_is_that_of_one_process(plan: str, found: dict[str, Any]) -> None:
    torch.set_num_threads(1)
    told = settings(**PLANS[plan]["settings"])
    method = PLANS[plan].get("method", "ps-devcem")
    trainee = tiny(method, **({"dropout": 0.0} if method == "w-talc" else {}))
    fitted = run(told, toy(PLANS[plan]["train"], 0, told), toy(PLANS[plan]["judges"], 1, told), trainee)
    expected = history(fitted)
    assert len(found[plan]["history"]) == len(expected) > 1
    for row, one in zip(found[plan]["history"], expected, strict=True):
        assert row.keys() == one.keys()
        assert row == pytest.approx(one, rel=2e-3, abs=2e-4, nan_ok=True)
    for name, value in fitted.last.items():
        if name.removeprefix("method.") in trainee.method.inert:
            continue  # its gradient is nothing but rounding, which Adam makes whole steps of
        torch.testing.assert_close(torch.tensor(found[plan]["last"][name]), value, rtol=0.02, atol=2e-3)


@pytest.mark.parametrize("plan", PLANS)
def test_no_bag_is_dropped_and_none_counts_twice(plan: str, found: dict[str, Any]) -> None:
    """Both read every epoch's bags between them; what is read twice only fills up a short last batch."""
    first, second = ([tuple(pair) for pair in part] for part in found[plan]["drawn"])
    epochs = len(found[plan]["history"])
    assert {*first, *second} == {(e, i) for e in range(epochs) for i in range(PLANS[plan]["train"])}
    assert len(first) == epochs * PLANS[plan]["train"] - len(set(second) - set(first))


@pytest.mark.parametrize("plan", PLANS)
def test_both_hold_the_same_verdict(plan: str, found: dict[str, Any]) -> None:
    assert found[plan]["scores"][0] == found[plan]["scores"][1]


def test_an_interrupted_run_of_two_goes_on_to_the_same_bits(found: dict[str, Any]) -> None:
    assert found["resumed alike"]
