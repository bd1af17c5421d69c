"""From two tables to one record: read, estimate, and keep all that a reader wants to know."""

from unseen.study.inputs import Inputs, Progress, Windowing
from unseen.study.results import (
    Checks,
    Classification,
    MethodComparison,
    Origin,
    Study,
    Suspects,
)
from unseen.study.rows import (
    MAX_ROWS,
    NewRows,
    Training,
    WindowRows,
    read_new,
    read_training,
    read_windows,
)
from unseen.study.run import run_checks, run_classification, run_comparison, run_study
from unseen.study.table_rule import TableRule, fit_rule, label_rows

__all__ = [
    "MAX_ROWS",
    "Checks",
    "Classification",
    "Inputs",
    "MethodComparison",
    "NewRows",
    "Origin",
    "Progress",
    "Study",
    "Suspects",
    "TableRule",
    "Training",
    "WindowRows",
    "Windowing",
    "fit_rule",
    "label_rows",
    "read_new",
    "read_training",
    "read_windows",
    "run_checks",
    "run_classification",
    "run_comparison",
    "run_study",
]
