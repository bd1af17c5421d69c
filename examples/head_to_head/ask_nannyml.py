"""What NannyML says: estimated accuracy (CBPE), and how well new rows can be told from old.

python ask_nannyml.py WORK
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import nannyml
import pandas as pd
from cases import Answer, Case, each_case, write_answers

CHUNK_ROWS = 100


def estimated_accuracy(case: Case, reference: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """CBPE, chunk by chunk, with its default thresholds."""
    estimator = nannyml.CBPE(
        problem_type="classification_multiclass",
        metrics=["accuracy"],
        y_pred="predicted",
        y_true="label",
        y_pred_proba={label: f"p_{label}" for label in case.known},
        chunk_size=CHUNK_ROWS,
    )
    found = estimator.fit(reference).estimate(new)
    return found.filter(period="analysis").to_df()["accuracy"]


def domain_classifier(case: Case, reference: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """AUROC of a classifier of new rows against reference rows, all new rows in one chunk."""
    calculator = nannyml.DomainClassifierCalculator(
        feature_column_names=case.new.features, chunk_number=1
    )
    found = calculator.fit(reference).calculate(new)
    return found.filter(period="analysis").to_df()["domain_classifier_auroc"]


def ask(case: Case) -> list[Answer]:
    """Both questions about one case."""
    reference, new = (
        pd.DataFrame(table.columns).astype({"predicted": int})
        for table in (case.reference, case.new)
    )
    reference["label"] = reference["label"].astype(int)
    chunks = estimated_accuracy(case, reference, new)
    domain = domain_classifier(case, reference, new)
    numbers = {
        "accuracy": chunks["value"].mean(),
        "alerts on accuracy": chunks["alert"].mean(),
        "domain AUROC": domain["value"].mean(),
        "alerts on domain AUROC": domain["alert"].mean(),
    }
    return [case.answer("NannyML", quantity, value) for quantity, value in numbers.items()]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    write_answers(folder, "nannyml", (row for case in each_case(folder) for row in ask(case)))
