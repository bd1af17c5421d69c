"""Pictures of records, scikit-learn style: ``Display.from_...(record)`` draws, ``.plot`` redraws.

A display reads a record, never rows or estimators, and draws on given axes or on a figure of its
own. Matplotlib is imported when something is drawn, pyplot never.
"""

from unseen.plots.canvas import DARK, LIGHT, Display, Theme
from unseen.plots.curves import LabellingDisplay, RegionsDisplay, RiskDisplay, ToleranceDisplay
from unseen.plots.roc import RocDisplay, ScoresDisplay
from unseen.plots.shares import ComparisonDisplay, GroupsDisplay, SharesDisplay
from unseen.plots.svg import to_svg
from unseen.plots.timeline import TimelineDisplay

__all__ = [
    "DARK",
    "LIGHT",
    "ComparisonDisplay",
    "Display",
    "GroupsDisplay",
    "LabellingDisplay",
    "RegionsDisplay",
    "RiskDisplay",
    "RocDisplay",
    "ScoresDisplay",
    "SharesDisplay",
    "Theme",
    "TimelineDisplay",
    "ToleranceDisplay",
    "to_svg",
]
