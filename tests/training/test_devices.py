"""What a process says when it is not its own fault."""

from __future__ import annotations

import pytest

from devcem.errors import UserError
from devcem.training.devices import told_if_another_ended

GLOO = (
    "[gloo/transport/tcp/pair.cc:561] Connection closed by peer [127.0.0.1]:22752. This is typically caused"
)
NCCL = "NCCL error in: ProcessGroupNCCL.cpp:2, remote process exited or there was a network error"


@pytest.mark.parametrize("message", [GLOO, NCCL])
def test_the_end_of_another_process_is_no_bug(message: str) -> None:
    with (
        pytest.raises(UserError, match=r"another process of this training has ended.*--resume"),
        told_if_another_ended(),
    ):
        raise RuntimeError(message)


def test_an_error_of_ones_own_stays_what_it_is() -> None:
    with pytest.raises(RuntimeError, match="shapes differ"), told_if_another_ended():
        raise RuntimeError("shapes differ")
