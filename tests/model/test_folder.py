"""The model folder: what is saved comes back, and what is damaged is told."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
from models import make_model, trained_on

import devcem
from devcem.encoders import load_backbone
from devcem.encoders.weights import digest, sha256
from devcem.errors import UserError
from devcem.methods import create
from devcem.model import Model, Threshold, load_model, save_model

SMALL = {"hidden": 4, "attention_dim": 4}


@pytest.fixture(scope="module")
def model() -> Model:
    return make_model("ps-devcem", options=SMALL, trained_on=trained_on(True))


@pytest.fixture(scope="module")
def written(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("written") / "model", model)


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(written, tmp_path / "model"))


def same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    return digest(one.state_dict()) == digest(other.state_dict())


def edit(folder: Path, change: Callable[[dict], object]) -> None:
    path = folder / "model.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_what_is_saved_comes_back(model: Model, written: Path) -> None:
    loaded = load_model(written, engine="torch", device="cpu")
    assert sorted(path.name for path in written.iterdir()) == ["README.md", "model.json", "model.safetensors"]
    assert loaded.info.model_copy(update={"tensors": ""}) == model.info
    assert same(loaded.method, model.method) and same(loaded.backbone.network, model.backbone.network)
    assert not loaded.method.training and not loaded.backbone.network.training
    frames = np.random.default_rng(0).integers(0, 256, (4, 160, 160, 3), np.uint8)
    one, other = (m.predict_features(m.encoder.encode(frames)) for m in (model, loaded))
    np.testing.assert_array_equal(one.frame_scores, other.frame_scores)
    np.testing.assert_array_equal(one.video_scores, other.video_scores)


def test_the_package_offers_it(written: Path) -> None:
    assert devcem.load_model(written).classes == ("polyp", "debris")
    with pytest.raises(AttributeError, match="load_modle"):
        _ = devcem.load_modle


def test_the_folder_of_a_run_will_do(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written, tmp_path / "run" / "model")
    assert load_model(tmp_path / "run").info == load_model(written).info


def test_the_tensors_are_safetensors_and_can_be_read_by_others(model: Model, written: Path) -> None:
    tensors = safetensors.torch.load_file(written / "model.safetensors")
    told = json.loads((written / "model.json").read_text())
    assert told["tensors"] == sha256(written / "model.safetensors")
    for name, value in model.method.state_dict().items():
        assert torch.equal(tensors.pop(f"method.{name}"), value)
    assert {name.partition(".")[0] for name in tensors} == {"backbone"}


def test_the_backbone_is_told_with_its_checksum(written: Path) -> None:
    told = json.loads((written / "model.json").read_text())["backbone"]
    before = load_backbone("test_resnet", "random")
    assert (told["encoder"], told["source"]) == ("test_resnet", "random:0")
    assert told["weights"] == digest(before.network.state_dict())


def test_loading_needs_no_weights_from_elsewhere(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the folder is read: no package, no network."""
    monkeypatch.setattr("devcem.encoders.weights.packaged", lambda _: pytest.fail("a package was asked"))
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("the network was asked"))
    load_model(written)


def test_the_random_numbers_of_the_caller_are_left_alone_by_saving(model: Model, tmp_path: Path) -> None:
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    save_model(tmp_path / "model", model)
    assert torch.equal(torch.rand(3), wanted)


class Killed(BaseException):
    """What no handler catches."""


def test_a_kill_at_any_rename_leaves_one_whole_model(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time the process dies before another rename; the last time it lives."""
    newer = make_model("ps-devcem", options=SMALL, seed=1)
    assert not same(newer.method, model.method)
    replace, ends = Path.replace, []
    for allowed in range(10):
        place = tmp_path / str(allowed) / "model"
        save_model(place, model)
        left = allowed

        def dying(self: Path, target: Path) -> Path:
            nonlocal left
            if not left:
                raise Killed
            left -= 1
            return replace(self, target)

        monkeypatch.setattr(Path, "replace", dying)
        try:
            save_model(place, newer)
        except Killed:
            pass
        else:
            ends.append(allowed)
        monkeypatch.setattr(Path, "replace", replace)
        found = load_model(place)
        assert same(found.method, newer.method if ends else model.method)
        if ends:
            break
        save_model(place, newer)  # the next one takes up what lies there
        assert same(load_model(place).method, newer.method)
    assert ends and ends[0] > 3


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_text("{"), "this is not JSON"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "this is not JSON"),
        (lambda path: path.write_text("[]"), "does not describe a model"),
        (lambda path: path.unlink(), "not a model folder"),
    ],
)
def test_a_damaged_description_is_told(folder: Path, damage: Callable[[Path], object], message: str) -> None:
    damage(folder / "model.json")
    with pytest.raises(UserError, match=message) as error:
        load_model(folder)
    assert error.value.remedy and str(folder) in str(error.value.where)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda told: told.pop("classes"), "classes: Field required"),
        (lambda told: told.update(extra=1), "extra: there is no such setting"),
        (lambda told: told.update(window=0), "window: Input should be greater than or equal to 1"),
        (lambda told: told["thresholds"].pop("polyp"), "do not go together: polyp"),
        (lambda told: told.update(method="ps-devcen"), "did you mean 'ps-devcem'"),
        (lambda told: told["options"].update(hiden=3), "hiden"),
        (
            lambda told: told["thresholds"]["polyp"].update(value=float("nan")),
            "thresholds.polyp.value: Input",
        ),
        (lambda told: told["backbone"].pop("size"), "backbone.size: Field required"),
        (lambda told: told["backbone"].update(size="big"), "backbone.size: Input should be a valid integer"),
        (lambda told: told["backbone"].update(mean=[1]), "backbone.mean.1: Field required"),
        (
            lambda told: told["backbone"].update(std=[1, 0, 1]),
            "backbone.std.1: Input should be greater than 0",
        ),
        (lambda told: told["backbone"].update(architecture=None), "backbone.architecture: Input should be"),
        (lambda told: told["backbone"].update(architecture="resnet5o"), "resnet5o"),
        (lambda told: told.update(feature_dim=7), "the tensors do not fit"),
        (lambda told: told.update(tensors="0" * 64), "not the tensors that model.json was written with"),
    ],
)
def test_what_does_not_fit_is_told(folder: Path, change: Callable[[dict], object], message: str) -> None:
    edit(folder, change)
    with pytest.raises(UserError) as error:
        load_model(folder)
    assert message in str(error.value) and "model." in str(error.value.where) and error.value.remedy


def test_a_newer_format_is_refused_before_its_keys_are_judged(folder: Path) -> None:
    edit(folder, lambda told: told.update(format=2, something="new"))
    with pytest.raises(UserError, match=r"written by a newer DeVCEM: format 2.*pip install --upgrade"):
        load_model(folder)


@pytest.mark.parametrize("how", ["cut", "flipped", "emptied", "gone"])
def test_damaged_tensors_are_told(folder: Path, how: str) -> None:
    path = folder / "model.safetensors"
    data = bytearray(path.read_bytes())
    if how == "flipped":
        data[-1] ^= 1  # a value; its header stays sound
    path.write_bytes(data[: {"cut": len(data) // 2, "emptied": 0}.get(how, len(data))])
    if how == "gone":
        path.unlink()
    message = {"flipped": "not the tensors", "gone": "not a model folder"}.get(how, "cannot be read")
    with pytest.raises(UserError, match=message) as error:
        load_model(folder)
    assert error.value.remedy


def test_tensors_of_another_model_are_told(folder: Path, tmp_path: Path) -> None:
    other = save_model(tmp_path / "other", make_model("ps-devcem", options={"hidden": 5, "attention_dim": 4}))
    shutil.copy(other / "model.safetensors", folder)
    with pytest.raises(UserError, match="belong together"):
        load_model(folder)


def test_the_folder_one_stands_in(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written)
    assert load_model(".", "torch", "cpu").info.method == "ps-devcem"
    monkeypatch.chdir(written.parent)  # as a run's folder
    assert load_model(Path(), "torch", "cpu").info.method == "ps-devcem"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="this is not a model folder"):
        load_model(".")


def test_a_misspelt_folder_is_named(written: Path) -> None:
    with pytest.raises(UserError, match="did you mean model"):
        load_model(written.with_name("modle"))


def test_the_card_tells_people_what_it_is(tmp_path: Path) -> None:
    thresholds = {"polyp": Threshold(value=0.31, tuned=True), "debris": Threshold()}
    model = make_model("ps-devcem", options=SMALL, thresholds=thresholds, trained_on=trained_on(True))
    card = (save_model(tmp_path / "model", model) / "README.md").read_text()
    for told in (
        "# ps-devcem, 2 classes",
        "Research use only, not a medical device.",
        "Trained on synthetic video.",
        '7 training segments (1,234 frames, 5 patients) of "hand"',
        "2 segments\nheld out for validation, by patient",
        "- map: 0.750",
        "| polyp | 0.310 | tuned on validation |",
        "| debris | 0.500 | not tuned: validation cannot judge it |",
        "hidden 4",
        "## Intended use",
        model.info.backbone["weights"][:16],
    ):
        assert told in card
    real = make_model(trained_on=trained_on(optimistic=True), metrics={})
    card = (save_model(tmp_path / "real", real) / "README.md").read_text()
    assert "synthetic" not in card.lower()
    assert "with patients on both sides, which is optimistic" in card
    assert "Not judged" in card and "flatter" not in card


def test_a_method_is_made_with_the_options_it_was_saved_with(written: Path) -> None:
    loaded = load_model(written)
    assert loaded.method.options["hidden"] == 4
    fresh = create("ps-devcem", num_classes=2, feature_dim=loaded.info.feature_dim, **SMALL)
    assert fresh.options == loaded.method.options
