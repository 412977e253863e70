"""Every method by its name. A new one is one new file and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from devcem.errors import UserError
from devcem.labels.spelling import nearest
from devcem.methods.attention_mil import AttentionMIL
from devcem.methods.classical import named
from devcem.methods.floors import MaxPool, MeanPool
from devcem.methods.method import Method
from devcem.methods.mi_net import MINet, MINetEmbedding
from devcem.methods.options import Option, options_of, resolved
from devcem.methods.psdevcem import PSDeVCEM
from devcem.methods.stpn import STPN
from devcem.methods.w_talc import WTALC

PS = "Mohammed et al. 2020, PS-DeVCEM"
ILSE = "Ilse et al. 2018, Attention-based deep MIL"
WANG = "Wang et al. 2018, MI-Net"
ANDREWS = "Andrews et al. 2003, SVMs for MIL"
BUNESCU = "Bunescu and Mooney 2007, sparse MIL"
ZHOU = "Zhou and Xu 2007, MissSVM"
NONE = "a baseline without a paper"

Kind = Literal["deep", "classical"]


@dataclass(frozen=True)
class MethodInfo:
    """A name for a class, or another maker of methods, with some of its options preset."""

    name: str
    build: Callable[..., Method]
    summary: str  # one line
    paper: str
    preset: Mapping[str, Any] = field(default_factory=dict)
    kind: Kind = "deep"
    # its authors' training, in `devcem train`'s words
    published: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> tuple[Option, ...]:
        return options_of(self.build, self.preset)

    def as_row(self) -> dict[str, Any]:
        """For JSON."""
        row = {"name": self.name, "kind": self.kind, "summary": self.summary, "paper": self.paper}
        return row | {"options": [option.as_row() for option in self.options]}


_METHODS: dict[str, MethodInfo] = {}


def register(
    name: str,
    build: Callable[..., Method],
    summary: str,
    paper: str,
    preset: Mapping[str, Any] | None = None,
    published: Mapping[str, Any] | None = None,
    kind: Kind = "deep",
) -> MethodInfo:
    """Make a method known by *name*: in `create`, in the commands, in the contract tests."""
    if name in _METHODS:
        raise ValueError(f"a method called '{name}' is registered already")
    info = MethodInfo(name, build, summary, paper, preset or {}, kind, published or {})
    resolved(info.options, info.preset, name)
    _METHODS[name] = info
    return info


def names(kind: Kind | None = None) -> list[str]:
    """What `create` knows, or what it knows of one kind."""
    return [name for name, info in _METHODS.items() if kind in (None, info.kind)]


def describe(name: str) -> MethodInfo:
    """Name, one line, paper and options of a method."""
    if name not in _METHODS:
        near = nearest(name, _METHODS)
        known = f"use one of {', '.join(_METHODS)}"
        remedy = f"did you mean '{near}'? {known}" if near else known
        raise UserError(f"no method is called '{name}'", remedy=remedy)
    return _METHODS[name]


def create(name: str, *, num_classes: int, feature_dim: int, **options: Any) -> Method:
    """A deep method with fresh parameters, drawn from torch's generator; a classical one to be fitted."""
    info = describe(name)
    for what, number in (("num_classes", num_classes), ("feature_dim", feature_dim)):
        if number < 1:
            raise ValueError(f"{what} must be at least 1, not {number}")
    values = resolved(info.options, options, name)
    method = info.build(num_classes, feature_dim, **values)
    method.name, method.options = name, values
    return method


_PLAIN = {"residual": False, "selfsup": "none"}
register("ps-devcem", PSDeVCEM, "residual BiLSTM, attention, self-supervision", PS)
register("ps-devcem-no-selfsup", PSDeVCEM, "residual BiLSTM, attention", PS, {"selfsup": "none"})
register("guided-lstm", PSDeVCEM, "BiLSTM, attention on it, self-supervision", PS, {"residual": False})
register("atten-lstm", PSDeVCEM, "BiLSTM, attention on it", PS, _PLAIN)
register("atten-conv-lstm", PSDeVCEM, "BiLSTM, attention on the frames", PS, _PLAIN | {"attention": "x"})
register(
    "atten-conv",
    PSDeVCEM,
    "frames weighed by attention, then BiLSTM and its last state",
    PS,
    _PLAIN | {"attention": "x", "rescale": True},
)
_ADAM = {"batch": 1, "optimiser": {"lr": 5e-4, "weight_decay": 1e-4}}
register("attention-mil", AttentionMIL, "attention on frames, order ignored", ILSE, published=_ADAM)
register(
    "gated-attention-mil",
    AttentionMIL,
    "as attention-mil, with a gate",
    ILSE,
    {"gated": True},
    _ADAM,
)
_SGD = {  # on MUSK1, and by default in their code
    "batch": 1,
    "epochs": 50,
    "optimiser": {"name": "sgd", "lr": 5e-4, "momentum": 0.9, "weight_decay": 5e-3},
}
register("mi-net", MINet, "maximum of frame logits of a small network", WANG, published=_SGD)
register("mi-net-embedding", MINetEmbedding, "maximum of frame embeddings, then a head", WANG, published=_SGD)
register(
    "stpn",
    STPN,
    "sparse sigmoid attention on frames",
    "Nguyen et al. 2018, STPN",
    published={"optimiser": {"lr": 1e-4, "weight_decay": 0.0}},
)
register(
    "w-talc",
    WTALC,
    "top frames of each class, co-activity of pairs",
    "Paul et al. 2018, W-TALC",
    published={"batch": 10, "optimiser": {"lr": 1e-4, "weight_decay": 5e-4}},
)
register("mean-pool", MeanPool, "mean of linear frame logits", NONE)
register("max-pool", MaxPool, "maximum of linear frame logits, a class at a time", NONE)


def _classical(name: str, build: Callable[..., Method], summary: str, paper: str) -> None:
    register(name, build, summary, paper, kind="classical")


_classical("sil", named.sil, "SVM on frames that take their video's label", NONE)
_classical("mi-svm", named.mi_svm, "SVM that relabels the frames of positive videos", ANDREWS)
_classical("mi-svm-witness", named.mi_svm_witness, "MI-SVM: one frame stands for a positive video", ANDREWS)
_classical("miss-svm", named.miss_svm, "semi-supervised SVM, one positive frame a positive video", ZHOU)
_classical("smil", named.smil, "SVM on means of positive videos, few positives presumed", BUNESCU)
_classical("stmil", named.stmil, "sMIL, frames of positive videos off the border", BUNESCU)
_classical("sbmil", named.sbmil, "sMIL ranks frames, SIL learns from the top share", BUNESCU)
