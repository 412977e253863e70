"""Features computed by OpenVINO on a CPU, in bf16 where the processor multiplies it natively.

A request holds one frame, and a request a core runs at a time: on two cores that is as fast as any larger
batch, and a frame's features depend on nothing but the frame.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import torch

from devcem.encoders.backbone import Backbone
from devcem.encoders.encoder import Features, Precision
from devcem.errors import UserError
from devcem.frames.source import Frames

TELEMETRY = "openvino_telemetry"  # what openvino would import to report its use
KINDS = {"fp32": "f32", "bf16": "bf16"}  # our names of a precision and OpenVINO's


class OpenVinoEncoder:
    """A copy of a backbone as it is now, for a CPU."""

    # smallest cosine to PyTorch's fp32 features over real frames, after the mean feature is taken off
    AGREEMENT = {"fp32": 0.99999, "bf16": 0.98}  # noqa: RUF012  measured: docs/performance.md
    batch = 32  # enough that the requests' start and end do not count

    def __init__(self, backbone: Backbone, precision: Precision | None = None) -> None:
        self.name, self.dim, self.size = backbone.name, backbone.dim, backbone.size
        try:
            self.precision = precision or native_precision()
            compiled, self._queue = _compiled(backbone, self.precision)
        except Exception as error:  # torch.export and OpenVINO fail in ways of their own
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            what = f"OpenVINO can't run '{self.name}' here ({type(error).__name__}: {reason})"
            raise UserError(what, remedy="use the engine torch") from error
        used = compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()
        if used != KINDS[self.precision]:
            what = f"this processor computes in {used} where {self.precision} was asked for"
            raise UserError(what, remedy="leave the precision out")
        self._scaled = backbone.scaled
        self._fingerprint = backbone.identity()
        self._one_at_a_time = threading.Lock()  # the queue has one callback

    def encode(self, frames: Frames) -> Features:
        features = np.empty((len(frames), self.dim), np.float32)

        def keep(request: Any, place: int) -> None:
            features[place] = request.get_output_tensor(0).data[0]

        with self._one_at_a_time:
            self._queue.set_callback(keep)
            try:
                for place, frame in enumerate(self._squares(frames)):
                    self._queue.start_async({0: frame[None]}, place)
            finally:
                self._queue.wait_all()  # a queue left running after an interrupt would refuse the next call
        return features

    def _squares(self, frames: Frames) -> Iterator[Frames]:
        """[H,W,3] each, scaled where they are not squares of the encoder's size already."""
        for frame in frames:
            if frame.shape[:2] != (self.size, self.size):
                pixels = torch.from_numpy(np.ascontiguousarray(frame)).permute(2, 0, 1)[None]
                frame = self._scaled(pixels)[0].permute(1, 2, 0).numpy()
            yield np.ascontiguousarray(frame)

    @property
    def fingerprint(self) -> dict[str, Any]:
        return self._fingerprint | {"engine": "openvino cpu", "precision": self.precision}


def native_precision() -> Precision:
    """bf16 where the processor has instructions for it; OpenVINO would emulate it elsewhere."""
    used = core().get_property("CPU", "INFERENCE_PRECISION_HINT").get_type_name()
    return "bf16" if used == KINDS["bf16"] else "fp32"


def openvino() -> Any:
    """The package, imported so that it cannot report its use: it then takes the stub it carries itself."""
    with _not_there(TELEMETRY):
        import openvino  # type: ignore[import-untyped]
    return openvino


@cache
def core() -> Any:
    """One for the life of the process.

    Its CPU plug-in brings a stack for signal handlers; of two that go in another order than they came a freed
    stack is left behind, on which the next Ctrl-C is a segmentation fault.
    """
    return openvino().Core()


@contextmanager
def _not_there(module: str) -> Iterator[None]:
    """Within, importing *module* fails as if it were not installed."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


def _compiled(backbone: Backbone, precision: Precision) -> tuple[Any, Any]:
    """The compiled network from uint8 [1,S,S,3] to float32 [1,D], and the queue of its requests."""
    ov = openvino()
    network = deepcopy(backbone.network).cpu().float().eval().requires_grad_(False)
    example = torch.zeros(1, 3, backbone.size, backbone.size)
    # exported, not traced: a third of the time
    model = ov.convert_model(torch.export.export(network, (example,)))
    pixels = ov.preprocess.PrePostProcessor(model)
    pixels.input().tensor().set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC"))
    pixels.input().model().set_layout(ov.Layout("NCHW"))
    steps = pixels.input().preprocess().convert_element_type(ov.Type.f32)
    steps.mean(list(backbone.mean)).scale(list(backbone.std))
    options = {
        "INFERENCE_PRECISION_HINT": KINDS[precision],
        "PERFORMANCE_HINT": "THROUGHPUT",
        "ENABLE_CPU_PINNING": False,  # decoders want the same cores
    }
    compiled = core().compile_model(pixels.build(), "CPU", options)
    return compiled, ov.AsyncInferQueue(compiled)
