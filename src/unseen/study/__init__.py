"""From two tables to one record: read, estimate, and keep all that a reader wants to know."""

from unseen.study.labelled import TableRule, fit_rule, label_rows, load_rule
from unseen.study.record import Origin, Study, Suspects
from unseen.study.run import answer, quiet_warnings, suspects, timeline_of, without_constants
from unseen.study.samples import (
    MAX_ROWS,
    NewRows,
    Training,
    Windows,
    load_training,
    read_new,
    read_training,
    read_windows,
)

__all__ = [
    "MAX_ROWS",
    "NewRows",
    "Origin",
    "Study",
    "Suspects",
    "TableRule",
    "Training",
    "Windows",
    "answer",
    "fit_rule",
    "label_rows",
    "load_rule",
    "load_training",
    "quiet_warnings",
    "read_new",
    "read_training",
    "read_windows",
    "suspects",
    "timeline_of",
    "without_constants",
]
