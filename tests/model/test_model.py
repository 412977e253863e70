"""Predictions on segments of any length, against sums worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from models import make_model, trained_on, write_frames

from devcem.errors import UserError
from devcem.frames import open_source
from devcem.methods import describe, names
from devcem.model import Model, Threshold


def sigmoid(values: np.ndarray | float) -> np.ndarray:
    return 1 / (1 + np.exp(-np.asarray(values, np.float64)))


def only_sum(bias: float = 0.0) -> Model:
    """Mean pooling whose first class's logit is the first feature, the second's its negative plus *bias*."""
    model = make_model("mean-pool")
    with torch.no_grad():
        model.method.head.weight.zero_()
        model.method.head.weight[:, 0] = torch.tensor([1.0, -1.0])
        model.method.head.bias.copy_(torch.tensor([0.0, bias]))
    return model


def one_feature(model: Model, *values: float) -> np.ndarray:
    features = np.zeros((len(values), model.info.feature_dim), np.float32)
    features[:, 0] = values
    return features


def test_a_segment_that_fits_the_window_is_one_sample() -> None:
    model = only_sum(bias=2.0)
    told = model.predict_features(one_feature(model, 1, 2, 3))
    assert told.video_scores == pytest.approx(sigmoid([2, 0]), abs=1e-6)  # the mean is 2; 2 - 2
    assert told.frame_scores[:, 0] == pytest.approx(sigmoid([1, 2, 3]), abs=1e-6)
    assert told.frame_scores[:, 1] == pytest.approx(sigmoid([1, 0, -1]), abs=1e-6)
    assert told.attention == pytest.approx([1 / 3] * 3, abs=1e-6)


def test_a_longer_segment_is_the_mean_of_interleaved_samples() -> None:
    """Seven frames and a window of three: frames 0 3 6, 1 4 and 2 5, means 4, 1.5 and 6."""
    model = only_sum()
    values = (0, 1, 8, 6, 2, 4, 6)
    told = model.predict_features(one_feature(model, *values))
    assert told.video_scores[0] == pytest.approx(sigmoid([4, 1.5, 6]).mean(), abs=1e-6)
    assert told.video_scores[1] == pytest.approx(sigmoid([-4, -1.5, -6]).mean(), abs=1e-6)
    assert told.frame_scores[:, 0] == pytest.approx(sigmoid(values), abs=1e-6)
    third, half = 1 / 9, 1 / 6  # of a sample of three, of two, each over three samples
    assert told.attention == pytest.approx([third, half, half, third, half, half, third], abs=1e-6)


def test_many_samples_go_through_the_head_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model("ps-devcem", options={"hidden": 4, "attention_dim": 4})
    features = np.random.default_rng(1).standard_normal((50, model.info.feature_dim)).astype(np.float32)
    whole = model.predict_features(features)
    monkeypatch.setattr("devcem.model.model.SAMPLES", 5)
    parts = model.predict_features(features)
    for name in ("video_scores", "frame_scores", "attention"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-6)


def test_features_that_are_none_are_refused() -> None:
    model = make_model("mean-pool")
    good = one_feature(model, 1, 2, 3)
    for bad in (good[:0], good[:, :-1], good[0]):
        with pytest.raises(
            ValueError, match=rf"features must be \[T,{good.shape[1]}\] with a frame at least"
        ):
            model.predict_features(bad)
    with pytest.raises(ValueError, match="2 numbers for 3 frames"):
        model.predict_features(good, np.arange(2))
    with pytest.raises(ValueError, match="1 times for 3 frames"):
        model.predict_features(good, None, np.zeros(1))
    for junk in (np.nan, np.inf):
        good[1, 4] = junk
        with pytest.raises(
            UserError, match=r"features of 1 of 3 frames are not finite, the first of frame 11"
        ):
            model.predict_features(good, np.arange(10, 13))


@pytest.mark.parametrize("method", names())
@settings(max_examples=4, deadline=None)
@given(count=st.integers(1, 20))
def test_every_method_answers_for_every_frame(method: str, count: int) -> None:
    model = cached(method)
    features = np.random.default_rng(count).standard_normal((count, model.info.feature_dim))
    told = model.predict_features(features.astype(np.float32))
    assert told.frame_scores.shape == (count, 2) and told.video_scores.shape == (2,)
    for scores in (told.video_scores, told.frame_scores):
        assert ((scores >= 0) & (scores <= 1)).all()
    assert told.attention.sum() == pytest.approx(1, abs=1e-5) and (told.attention >= 0).all()


_models: dict[str, Model] = {}


def cached(method: str) -> Model:
    """Small, where the method lets itself be made small."""
    if method not in _models:
        offered = [option.name for option in describe(method).options]
        small = {name: 4 for name in ("hidden", "attention_dim") if name in offered}
        _models[method] = make_model(method, options=small)
    return _models[method]


def test_frames_are_read_by_number_and_encoded_by_the_backbone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scores of a stretch are the head's on the network's own features of these very frames."""
    monkeypatch.setattr("devcem.model.model.CHUNK", 2)
    model = make_model("mean-pool", window=30)
    size = model.backbone.size
    folder = write_frames(tmp_path / "clip", 8, size=size, step=2)
    told = model.predict(folder, start=13, stop=22)
    assert told.numbers.tolist() == [14, 16, 18, 20]
    with open_source(folder) as source:
        frames = torch.from_numpy(source.read([2, 3, 4, 5])).permute(0, 3, 1, 2)
        assert told.times.tolist() == pytest.approx(source.times[2:6].tolist(), nan_ok=True)
    with torch.inference_mode():
        logits = model.method.head(model.backbone.network(model.backbone.prepare(frames)))
    np.testing.assert_allclose(told.frame_scores, logits.sigmoid(), atol=1e-4)
    np.testing.assert_allclose(told.video_scores, logits.mean(0).sigmoid(), atol=1e-4)


def test_nothing_to_look_at_is_told(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "clip", 3)
    with pytest.raises(UserError, match="no frame to look at"):
        make_model().predict(folder, start=500)
    with pytest.raises(UserError, match="nowhere"):
        make_model().predict(tmp_path / "nowhere.avi")


def test_what_is_called_is_in_the_order_of_scores() -> None:
    model = only_sum(bias=6.0)
    told = model.predict_features(one_feature(model, 2, 2, 2))  # logits 2 and 4
    assert told.labels == ("debris", "polyp")
    strict = {"polyp": Threshold(value=0.9, tuned=True), "debris": Threshold()}
    model = make_model("mean-pool", thresholds=strict)
    model.method.load_state_dict(only_sum(bias=6.0).method.state_dict())
    assert model.predict_features(one_feature(model, 2, 2, 2)).labels == ("debris",)  # sigmoid(2) is 0.88


@pytest.mark.parametrize("synthetic", [True, False])
def test_predictions_say_whether_the_model_learnt_from_synthetic_video(synthetic: bool) -> None:
    model = make_model(trained_on=trained_on(synthetic))
    assert model.synthetic is synthetic
    assert model.predict_features(one_feature(model, 1)).synthetic is synthetic
