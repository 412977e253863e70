"""Every deep method that is registered, held to the contract."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from contract import CHECKS
from contract_cases import Case, cases

TOGETHER = [
    Case("atten-conv", (("selfsup", "pair"), ("residual", True))),
    Case("attention-mil", (("gated", True), ("embedding", 8))),
    Case("mi-net", (("smoothness", 1.0),)),
    Case("stpn", (("pooling", "mean"), ("sparsity", "sum"))),
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", cases() + TOGETHER, ids=str)
def test_contract(case: Case, check: Callable[[Case], None]) -> None:
    check(case)
