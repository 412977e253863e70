"""Reads one clip with a model.

Enters: a source of frames and a model folder. Leaves: an `Analysis`, and a result folder with exam.json,
scores.csv and strip.png. Whole exams, with their windows and findings, are not read yet.
"""

from devcem.exam.analysing import LONGEST, Analysis, analyze

__all__ = ["LONGEST", "Analysis", "analyze"]
