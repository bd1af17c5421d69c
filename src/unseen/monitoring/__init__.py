"""Shares over windows of time, and which windows differ from the reference.

Which rows make a window, and what windows are compared with: run.py. Whether two windows differ:
change.py. The record: timeline.py.
"""

from unseen.monitoring.run import monitor as monitor
from unseen.monitoring.timeline import Timeline as Timeline
