from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from photographs import crops
from PIL import Image

from devcem.encoders import Backbone, OpenVinoEncoder, TorchEncoder, engine_openvino, load_backbone
from devcem.encoders.encoder import Features, Precision
from devcem.encoders.engine_openvino import native_precision, openvino
from devcem.errors import UserError
from devcem.frames.source import Frames

LITE0, TINY = "efficientnet-lite0", "test_resnet"
PRECISIONS: list[Precision] = ["fp32", "bf16"]


@pytest.fixture(scope="module")
def lite0() -> Backbone:
    torch.set_num_threads(1)
    return load_backbone(LITE0)


@pytest.fixture(scope="module")
def tiny() -> Backbone:
    torch.set_num_threads(1)
    return load_backbone(TINY, "random")


@pytest.fixture(scope="module")
def quick(tiny: Backbone) -> OpenVinoEncoder:
    return OpenVinoEncoder(tiny)


@pytest.fixture(scope="module", params=PRECISIONS)
def encoder(lite0: Backbone, request: pytest.FixtureRequest) -> OpenVinoEncoder:
    precision: Precision = request.param
    if precision == "bf16" and native_precision() != "bf16":
        pytest.skip("this processor does not multiply bf16")
    return OpenVinoEncoder(lite0, precision)


def plain(backbone: Backbone, frames: Frames) -> Features:
    """Eager PyTorch in fp32, with no code of ours between pixels and network."""
    pixels = torch.from_numpy(frames).permute(0, 3, 1, 2).float()
    mean, std = (torch.tensor(value).view(3, 1, 1) for value in (backbone.mean, backbone.std))
    with torch.inference_mode():
        features: Features = backbone.network((pixels - mean) / std).numpy()
    return features


def agreement(ours: Features, exact: Features) -> float:
    """The smallest cosine once the mean feature is taken off, as the class states it."""
    ours, exact = ours - exact.mean(0), exact - exact.mean(0)
    return float(((ours * exact).sum(1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(exact, axis=1)).min())


def squares(frames: Frames, size: int) -> Frames:
    return np.stack([np.asarray(Image.fromarray(frame).resize((size, size))) for frame in frames])


def test_photographs_agree_with_pytorch(lite0: Backbone, encoder: OpenVinoEncoder) -> None:
    frames = crops(24)
    features = encoder.encode(frames)
    assert features.shape == (24, 1280) == (24, encoder.dim)
    assert features.dtype == np.float32
    cosine = agreement(features, plain(lite0, frames))
    assert cosine >= encoder.AGREEMENT[encoder.precision]
    assert encoder.precision == "fp32" or cosine < 0.99999  # really another arithmetic


def test_real_frames_agree_with_pytorch(shared_data: Path, lite0: Backbone, encoder: OpenVinoEncoder) -> None:
    files = sorted((shared_data / "wcebleedgen224" / "frames").iterdir())[::40]
    frames = np.stack([np.asarray(Image.open(file).convert("RGB")) for file in files])
    assert agreement(encoder.encode(frames), plain(lite0, frames)) >= encoder.AGREEMENT[encoder.precision]


@pytest.mark.parametrize(
    ("name", "size"), [(TINY, 96), ("test_efficientnet", 64), ("vit_tiny_patch16_224", 48)]
)
def test_other_networks_agree_with_pytorch(name: str, size: int) -> None:
    backbone = load_backbone(name, "random", size=size)
    frames = squares(crops(8), size)
    ours, exact = OpenVinoEncoder(backbone, "fp32").encode(frames), plain(backbone, frames)
    np.testing.assert_allclose(ours, exact, atol=1e-4 * np.abs(exact).max())
    assert agreement(ours, exact) >= OpenVinoEncoder.AGREEMENT["fp32"]


class Looking(torch.nn.Module):
    """The mean colour, the first row's second pixel, and the second row's first."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x.mean((2, 3)), x[:, :, 0, 1], x[:, :, 1, 0]], 1)


def toy(network: torch.nn.Module, dim: int) -> Backbone:
    told = {"encoder": "toy", "architecture": "toy", "size": 8, "mean": [10, 20, 30], "std": [2, 4, 5]}
    return Backbone("toy", network, dim, 8, (10.0, 20.0, 30.0), (2.0, 4.0, 5.0), told)


def test_pixels_reach_the_network_in_their_place_by_hand() -> None:
    encoder = OpenVinoEncoder(toy(Looking(), 9), "fp32")
    frames = np.random.default_rng(0).integers(0, 256, (5, 8, 8, 3), dtype=np.uint8)
    x = (frames.astype(np.float64) - [10, 20, 30]) / [2, 4, 5]
    expected = np.concatenate([x.mean((1, 2)), x[:, 0, 1], x[:, 1, 0]], 1)
    np.testing.assert_allclose(encoder.encode(frames), expected, atol=1e-4)
    for seen in (frames[::-1], np.asfortranarray(frames)[::-1], frames.repeat(2, 0)[1::2][::-1]):
        np.testing.assert_allclose(encoder.encode(seen), expected[::-1], atol=1e-4)
    turned = np.ascontiguousarray(frames[:, ::-1, ::-1])[:, ::-1, ::-1]
    turned.flags.writeable = False
    np.testing.assert_allclose(encoder.encode(turned), expected, atol=1e-4)
    smooth = squares(crops(3), 40)[:, :, :28]
    pillow = [Image.fromarray(one).resize((8, 8), Image.Resampling.BILINEAR) for one in smooth]
    scaled = (np.stack([np.asarray(one) for one in pillow]) - np.array([10.0, 20, 30])) / [2, 4, 5]
    expected = np.concatenate([scaled.mean((1, 2)), scaled[:, 0, 1], scaled[:, 1, 0]], 1)
    np.testing.assert_allclose(encoder.encode(smooth), expected, atol=1.01 / 2)  # a grey level


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_frames_features_depend_on_nothing_but_the_frame(tiny: Backbone, precision: Precision) -> None:
    """To the bit: whatever the batch, the order, the neighbours and the encoder."""
    if precision == "bf16" and native_precision() != "bf16":
        pytest.skip("this processor does not multiply bf16")
    encoder = OpenVinoEncoder(tiny, precision)
    frames = squares(crops(40), tiny.size)
    features = encoder.encode(frames)
    assert len(np.unique(features, axis=0)) == 40
    for batch in (1, 3, 32, 39):
        parts = [encoder.encode(frames[start : start + batch]) for start in range(0, 40, batch)]
        np.testing.assert_array_equal(np.concatenate(parts), features)
    np.testing.assert_array_equal(encoder.encode(frames[::-1])[::-1], features)
    np.testing.assert_array_equal(OpenVinoEncoder(tiny, precision).encode(frames), features)


def test_larger_frames_are_scaled_as_for_pytorch(tiny: Backbone) -> None:
    frames = crops(6)[:, :, :200]
    ours, torchs = OpenVinoEncoder(tiny, "fp32").encode(frames), TorchEncoder(tiny).encode(frames)
    np.testing.assert_allclose(ours, torchs, atol=1e-5 * np.abs(torchs).max())


def test_nothing_in_gives_nothing_out(quick: OpenVinoEncoder) -> None:
    for side in (32, quick.size):
        features = quick.encode(np.empty((0, side, side, 3), np.uint8))
        assert (features.shape, features.dtype) == ((0, quick.dim), np.float32)


def test_many_threads_get_each_their_own(quick: OpenVinoEncoder) -> None:
    frames = squares(crops(24), quick.size)
    features = quick.encode(frames)
    faults: list[str] = []

    def work(first: int) -> None:
        for _ in range(15):
            if not np.array_equal(quick.encode(frames[first::4]), features[first::4]):
                faults.append(f"of {first}")

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_after_an_interrupt_it_goes_on(quick: OpenVinoEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was under way when Ctrl-C came neither blocks the next call nor comes out of it."""
    frames = crops(9)
    features, scale = quick.encode(frames), quick._scaled
    for after in (1, 2, 3, 8):
        left = after

        def scaled(pixels: torch.Tensor) -> torch.Tensor:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            return scale(pixels)

        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(quick, "_scaled", scaled)
            quick.encode(frames[::-1])
        np.testing.assert_array_equal(quick.encode(frames), features)


def test_a_backbone_in_training_is_copied_as_it_is_and_left_as_it_was() -> None:
    backbone = load_backbone(TINY, "random", size=64)
    frames = squares(crops(4), 64)
    expected = plain(backbone, frames)
    backbone.network.train()
    before = {key: value.clone() for key, value in backbone.network.state_dict().items()}
    encoder = OpenVinoEncoder(backbone, "fp32")
    assert backbone.network.training
    assert all(parameter.requires_grad for parameter in backbone.network.parameters())
    torch.testing.assert_close(dict(backbone.network.state_dict()), before, rtol=0, atol=0)
    with torch.no_grad():
        for parameter in backbone.network.parameters():
            parameter.add_(0.1)
    np.testing.assert_allclose(encoder.encode(frames), expected, atol=1e-4 * np.abs(expected).max())
    trained = OpenVinoEncoder(backbone, "fp32")
    assert trained.fingerprint["weights"] != encoder.fingerprint["weights"]
    assert np.abs(trained.encode(frames) - expected).max() > 0.01 * np.abs(expected).max()


def test_the_fingerprint_names_all_that_decides(tiny: Backbone, quick: OpenVinoEncoder) -> None:
    known = quick.fingerprint
    assert json.loads(json.dumps(known)) == known
    assert (known["encoder"], known["size"], known["engine"]) == (TINY, 160, "openvino cpu")
    assert known["precision"] == quick.precision == native_precision()
    assert known["weights"] == tiny.identity()["weights"]
    others = [
        OpenVinoEncoder(load_backbone(TINY, "random:1"), quick.precision).fingerprint,
        OpenVinoEncoder(load_backbone(TINY, "random", size=96), quick.precision).fingerprint,
        TorchEncoder(tiny).fingerprint,
        OpenVinoEncoder(tiny, "fp32").fingerprint | {"precision": "bf16"},
        OpenVinoEncoder(tiny, "fp32").fingerprint,
    ]
    assert others.pop(-2 if quick.precision == "bf16" else -1) == known
    assert known not in others


def test_the_native_precision_is_what_the_processor_says() -> None:
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.exists() else []
    flags = {flag for line in lines if line.startswith("flags") for flag in line.split()}
    if not flags:
        pytest.skip("this system does not list what its processor can do")
    if {"avx512_bf16", "amx_bf16"} & flags:
        assert native_precision() == "bf16"
    elif "avx_ne_convert" not in flags:
        assert native_precision() == "fp32"


def test_a_precision_that_is_not_kept_is_refused(tiny: Backbone, monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(*_: object) -> tuple[Any, Any]:
        used = SimpleNamespace(get_type_name=lambda: "f32")
        return SimpleNamespace(get_property=lambda _: used), None

    monkeypatch.setattr(engine_openvino, "_compiled", compiled)
    OpenVinoEncoder(tiny, "fp32")
    said = "this processor computes in f32 where bf16 was asked for.*Remedy: leave the precision out"
    with pytest.raises(UserError, match=said):
        OpenVinoEncoder(tiny, "bf16")


class Deciding(torch.nn.Module):
    """What it does depends on what it sees: no graph can be written down."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean((2, 3)) if float(x.sum()) > 0 else x.amax((2, 3))


def test_a_network_that_can_not_be_compiled_is_told_in_one_line() -> None:
    with pytest.raises(
        UserError, match=r"OpenVINO can't run 'toy' here \(\w+: .*use the engine torch"
    ) as caught:
        OpenVinoEncoder(toy(Deciding(), 3))
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is not None


WATCHED = """
import sys
seen = []

def watch(event, arguments):
    if event == "open" and "openvino_telemetry" in str(arguments[0]).replace("\\\\", "/").split("/"):
        seen.append(str(arguments[0]))
    elif event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        seen.append(f"{event} {arguments}")

sys.addaudithook(watch)
"""
PLAINLY = "import openvino"
OURS = """
import numpy
from devcem.encoders import OpenVinoEncoder, load_backbone
encoder = OpenVinoEncoder(load_backbone("test_resnet", "random", size=32))
assert encoder.encode(numpy.zeros((2, 32, 32, 3), numpy.uint8)).shape == (2, 96)
"""


def watched(script: str, home: Path) -> list[str]:
    """What *script* read of the package that reports, and what it connected to."""
    code = f"{WATCHED}\n{script}\nimport json\nprint(json.dumps(seen))"
    variables = {"HOME": str(home), "USERPROFILE": str(home), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen: list[str] = json.loads(done.stdout.splitlines()[-1])
    return seen


def test_its_use_is_reported_to_nobody(tmp_path: Path) -> None:
    assert watched(OURS, tmp_path) == []
    assert list(tmp_path.iterdir()) == []  # not even who it would be reported as


def test_the_watch_above_sees_what_it_is_for(tmp_path: Path) -> None:
    pytest.importorskip("openvino_telemetry")
    assert any("telemetry" in name for name in watched(PLAINLY, tmp_path))


INTERRUPTED = """
import signal
from devcem.encoders import OpenVinoEncoder, load_backbone

backbone = load_backbone("test_resnet", "random")
first = OpenVinoEncoder(backbone)
second = OpenVinoEncoder(backbone)
del first
del second
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job is born deaf to it
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("heard")
"""


def test_ctrl_c_is_heard_after_engines_have_come_and_gone() -> None:
    """OpenVINO's CPU plug-in brings a stack for signal handlers and takes it along when its Core goes."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["heard"]), done.stderr


def test_a_module_is_only_hidden_within(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with engine_openvino._not_there("colorsys"), pytest.raises(ImportError):
        import colorsys
    import colorsys

    with engine_openvino._not_there("colorsys"):  # imported by somebody else before: theirs to keep
        assert sys.modules["colorsys"] is colorsys
    assert sys.modules["colorsys"] is colorsys
    assert openvino() is openvino()
