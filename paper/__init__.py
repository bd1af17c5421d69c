"""The paper's experiments: one cell at a time, then its tables and figures.

``make paper`` runs them all; docs/reproduction.md has the results. This folder is no part of the
installed package: it may import ``unseen``, and nothing in ``unseen`` imports it.
"""

from paper.cell import Cell
from paper.reproduce import reproduce
from paper.run import Plan
from paper.store import CellStore

__all__ = ["Cell", "CellStore", "Plan", "reproduce"]
