"""A plan that is over in seconds."""

from __future__ import annotations

from devcem.benchmark import Plan

WORDS = (
    "epochs=2",
    "accelerator=cpu",
    "data.view=frame",
    "data.validation=0.34",
    "encoder.name=test_resnet",
    "encoder.weights=random",
    "encoder.engine=torch",
)


def small(*methods: str, seeds: int = 1, words: tuple[str, ...] = ()) -> Plan:
    return Plan(methods or ("mean-pool",), tuple(range(seeds)), words=(*WORDS, *words))
