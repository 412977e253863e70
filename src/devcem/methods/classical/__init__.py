"""Binary multi-instance classifiers before deep learning, with a scikit-learn estimator's manners.

Enters: bags [T,D], a label in {0,1} each. Leaves: a decision a bag, a decision an instance. `OneVsRest` makes
many labels of one of them, and is what `devcem.methods.create` returns for their names.
"""

from devcem.methods.classical.estimator import BagEstimator
from devcem.methods.classical.kernel import kernel_matrix, scale_gamma
from devcem.methods.classical.mi_svm import MiSVM
from devcem.methods.classical.miss_svm import MissSVM
from devcem.methods.classical.one_vs_rest import Lesson, OneVsRest, Solved
from devcem.methods.classical.sbmil import SbMIL
from devcem.methods.classical.scaler import BagScaler
from devcem.methods.classical.sil import SIL
from devcem.methods.classical.smil import SMIL
from devcem.methods.classical.stmil import StMIL
from devcem.methods.classical.witness_mi_svm import WitnessMISVM

__all__ = [
    "SIL",
    "SMIL",
    "BagEstimator",
    "BagScaler",
    "Lesson",
    "MiSVM",
    "MissSVM",
    "OneVsRest",
    "SbMIL",
    "Solved",
    "StMIL",
    "WitnessMISVM",
    "kernel_matrix",
    "scale_gamma",
]
