"""Maps from score to probability: values worked out by hand, and the way through the model folder."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from models import make_model
from pydantic import ValidationError

from devcem.errors import UserError
from devcem.model import Calibration, load_model, save_model
from devcem.model.calibration import Isotonic, Platt, Temperature, Unchanged

MAPS = Calibration(
    {
        "none": Unchanged(),
        "temperature": Temperature(temperature=2),
        "platt": Platt(slope=2, bias=math.log(3)),
        "isotonic": Isotonic(scores=(0.2, 0.6), probabilities=(0.1, 0.9)),
    }
)
TWO = Calibration({"debris": Platt(slope=0.5, bias=-0.1), "polyp": Unchanged()})  # not the model's order


def test_values_by_hand() -> None:
    """logit(0.8) = log 4, so sigmoid(log(4) / 2) = 2/3; 3 * 4 ** 2 = 48 to 1; 0.3 is a quarter of the way."""
    found = MAPS.apply([[0.8, 0.8, 0.8, 0.3], [0.1, 0.5, 0.5, 0.9]])
    np.testing.assert_allclose(found, [[0.8, 2 / 3, 48 / 49, 0.3], [0.1, 0.5, 0.75, 0.9]], atol=1e-12)


@given(arrays.arrays(np.float64, (6, 4), elements=st.floats(0, 1)))
def test_every_map_keeps_the_ranking_and_gives_probabilities(scores: np.ndarray) -> None:
    found = MAPS.apply(np.sort(scores, axis=0))
    assert np.isfinite(found).all() and (found >= 0).all() and (found <= 1).all()
    assert (np.diff(found, axis=0) >= 0).all()


def test_the_ends_and_any_number_of_axes() -> None:
    for end in (0.0, 1.0):
        assert np.isfinite(MAPS.apply(np.full(4, end))).all()
    scores = np.random.default_rng(0).random((2, 3, 4))
    before = scores.copy()
    np.testing.assert_array_equal(MAPS.apply(scores)[1, 2], MAPS.apply(scores[1, 2]))
    np.testing.assert_array_equal(scores, before)
    with pytest.raises(ValueError, match=r"shape \(2, 3\) for 4 calibrated classes"):
        MAPS.apply(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="calibrated classes"):
        MAPS.apply(0.5)


def test_it_is_ordered_by_class() -> None:
    assert TWO.classes == ("debris", "polyp") and TWO.kinds == {"debris": "platt", "polyp": "none"}
    turned = TWO.ordered(("polyp", "debris"))
    assert turned.classes == ("polyp", "debris")
    np.testing.assert_array_equal(turned.apply([0.3, 0.7]), TWO.apply([0.7, 0.3])[::-1])


def test_words_come_back() -> None:
    assert Calibration.model_validate_json(MAPS.model_dump_json()) == MAPS
    assert json.loads(MAPS.model_dump_json())["temperature"] == {"kind": "temperature", "temperature": 2.0}


@pytest.mark.parametrize(
    "told",
    [
        {"kind": "temperature", "temperature": 0},
        {"kind": "temperature"},
        {"kind": "platt", "slope": -1, "bias": 0},
        {"kind": "platt", "slope": 1, "bias": float("nan")},
        {"kind": "isotonic", "scores": [], "probabilities": []},
        {"kind": "isotonic", "scores": [0.1, 0.2], "probabilities": [0.5]},
        {"kind": "isotonic", "scores": [0.2, 0.2], "probabilities": [0.4, 0.5]},
        {"kind": "isotonic", "scores": [0.1, 0.2], "probabilities": [0.5, 0.4]},
        {"kind": "isotonic", "scores": [0.1], "probabilities": [1.1]},
        {"kind": "beta"},
        {},
    ],
)
def test_maps_that_are_none_are_refused(told: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Calibration.model_validate({"polyp": told})


def test_it_travels_in_the_model_folder(tmp_path: Path) -> None:
    maps = Calibration(
        {"polyp": Isotonic(scores=(0.1, 1 / 3), probabilities=(0.2, 2 / 3)), "debris": Unchanged()}
    )
    for calibration in (TWO, maps, None):
        model = make_model("mean-pool", calibration=calibration)
        loaded = load_model(save_model(tmp_path / "model", model), "torch", "cpu")
        assert loaded.info.calibration == calibration
        scores = np.random.default_rng(1).random((5, 2))
        np.testing.assert_array_equal(loaded.calibrated(scores), model.calibrated(scores))
    assert json.loads((tmp_path / "model" / "model.json").read_text())["calibration"] is None


@pytest.mark.parametrize("old", ["null", "absent"])
def test_folders_from_before_it_can_be_read(tmp_path: Path, old: str) -> None:
    path = save_model(tmp_path / "model", make_model("mean-pool")) / "model.json"
    told = json.loads(path.read_text())
    told.pop("calibration")
    path.write_text(json.dumps(told | ({"calibration": None} if old == "null" else {})))
    model = load_model(tmp_path / "model", "torch", "cpu")
    assert model.info.calibration is None and model.calibration is None
    assert model.calibrated([0.25, 0.5]).tolist() == [0.25, 0.5]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"polyp": {"kind": "none"}}, "calibration and classes do not go together: debris"),
        ({"polyp": {"kind": "none"}, "debris": {"kind": "beta"}}, "calibration.debris"),
        (
            {"polyp": {"kind": "none"}, "debris": {"kind": "platt", "slope": -1, "bias": 0}},
            "calibration.debris",
        ),
    ],
)
def test_what_does_not_fit_is_told(tmp_path: Path, told: dict[str, object], message: str) -> None:
    path = save_model(tmp_path / "model", make_model("mean-pool")) / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"calibration": told}))
    with pytest.raises(UserError) as error:
        load_model(tmp_path / "model")
    assert message in str(error.value) and error.value.remedy


def test_predictions_carry_probabilities_and_call_by_scores() -> None:
    """Calibration lies in the file in another order than the classes."""
    model = make_model("mean-pool", calibration=TWO)
    plain = make_model("mean-pool")
    features = np.random.default_rng(2).standard_normal((4, model.info.feature_dim)).astype(np.float32)
    told, without = model.predict_features(features), plain.predict_features(features)
    polyp, debris = told.video_scores.astype(np.float64)
    odds = (debris / (1 - debris)) ** 0.5 * math.exp(-0.1)
    assert told.probabilities == pytest.approx([polyp, odds / (1 + odds)], rel=1e-6)
    assert told.probabilities[0] == told.video_scores[0] and told.probabilities[1] != told.video_scores[1]
    np.testing.assert_array_equal(told.probabilities, model.calibrated(told.video_scores))
    np.testing.assert_array_equal(told.video_scores, without.video_scores)
    np.testing.assert_array_equal(without.probabilities, without.video_scores)
    assert told.labels == without.labels


def test_the_card_tells_which_classes_are_calibrated(tmp_path: Path) -> None:
    def card(calibration: Calibration | None) -> str:
        folder = save_model(tmp_path / "model", make_model("mean-pool", calibration=calibration))
        return (folder / "README.md").read_text()

    assert "calibrated on validation for debris (platt); others are scores" in card(TWO)
    unchanged = Calibration({"polyp": Unchanged(), "debris": Unchanged()})
    for calibration in (None, unchanged):
        assert "Scores are not calibrated: none is a probability." in card(calibration)
