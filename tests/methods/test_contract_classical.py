"""Every registered classical method, held to its contract; and that the contract catches broken ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from contract_cases import Case, D, K
from contract_classical import CHECKS, cases, fitted, some_bags, unseen
from contract_classical import a_class_of_one_side_is_constant as one_side
from contract_classical import it_is_the_estimator_of_each_class as each
from contract_classical import only_what_is_needed_is_kept as only_needed
from contract_classical import unknown_labels_enter_nothing as unknown

from devcem.methods import create, names
from devcem.methods.classical import Lesson, OneVsRest


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", cases(), ids=str)
def test_contract(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


def test_the_seven_are_there() -> None:
    wanted = {"sil", "mi-svm", "mi-svm-witness", "miss-svm", "smil", "stmil", "sbmil"}
    assert set(names("classical")) >= wanted and not wanted & set(names("deep"))


def test_it_says_that_it_is_not_fitted() -> None:
    method = create("sil", num_classes=K, feature_dim=D)
    batch = unseen()
    with pytest.raises(RuntimeError, match="sil has not been fitted"):
        method(batch.features, batch.mask)


def test_arrays_that_do_not_fit_are_refused() -> None:
    state = fitted(Case("sil")).state_dict()
    with pytest.raises(RuntimeError, match="no training frames of 5 features"):
        create("sil", num_classes=K, feature_dim=5).load_state_dict(state)
    with pytest.raises(RuntimeError, match=f"nothing was learnt of class number {K}"):
        create("sil", num_classes=K + 1, feature_dim=D).load_state_dict(state)
    with pytest.raises(RuntimeError, match=r"Unexpected key.*each\.2"):
        create("sil", num_classes=K - 1, feature_dim=D).load_state_dict(state)


def test_labels_and_bags_must_go_together() -> None:
    bags = some_bags()
    method = create("sil", num_classes=K, feature_dim=D)
    assert isinstance(method, OneVsRest)
    with pytest.raises(ValueError, match="of one length"):
        method.lesson(bags.features[1:], bags.labels)


def test_the_kernel_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from devcem.methods.classical import one_vs_rest

    calls: list[bool] = []
    compute = one_vs_rest.kernel_matrix

    def counted(x: np.ndarray, y: np.ndarray | None, *more: object) -> np.ndarray:
        calls.append(y is None)
        return compute(x, y, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(one_vs_rest, "kernel_matrix", counted)
    fitted(Case("sil"))
    assert calls == [True]


@pytest.mark.parametrize("check", [each, unknown])
def test_the_contract_catches_unknown_bags_that_are_learnt_from(
    check: Callable[[Case], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    solve = Lesson.solve

    def careless(self: Lesson, k: int) -> object:
        self.known = np.ones_like(self.known)
        return solve(self, k)

    monkeypatch.setattr(Lesson, "solve", careless)
    with pytest.raises(AssertionError, match="sil"):
        check(Case("sil"))


def test_the_contract_catches_a_kept_frame_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    from devcem.methods.classical import one_vs_rest

    class Careless:
        """NumPy, but for one function."""

        def __getattr__(self, name: str) -> object:
            return (lambda values: np.arange(values.max() + 1)) if name == "unique" else getattr(np, name)

    monkeypatch.setattr(one_vs_rest, "np", Careless())
    with pytest.raises(AssertionError, match="no class needs"):
        only_needed(Case("miss-svm"))


def test_the_contract_catches_a_class_that_is_constantly_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    from devcem.methods.classical import one_vs_rest

    made = one_vs_rest._constant
    monkeypatch.setattr(one_vs_rest, "_constant", lambda value, why: made(-value, why))
    with pytest.raises(AssertionError, match="constantly"):
        one_side(Case("sil"))


def test_gamma_one_on_wide_features_warns_of_the_identity() -> None:
    rng = np.random.default_rng(0)
    bags = list(rng.standard_normal((10, 3, 200)).astype(np.float32))
    labels = np.arange(10)[:, None] % 2 == 0
    method = create("miss-svm", num_classes=1, feature_dim=200, gamma=1)
    assert isinstance(method, OneVsRest)
    with pytest.warns(UserWarning, match="nearly the identity"):
        method.fit(bags, labels)
    assert torch.equal(method.state_dict()["shared.gamma"], torch.tensor(1.0, dtype=torch.float64))
