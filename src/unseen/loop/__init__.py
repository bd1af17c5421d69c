"""After the number: a sheet of rows for people to label, and what their labels say."""

from unseen.loop.audit import Audit, audit
from unseen.loop.sheet import Sheet, draw_sheet

__all__ = ["Audit", "Sheet", "audit", "draw_sheet"]
