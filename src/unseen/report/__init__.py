"""A study as one HTML file that needs nothing else: on a phone, on paper, and read aloud."""

from unseen.report.page import render as render
from unseen.report.page import write_report as write_report
