"""The seven classical methods as `create` makes them: estimator, options, wrapper for many labels.

Defaults of SIL and MissSVM are those of the paper under work; gamma, which it does not give, is `scale`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from devcem.methods.classical.kernel import Kernel
from devcem.methods.classical.mi_svm import MiSVM
from devcem.methods.classical.miss_svm import MissSVM
from devcem.methods.classical.one_vs_rest import OneVsRest
from devcem.methods.classical.sbmil import SbMIL
from devcem.methods.classical.sil import SIL
from devcem.methods.classical.smil import SMIL
from devcem.methods.classical.stmil import StMIL
from devcem.methods.classical.witness_mi_svm import WitnessMISVM
from devcem.methods.options import About

Gamma = Literal["scale"] | float
Weight = Literal["none", "balanced"]
KernelOption = Annotated[Kernel, About("how alike two frames are")]
GammaOption = Annotated[Gamma, About("of rbf; scale: 1 / (features x their variance)", minimum=1e-12)]
COption = Annotated[float, About("cost of a unit of slack", minimum=1e-9)]
WeightOption = Annotated[Weight, About("balanced: rare positives cost more, by the number of bags")]
ScaleOption = Annotated[bool, About("subtract the training frames' mean, divide by their deviation")]
RoundsOption = Annotated[int, About("most rounds of relabelling", minimum=1)]
StartsOption = Annotated[int, About("starts tried, all but the first drawn; the best is kept", minimum=1)]


def sil(
    num_classes: int,
    feature_dim: int,
    *,
    kernel: KernelOption = "linear",
    gamma: GammaOption = "scale",
    C: COption = 10.0,
    class_weight: WeightOption = "none",
    standardise: ScaleOption = True,
) -> OneVsRest:
    """Every frame takes its video's label."""
    estimator = SIL("precomputed", C=C, class_weight=_weight(class_weight))
    return OneVsRest(num_classes, feature_dim, estimator, kernel=kernel, gamma=gamma, standardise=standardise)


def mi_svm(
    num_classes: int,
    feature_dim: int,
    *,
    kernel: KernelOption = "rbf",
    gamma: GammaOption = "scale",
    C: COption = 10.0,
    class_weight: WeightOption = "none",
    rounds: RoundsOption = 50,
    starts: StartsOption = 1,
    standardise: ScaleOption = True,
) -> OneVsRest:
    """Labels of frames are learnt too, at least one positive a positive video."""
    weight = _weight(class_weight)
    estimator = MiSVM("precomputed", C=C, class_weight=weight, rounds=rounds, starts=starts)
    return OneVsRest(num_classes, feature_dim, estimator, kernel=kernel, gamma=gamma, standardise=standardise)


def mi_svm_witness(
    num_classes: int,
    feature_dim: int,
    *,
    kernel: KernelOption = "rbf",
    gamma: GammaOption = "scale",
    C: COption = 1.0,
    class_weight: WeightOption = "none",
    rounds: RoundsOption = 50,
    starts: StartsOption = 1,
    standardise: ScaleOption = True,
) -> OneVsRest:
    """MI-SVM: one frame stands for each positive video."""
    weight = _weight(class_weight)
    estimator = WitnessMISVM("precomputed", C=C, class_weight=weight, rounds=rounds, starts=starts)
    return OneVsRest(num_classes, feature_dim, estimator, kernel=kernel, gamma=gamma, standardise=standardise)


def miss_svm(
    num_classes: int,
    feature_dim: int,
    *,
    kernel: KernelOption = "rbf",
    gamma: GammaOption = "scale",
    C: COption = 1.0,
    class_weight: WeightOption = "none",
    rounds: RoundsOption = 100,
    starts: StartsOption = 1,
    standardise: ScaleOption = True,
) -> OneVsRest:
    """Frames of positive videos have no label, but one of each video is positive."""
    weight = _weight(class_weight)
    estimator = MissSVM("precomputed", C=C, class_weight=weight, rounds=rounds, starts=starts)
    return OneVsRest(num_classes, feature_dim, estimator, kernel=kernel, gamma=gamma, standardise=standardise)


def smil(
    num_classes: int,
    feature_dim: int,
    *,
    kernel: KernelOption = "rbf",
    gamma: GammaOption = "scale",
    C: COption = 10.0,
    class_weight: WeightOption = "none",
    standardise: ScaleOption = True,
) -> OneVsRest:
    """The mean of a positive video's frames, of which little is asked where there are many."""
    estimator = SMIL("precomputed", C=C, class_weight=_weight(class_weight))
    return OneVsRest(num_classes, feature_dim, estimator, kernel=kernel, gamma=gamma, standardise=standardise)


def stmil(
    num_classes: int,
    feature_dim: int,
    *,
    kernel: KernelOption = "rbf",
    gamma: GammaOption = "scale",
    C: COption = 10.0,
    class_weight: WeightOption = "none",
    rounds: RoundsOption = 50,
    starts: StartsOption = 1,
    standardise: ScaleOption = True,
) -> OneVsRest:
    """sMIL, and frames of positive videos keep off the border."""
    weight = _weight(class_weight)
    estimator = StMIL("precomputed", C=C, class_weight=weight, rounds=rounds, starts=starts)
    return OneVsRest(num_classes, feature_dim, estimator, kernel=kernel, gamma=gamma, standardise=standardise)


def sbmil(
    num_classes: int,
    feature_dim: int,
    *,
    kernel: KernelOption = "rbf",
    gamma: GammaOption = "scale",
    C: COption = 10.0,
    class_weight: WeightOption = "none",
    eta: Annotated[float, About("expected share of positive frames in positive videos", 1e-9, 1.0)] = 0.5,
    standardise: ScaleOption = True,
) -> OneVsRest:
    """sMIL ranks the frames of positive videos, SIL learns from the top share."""
    estimator = SbMIL("precomputed", C=C, class_weight=_weight(class_weight), eta=eta)
    return OneVsRest(num_classes, feature_dim, estimator, kernel=kernel, gamma=gamma, standardise=standardise)


def _weight(name: Weight) -> str | None:
    return None if name == "none" else name
