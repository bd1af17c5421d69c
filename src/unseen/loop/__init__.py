"""After the number: what the unseen rows are, rows for people to label, and what labels say."""

from unseen.loop.audit import Audit, audit
from unseen.loop.clauses import Column
from unseen.loop.explain import explain
from unseen.loop.explanation import Explanation, Group
from unseen.loop.groups import KnownWidth
from unseen.loop.promote import Promotion, promote
from unseen.loop.sheet import Sheet, draw_sheet

__all__ = [
    "Audit",
    "Column",
    "Explanation",
    "Group",
    "KnownWidth",
    "Promotion",
    "Sheet",
    "audit",
    "draw_sheet",
    "explain",
    "promote",
]
