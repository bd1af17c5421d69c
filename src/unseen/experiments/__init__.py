"""The paper's experiments: one cell at a time, then its tables and figures."""

from unseen.experiments.cell import Cell
from unseen.experiments.reproduce import reproduce
from unseen.experiments.run import Plan
from unseen.experiments.store import CellStore

__all__ = ["Cell", "CellStore", "Plan", "reproduce"]
