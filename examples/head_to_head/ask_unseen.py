"""What `unseen` says: shares with intervals, and the accuracy of the user's classifier.

python ask_unseen.py WORK
"""

from __future__ import annotations

import sys
from pathlib import Path

import joblib
from cases import Answer, Case, each_case, write_answers

import unseen


def ask(case: Case) -> list[Answer]:
    """Estimate the shares once, and use them for the accuracy."""
    X, y, X_new = case.reference.X, case.reference.labels(), case.new.X
    found = unseen.estimate(X, y, X_new, confidence=0.95, random_state=case.seed)
    model = joblib.load(case.folder / "model.joblib")
    risk = unseen.open_set_risk(model, X, y, X_new, found)
    low, high = found.intervals[-1]
    numbers = {
        "unseen share": found.unseen,
        "unseen low": low,
        "unseen high": high,
        "probability of anything unseen": found.diagnostics["probability_unseen"],
        "accuracy": 1 - risk.risk,
    }
    verdict = "still" if found.drift is None else found.drift.verdict
    numbers |= {f"says {name}": name == verdict for name in ("still", "moved", "unclear")}
    answers = [case.answer("unseen", quantity, value) for quantity, value in numbers.items()]
    return answers + case.shares("unseen", found.proportions)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    write_answers(folder, "unseen", (row for case in each_case(folder) for row in ask(case)))
