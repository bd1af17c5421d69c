"""What PyOD says: the rows it flags; and the same detector inside `unseen.RejectionThreshold`.

    python ask_pyod.py WORK

Reads ``unseen.json`` for the estimated shares, so run ask_unseen.py first.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import joblib
import numpy as np
from cases import Answer, Case, each_case, write_answers
from pyod.models.knn import KNN

from unseen import RejectionThreshold


def estimated_shares(work: Path, case: Case) -> dict[int, float]:
    """Shares of the known classes as `unseen` estimated them."""
    prefix = "share "
    return {
        int(row["quantity"].removeprefix(prefix)): row["value"]
        for row in json.loads((work / "unseen.json").read_text())
        if row["quantity"].startswith(prefix)
        and (row["data"], row["seed"], row["setting"]) == (case.data, case.seed, case.setting)
    }


def ask(work: Path, case: Case) -> list[Answer]:
    """Flagged rows at PyOD's default contamination, and labels with "unseen" among them."""
    X, y, X_new, truth = case.reference.X, case.reference.labels(), case.new.X, case.truth()
    flagged = KNN().fit(X).predict(X_new) == 1
    model = joblib.load(case.folder / "model.joblib")
    rule = RejectionThreshold(KNN(), model, odd_scores="high", random_state=case.seed)
    rule.fit(X, y, X_new, estimated_shares(work, case))
    labels = rule.predict_new()
    closed = case.new.labels("predicted")
    return [
        case.answer("PyOD", "rows flagged", flagged.mean()),
        case.answer("PyOD", "accuracy", np.mean(np.where(flagged, -1, closed) == truth)),
        case.answer("PyOD in unseen", "rows flagged", np.mean(labels == -1)),
        case.answer("PyOD in unseen", "accuracy", np.mean(labels == truth)),
        case.answer("PyOD in unseen", "estimated accuracy", 1 - rule.risk_.risk),
    ]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    write_answers(folder, "pyod", (row for case in each_case(folder) for row in ask(folder, case)))
