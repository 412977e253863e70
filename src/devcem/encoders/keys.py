"""The names that published files give their tensors, turned into timm's. What is timm's already stays."""

from __future__ import annotations

STAGES = (1, 2, 2, 3, 3, 4, 1)  # blocks a stage of EfficientNet-B0 and Lite0
OUTER = {
    "_conv_stem": "conv_stem",
    "_bn0": "bn1",
    "_conv_head": "conv_head",
    "_bn1": "bn2",
    "_fc": "classifier",
}
SEPARABLE = {"_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2"}
INVERTED = {"_expand_conv": "conv_pw", "_bn0": "bn1", "_depthwise_conv": "conv_dw", "_bn1": "bn2"}
INVERTED |= {"_project_conv": "conv_pwl", "_bn2": "bn3"}


def from_tensorflow_port(key: str) -> str:
    """Keys of the efficientnet_pytorch family, which counts blocks straight through."""
    first, *rest = key.split(".")
    if first != "_blocks":
        return ".".join([OUTER.get(first, first), *rest])
    block, (layer, *leaf) = int(rest[0]), rest[1:]
    stage = 0
    while block >= STAGES[stage]:
        block, stage = block - STAGES[stage], stage + 1
    layers = SEPARABLE if stage == 0 else INVERTED
    return ".".join(["blocks", str(stage), str(block), layers[layer], *leaf])


def from_augnet(key: str) -> str:
    """torchvision's, which are timm's for ResNet, behind the names of two wrappers."""
    return key.removeprefix("module.").removeprefix("pre.")
