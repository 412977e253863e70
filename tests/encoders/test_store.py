from __future__ import annotations

import errno
import hashlib
import multiprocessing
import os
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from devcem.encoders.store import FeatureStore
from devcem.errors import UserError

KEY = hashlib.sha256(b"some recipe").hexdigest()
RECIPE: dict[str, Any] = {
    "source": "a" * 64,
    "numbers": [0, 30],
    "view": "auto",
    "size": 224,
    "encoder": {"weights": "b" * 64, "mean": [1.0, 2.0, 3.0], "precision": "fp32"},
    "augmented": None,
}


def features(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.fixture
def store(tmp_path: Path) -> FeatureStore:
    return FeatureStore(tmp_path / "features")


def only_file(store: FeatureStore) -> Path:
    (path,) = (path for path in store.folder.rglob("*") if path.is_file())
    return path


@pytest.mark.parametrize("shape", [(5, 7), (3, 5, 7), (1, 1), (0, 7), (3, 0, 7)])
def test_what_was_put_is_got_again_by_another_store(store: FeatureStore, shape: tuple[int, ...]) -> None:
    values = features(*shape)
    for kept in (store.put(KEY, values), FeatureStore(store.folder).get(KEY, shape[-1])):
        assert kept is not None
        assert kept.shape == shape
        assert kept.dtype == np.float32
        np.testing.assert_array_equal(kept, values)
    assert store.get(KEY[::-1], shape[-1]) is None


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=arrays.arrays(
        np.float32,
        arrays.array_shapes(min_dims=2, max_dims=3, min_side=0, max_side=9),
        elements=st.floats(width=32, allow_nan=True, allow_infinity=True),
    )
)
def test_any_value_comes_back_to_the_bit(store: FeatureStore, values: np.ndarray) -> None:
    store.put(KEY, values)
    kept = store.get(KEY, values.shape[-1])
    assert kept is not None
    assert kept.shape == values.shape
    assert kept.tobytes() == values.tobytes()


def test_numpy_reads_the_file_and_the_checksum_is_behind_it(store: FeatureStore) -> None:
    values = features(4, 6)
    store.put(KEY, values)
    path = only_file(store)
    assert path == store.folder / KEY[:2] / f"{KEY}.npy"
    np.testing.assert_array_equal(np.load(path), values)
    data = path.read_bytes()
    assert data[-32:] == hashlib.sha256(data[:-32]).digest()


def test_in_any_layout_and_kind_of_float(store: FeatureStore) -> None:
    values = features(6, 8)
    for given_as in (np.asfortranarray(values), values.astype(np.float64), np.repeat(values, 2, 0)[::2]):
        np.testing.assert_array_equal(store.put(KEY, given_as), values)


def changes(value: Any) -> list[Any]:
    """*value* with each of its parts changed in turn, as deep as it goes."""
    if isinstance(value, dict):
        lacking = [{k: v for k, v in value.items() if k != key} for key in value]
        return [{**value, key: other} for key in value for other in changes(value[key])] + lacking
    if isinstance(value, list):
        return [[*value[:n], o, *value[n + 1 :]] for n in range(len(value)) for o in changes(value[n])]
    return [f"{value}x"] if isinstance(value, str) else [0.5 if value is None else value + 1]


def test_every_part_of_a_recipe_changes_the_key(store: FeatureStore, monkeypatch: pytest.MonkeyPatch) -> None:
    others = changes(RECIPE)
    assert len(others) == 11 + 6 + 3  # values; keys left out of the recipe, and of its encoder's part
    keys = {store.key(recipe) for recipe in [RECIPE, *others]}
    assert len(keys) == len(others) + 1
    turned = dict(reversed(RECIPE.items())) | {"encoder": dict(reversed(RECIPE["encoder"].items()))}
    assert store.key(turned) == FeatureStore("elsewhere").key(RECIPE) == store.key(RECIPE)
    monkeypatch.setattr("devcem.encoders.store.FORMAT", 0)
    assert store.key(RECIPE) not in keys


def test_a_recipe_that_equals_nothing_is_refused(store: FeatureStore) -> None:
    with pytest.raises(ValueError, match="JSON"):
        store.key(RECIPE | {"size": float("nan")})


def test_a_file_cut_short_anywhere_counts_as_absent(store: FeatureStore) -> None:
    store.put(KEY, features(2, 3))
    path = only_file(store)
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        assert store.get(KEY, 3) is None, length
    path.write_bytes(data + b"\0")
    assert store.get(KEY, 3) is None
    path.write_bytes(data)
    assert store.get(KEY, 3) is not None


@pytest.mark.parametrize("flip", [1, 8, 16, 64, 255])
def test_a_changed_byte_anywhere_counts_as_absent(store: FeatureStore, flip: int) -> None:
    store.put(KEY, features(2, 3))
    path = only_file(store)
    data = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for place in range(len(data)):
            path.write_bytes(data[:place] + bytes([data[place] ^ flip]) + data[place + 1 :])
            assert store.get(KEY, 3) is None, place


def test_another_encoders_width_and_another_kind_of_file_count_as_absent(store: FeatureStore) -> None:
    store.put(KEY, features(2, 3))
    assert store.get(KEY, 2) is None
    path = only_file(store)
    for values in (np.zeros((2, 3)), np.zeros((2, 3), np.float32, order="F")):
        np.save(path, values)
        path.write_bytes(path.read_bytes() + hashlib.sha256(path.read_bytes()).digest())
        assert store.get(KEY, 3) is None
    path.unlink()
    path.mkdir()
    assert store.get(KEY, 3) is None


def test_a_damaged_file_is_replaced_by_the_next_put(store: FeatureStore) -> None:
    store.put(KEY, features(2, 3))
    only_file(store).write_bytes(b"noise")
    assert store.get(KEY, 3) is None
    store.put(KEY, features(2, 3, seed=1))
    np.testing.assert_array_equal(store.get(KEY, 3), features(2, 3, seed=1))


def test_features_are_mapped_and_can_not_be_written_to(store: FeatureStore) -> None:
    kept = store.put(KEY, features(300, 100))
    again = store.get(KEY, 100)
    assert again is not None
    for one in (kept, again):
        with pytest.raises(ValueError, match="read-only"):
            one[0, 0] = 1
    maps = Path("/proc/self/maps")
    if maps.exists():
        assert maps.read_text().count(KEY) == 2  # pages of the file, not a copy
        descriptors = [link.resolve().name for link in Path("/proc/self/fd").iterdir()]
        assert not any(
            KEY in name for name in descriptors
        )  # a dataset has more segments than files may be open


def test_replacing_a_file_leaves_those_who_read_the_old_one_alone(store: FeatureStore) -> None:
    old = store.put(KEY, features(40, 50))
    store.put(KEY, features(40, 50, seed=1))
    np.testing.assert_array_equal(old, features(40, 50))


def put_often(folder: Path, start: Any, faults: Any) -> None:
    store, values = FeatureStore(folder), features(200, 64)
    start.wait()
    for _ in range(20):
        kept = store.put(KEY, values)
        found = store.get(KEY, 64)  # another one's write may come between: it is whole all the same
        if found is None or not (np.array_equal(kept, values) and np.array_equal(found, values)):
            faults.put("what was put was not got")


def test_processes_and_threads_write_the_same_key(store: FeatureStore) -> None:
    context = multiprocessing.get_context("fork" if os.name == "posix" else "spawn")
    start, faults = context.Event(), context.Queue()
    arguments = (store.folder, start, faults)
    writers = [threading.Thread(target=put_often, args=arguments) for _ in range(2)]
    processes = [context.Process(target=put_often, args=arguments) for _ in range(2)]
    for one in (*processes, *writers):
        one.start()
    start.set()
    for one in (*processes, *writers):
        one.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert faults.empty()
    assert only_file(store).suffix == ".npy"  # nothing half written is left


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "features").write_text("mine")
    with pytest.raises(UserError, match=r"features: features can't be kept here.*Remedy: .*--cache"):
        FeatureStore(tmp_path / "features").put(KEY, features(2, 3))
    assert FeatureStore(tmp_path / "features").get(KEY, 3) is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.parametrize("locked", [".", "features", f"features/{KEY[:2]}"])
def test_a_folder_that_may_not_be_written_to(store: FeatureStore, tmp_path: Path, locked: str) -> None:
    (tmp_path / locked).mkdir(parents=True, exist_ok=True)
    (tmp_path / locked).chmod(0o500)
    try:
        with pytest.raises(UserError, match=r"can't be kept here: permission denied.*Remedy: .*--cache"):
            store.put(KEY, features(2, 3))
    finally:
        (tmp_path / locked).chmod(0o700)


@pytest.mark.parametrize("fault", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT, errno.ENAMETOOLONG])
@pytest.mark.parametrize("at", ["folder", "file"])
def test_a_place_that_fails_is_told_with_a_remedy(
    store: FeatureStore, monkeypatch: pytest.MonkeyPatch, fault: int, at: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(fault, os.strerror(fault))

    if at == "folder":
        monkeypatch.setattr(Path, "mkdir", fails)
    else:
        monkeypatch.setattr("devcem.files.tempfile.mkstemp", fails)
    with pytest.raises(UserError, match=r"features can't be kept here.*Remedy: .*--cache") as caught:
        store.put(KEY, features(2, 3))
    assert str(store.folder) in str(caught.value)
