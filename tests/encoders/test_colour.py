from __future__ import annotations

import colorsys

import numpy as np
import pytest
from photographs import crops

from devcem.encoders import ColourEncoder, create_encoder
from devcem.errors import UserError


def test_one_colour_by_hand() -> None:
    frames = np.zeros((1, 10, 10, 3), np.uint8)
    frames[0, :5] = (200, 100, 50)  # bins 6, 3, 1; the black half does not count
    feature = ColourEncoder().encode(frames)[0]
    assert feature[6 * 64 + 3 * 8 + 1] == 1
    assert feature[:512].sum() == 1
    np.testing.assert_allclose(feature[512:515], np.array([200, 100, 50]) / 255, atol=1e-6)
    np.testing.assert_allclose(feature[515:], 0, atol=1e-5)


def test_moments_against_numpy() -> None:
    frame = crops(1)[0]
    value = frame[frame.max(axis=2) >= 16] / 255
    off = value - value.mean(0)
    moments = [value.mean(0), value.std(0), np.cbrt((off**3).mean(0))]
    np.testing.assert_allclose(
        ColourEncoder().encode(frame[None])[0, 512:], np.concatenate(moments), atol=1e-5
    )


def test_shares_are_of_tissue_whatever_the_view() -> None:
    frame = crops(1)
    padded = np.pad(frame, ((0, 0), (50, 0), (0, 70), (0, 0)))
    np.testing.assert_allclose(ColourEncoder().encode(padded), ColourEncoder().encode(frame), atol=1e-6)
    np.testing.assert_allclose((ColourEncoder().encode(frame)[:, :512] ** 2).sum(1), 1, rtol=1e-5)


def test_place_says_nothing_and_colour_does() -> None:
    frame = crops(1)
    encoder = ColourEncoder()
    np.testing.assert_allclose(encoder.encode(frame[:, ::-1]), encoder.encode(frame), atol=1e-6)
    red, green = ((np.array(colorsys.hsv_to_rgb(hue, 0.6, 0.6)) * 255).astype(np.uint8) for hue in (0.0, 0.3))
    first, second = (np.broadcast_to(colour, (1, 8, 8, 3)) for colour in (red, green))
    assert np.abs(encoder.encode(first) - encoder.encode(second)).max() > 0.5


def test_a_black_frame_and_no_frame() -> None:
    assert not ColourEncoder().encode(np.zeros((1, 8, 8, 3), np.uint8)).any()
    assert ColourEncoder().encode(np.zeros((0, 8, 8, 3), np.uint8)).shape == (0, 521)


def test_by_name() -> None:
    encoder = create_encoder("colour")
    assert encoder.encode(crops(3)).shape == (3, encoder.dim)
    assert encoder.encode(crops(3)).dtype == np.float32
    assert encoder.fingerprint["encoder"] == "colour"


def test_an_unknown_name() -> None:
    with pytest.raises(
        UserError, match=r"no encoder is called 'resnet'.*efficientnet-lite0, resnet50-augnet, colour"
    ):
        create_encoder("resnet")
