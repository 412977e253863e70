"""Many methods on one dataset, side by side.

Enters: a dataset folder, names of methods, seeds. Leaves: a folder of runs, what each says of the test split,
and the tables of the paper with a row a method, its mean and spread over seeds.
"""

from devcem.benchmark.plan import Plan
from devcem.benchmark.report import write_report
from devcem.benchmark.running import Failure, run_benchmark

__all__ = ["Failure", "Plan", "run_benchmark", "write_report"]
