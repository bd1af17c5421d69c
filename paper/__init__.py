"""The paper's experiments: one cell at a time, then its tables and figures."""

from paper.cell import Cell
from paper.reproduce import reproduce
from paper.run import Plan
from paper.store import CellStore

__all__ = ["Cell", "CellStore", "Plan", "reproduce"]
