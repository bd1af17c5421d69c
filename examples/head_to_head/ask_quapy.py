"""What QuaPy says: the shares of the known classes, by two of its best closed-set methods.

python ask_quapy.py WORK
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from cases import Answer, Case, each_case, write_answers
from quapy.method.aggregative import EMQ, PACC
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def ask(case: Case) -> list[Answer]:
    """Shares by EM and by the adjusted count of probabilities; there is no unseen share."""
    answers = []
    for method in (EMQ, PACC):
        np.random.seed(case.seed)  # noqa: NPY002, QuaPy draws from the global generator
        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        quantifier = method(classifier).fit(case.reference.X, case.reference.labels())
        answers += case.shares(f"QuaPy {method.__name__}", quantifier.predict(case.new.X))
    return answers


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    write_answers(folder, "quapy", (row for case in each_case(folder) for row in ask(case)))
