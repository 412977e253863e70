"""Other people's data into a dataset folder.

In: labels in one of the formats below, with or without their pixels. Out: a dataset folder, whole or not at
all, and a `Summary` of what it holds, what is missing and what a human should look at.
"""

from devcem.labels.importers.collection import Collection, Options, Tag
from devcem.labels.importers.placing import Policy
from devcem.labels.importers.registry import IMPORTERS, Importer
from devcem.labels.importers.work import Summary, import_dataset

__all__ = [
    "IMPORTERS",
    "Collection",
    "Importer",
    "Options",
    "Policy",
    "Summary",
    "Tag",
    "import_dataset",
]
