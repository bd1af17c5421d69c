"""What Evidently says: which columns have drifted, the user's predictions among them.

python ask_evidently.py WORK
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from cases import Answer, Case, Table, each_case, write_answers
from evidently import Report
from evidently.metrics import DriftedColumnsCount, ValueDrift
from evidently.presets import DataDriftPreset


def frame(table: Table) -> pd.DataFrame:
    """Features, and predictions as text so that they count as categories."""
    columns = pd.DataFrame({name: table.columns[name] for name in table.features})
    return columns.assign(predicted=table.labels("predicted").astype(str))


def has_drifted(metric: dict[str, Any]) -> bool:
    """Small samples get a p-value, low where drifted; large ones a distance, high where drifted."""
    value, config = metric["value"], metric["config"]
    if config["method"].endswith("p_value"):
        return bool(value < config["threshold"])
    return bool(value >= config["threshold"])


def ask(case: Case) -> list[Answer]:
    """The numbers of the drift preset, by default tests; its whole page for the first seed."""
    new, reference = frame(case.new), frame(case.reference)
    metrics = [DriftedColumnsCount(), ValueDrift(column="predicted")]
    drifted, predicted = Report(metrics).run(new, reference).dict()["metrics"]
    numbers = {
        "drifted columns": drifted["value"]["share"],
        "data set called drifted": drifted["value"]["share"] >= drifted["config"]["drift_share"],
        "predictions called drifted": has_drifted(predicted),
    }
    if case.seed == 0:
        page = case.folder / "report.html"
        Report([DataDriftPreset()]).run(new, reference).save_html(str(page))
        numbers["report, MB"] = page.stat().st_size / 1e6
    return [case.answer("Evidently", quantity, value) for quantity, value in numbers.items()]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    folder = Path(sys.argv[1])
    write_answers(folder, "evidently", (row for case in each_case(folder) for row in ask(case)))
