"""Read two tables, estimate, and keep in one record all that a reader wants to know."""

from unseen.study.after import run_audit, run_explanation, run_promotion
from unseen.study.inputs import Inputs, Windowing
from unseen.study.results import (
    AfterResult,
    Checks,
    Classification,
    MethodComparison,
    Origin,
    Study,
    Suspects,
)
from unseen.study.rows import NewRows, Training, WindowRows
from unseen.study.run import run_checks, run_classification, run_comparison, run_study
from unseen.study.table_rule import TableRule

__all__ = [
    "AfterResult",
    "Checks",
    "Classification",
    "Inputs",
    "MethodComparison",
    "NewRows",
    "Origin",
    "Study",
    "Suspects",
    "TableRule",
    "Training",
    "WindowRows",
    "Windowing",
    "run_audit",
    "run_checks",
    "run_classification",
    "run_comparison",
    "run_explanation",
    "run_promotion",
    "run_study",
]
