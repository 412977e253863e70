from __future__ import annotations

import numpy as np

from devcem.synthetic.appearance import TILE, appearance, fitted, wave
from devcem.synthetic.scene import Patient


def test_every_patient_parameter_is_a_spread_within_its_bounds() -> None:
    spreads = fitted()["patient"]
    for name, values in spreads.items():
        if name != "vessel":
            middle, deviation, low, high = values
            assert low < middle < high, name
            assert deviation > 0, name
    assert fitted()["version"] >= 1


def test_a_look_comes_from_the_seed_alone() -> None:
    one, again, other = appearance(Patient("a", 1)), appearance(Patient("b", 1)), appearance(Patient("a", 2))
    assert np.array_equal(one.mucosa, again.mucosa)
    assert np.array_equal(one.tile, again.tile)
    assert not np.array_equal(one.mucosa, other.mucosa)
    assert not np.array_equal(one.tile, other.tile)


def test_mucosa_is_reddish_in_everybody() -> None:
    for seed in range(3):
        red, green, blue = appearance(Patient("", seed)).mucosa
        assert red > green > blue > 0


def test_the_tile_closes() -> None:
    tile = appearance(Patient("", 1)).tile
    assert tile.shape == (5, TILE + 1, TILE + 1)
    assert np.array_equal(tile[:, 0], tile[:, -1])
    assert np.array_equal(tile[:, :, 0], tile[:, :, -1])


def test_waves_stay_within_one() -> None:
    look = appearance(Patient("", 1))
    values = wave(look, np.linspace(0, 300, 2000), 3, 12.0)
    assert np.abs(values).max() <= 1
    assert values.std() > 0.3
