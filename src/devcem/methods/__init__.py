"""A bag of frame features in, scores out.

Enters: a `Batch` of padded bags, features [B,T,D] and mask [B,T]. Leaves: a `MILOutput` with logits of videos
and frames and the attention between them, and a loss. `names()` lists the methods, `create` makes one. The
classical ones are estimators for one class as well: lists of bags [T,D] in, decisions out.
"""

from devcem.methods.bag import Bag, Batch, collate
from devcem.methods.classical import SIL, SMIL, MissSVM, MiSVM, SbMIL, StMIL, WitnessMISVM
from devcem.methods.method import Method
from devcem.methods.output import MILOutput
from devcem.methods.registry import MethodInfo, create, describe, names, register

__all__ = [
    "SIL",
    "SMIL",
    "Bag",
    "Batch",
    "MILOutput",
    "Method",
    "MethodInfo",
    "MiSVM",
    "MissSVM",
    "SbMIL",
    "StMIL",
    "WitnessMISVM",
    "collate",
    "create",
    "describe",
    "names",
    "register",
]
