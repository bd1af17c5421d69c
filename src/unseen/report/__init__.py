"""A study as one self-contained HTML file: readable on a phone, on paper, in the dark, and aloud.

One file per idea: sentences (:mod:`~unseen.report.sentences`), tables
(:mod:`~unseen.report.tables`), pictures (:mod:`~unseen.report.pictures`), and the page that holds
them (:mod:`~unseen.report.page`).
"""

from unseen.report.page import render, write_report

__all__ = ["render", "write_report"]
