"""What cleanlab says: outliers by Datalab, and whether the rows look like one sample.

python ask_cleanlab.py WORK
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from cases import Answer, Case, each_case, write_answers
from cleanlab import Datalab


def ask(case: Case) -> list[Answer]:
    """Datalab on reference rows with new rows after them, by default settings."""
    X = np.vstack([case.reference.X, case.new.X])
    lab = Datalab({"row": np.arange(len(X))}, verbosity=0)
    lab.find_issues(features=X, issue_types={"outlier": {}, "non_iid": {"seed": case.seed}})
    flagged = lab.get_issues("outlier")["is_outlier_issue"].to_numpy()[len(case.reference.X) :]
    closed = case.new.labels("predicted")
    numbers = {
        "rows flagged": flagged.mean(),
        "accuracy": np.mean(np.where(flagged, -1, closed) == case.truth()),
        "rows called one sample": lab.get_info("non_iid")["p-value"] >= 0.05,
    }
    return [case.answer("cleanlab", quantity, value) for quantity, value in numbers.items()]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    write_answers(folder, "cleanlab", (row for case in each_case(folder) for row in ask(case)))
