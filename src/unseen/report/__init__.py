"""A study as one HTML file that needs nothing else: on a phone, on paper, and read aloud."""

from unseen.report.page import render, write_report

__all__ = ["render", "write_report"]
