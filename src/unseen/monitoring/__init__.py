"""Shares over windows of time, and which windows differ from the reference.

One file per idea: which rows make a window (:mod:`~unseen.monitoring.windows`), whether two
windows differ (:mod:`~unseen.monitoring.change`), scores of windows
(:mod:`~unseen.monitoring.source`), all windows of a table (:mod:`~unseen.monitoring.run`), and the
record of it (:mod:`~unseen.monitoring.timeline`).
"""

from unseen.monitoring.run import monitor
from unseen.monitoring.timeline import Timeline

__all__ = ["Timeline", "monitor"]
