"""The main job on a synthetic collection, offline.

Enters: a folder and a seed. Leaves: a collection and an exam with known truth, an import of the exam's tags,
a table of what two encoders see, pictures, and `index.html`, the page to open.
"""

from devcem.demo.run import run_demo

__all__ = ["run_demo"]
