"""The commands: one thin subcommand a verb, one file a group. The work is done in the rooms."""

from devcem.cli import analyze, benchmark, data, evaluate, import_, machine, methods, synth, train
from devcem.cli.app import app, main

__all__ = [
    "analyze",
    "app",
    "benchmark",
    "data",
    "evaluate",
    "import_",
    "machine",
    "main",
    "methods",
    "synth",
    "train",
]
