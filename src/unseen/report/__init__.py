"""A study as one self-contained HTML file: readable on a phone, on paper, in the dark, and aloud.

One file per idea: numbers and names in words (:mod:`~unseen.report.words`), sentences
(:mod:`~unseen.report.remarks`), tables (:mod:`~unseen.report.tables`), pictures
(:mod:`~unseen.report.pictures`), and the page that holds them (:mod:`~unseen.report.page`).
"""

from unseen.report.page import render, write_report

__all__ = ["render", "write_report"]
