"""Stage 1: draw the rows, train the user's classifier, and write both down.

    python prepare.py WORK [logistic | forest]

Every class of a data set is the unseen one in turn, so that none is picked: 10 seeds for digits,
12 for satimage. The unseen class is in no training or reference row. The settings differ in the
new rows only: shares as in training; half of the known classes thinned to a fifth; the rows of
the first setting with every column moved by a tenth of its standard deviation, up or down, or
multiplied by 1.05; and shares as in training with 30% of the rows from the unseen class.

The user's classifier is a logistic regression, whose probabilities are nearly calibrated, or a
random forest, whose are not.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from cases import SETTINGS, Table, each_case, write_answers
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unseen.datasets import draw_with_proportions, load_dataset

UNSEEN_SHARE = 0.3
SEEDS = {"digits": range(10), "satimage": range(12)}
NEW_ROWS = {"digits": 500, "satimage": 1000}


def rows_of(data: str) -> tuple[np.ndarray, np.ndarray]:
    """Features that are not constant, and labels."""
    if data == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        satimage = load_dataset(data)
        X, y = satimage.X, np.asarray(satimage.y).astype(int)
    return X[:, X.std(axis=0) > 0], y


def shares_of(setting: str, y: np.ndarray, hidden: int, rng: np.random.Generator) -> dict:
    """Share of each class among the new rows."""
    known, counts = np.unique(y[y != hidden], return_counts=True)
    weights = counts / counts.sum()
    if setting == "known classes shifted":
        weights[rng.permutation(len(known))[: len(known) // 2]] /= 5
        weights /= weights.sum()
    if setting == "30% unseen":
        return dict(zip(known, 0.7 * weights, strict=True)) | {hidden: UNSEEN_SHARE}
    return dict(zip(known, weights, strict=True))


def drifted(setting: str, X: np.ndarray, sd: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What a sensor that was recalibrated would report for the same rows."""
    if setting == "columns moved by .1 sd":
        return X + rng.choice([-0.1, 0.1], X.shape[1]) * sd
    return 1.05 * X if setting == "gain of 5%" else X


def size_of(shares: dict, y: np.ndarray, at_most: int) -> int:
    """As many rows as the shares allow without drawing one twice."""
    room = [(np.sum(y == label) - 1) / share for label, share in shares.items()]
    return int(min(at_most, *room))


def user_classifier(name: str, seed: int) -> Any:
    """What runs in production."""
    if name == "forest":
        return RandomForestClassifier(random_state=seed)
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def outputs(model: Any, X: np.ndarray) -> dict[str, np.ndarray]:
    """The columns that a model in production would log."""
    columns = {f"x{place}": column for place, column in enumerate(X.T)}
    probabilities = model.predict_proba(X).T
    columns |= {f"p_{c}": p for c, p in zip(model.classes_, probabilities, strict=True)}
    return columns | {"predicted": model.predict(X)}


def write_seed(folder: Path, data: str, seed: int, classifier: Any) -> None:
    """Reference rows, new rows of each setting, and the fitted classifier."""
    X, y = rows_of(data)
    classes = np.unique(y)
    hidden = int(classes[seed % len(classes)])
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.flatnonzero(y != hidden))
    train, reference, pool = np.split(order, [3 * len(order) // 10, 6 * len(order) // 10])
    pool = np.concatenate([pool, np.flatnonzero(y == hidden)])
    model = classifier.fit(X[train], y[train])
    folder.mkdir(parents=True)
    joblib.dump(model, folder / "model.joblib")
    Table(outputs(model, X[reference]) | {"label": y[reference]}).write(folder / "reference.csv")
    for setting in SETTINGS:
        shares = shares_of(setting, y, hidden, rng)
        size = size_of(shares, y[pool], NEW_ROWS[data])
        new = pool[draw_with_proportions(y[pool], shares, size, random_state=seed)]
        X_new = drifted(setting, X[new], X[reference].std(axis=0), np.random.default_rng(seed))
        Table(outputs(model, X_new)).write(folder / f"{setting}.csv")
        Table({"label": y[new]}).write(folder / f"{setting}.truth.csv")


def main() -> None:
    """Write all cases, and the truth about them."""
    work, (name,) = Path(sys.argv[1]), sys.argv[2:] or ["logistic"]
    for data, seeds in SEEDS.items():
        for seed in seeds:
            write_seed(
                work / "cases" / data / f"{seed:02d}", data, seed, user_classifier(name, seed)
            )
    answers = []
    for case in each_case(work):
        truth = case.truth()
        right = case.new.labels("predicted") == truth
        answers += case.shares("truth", [np.mean(truth == label) for label in case.known])
        answers.append(case.answer("truth", "unseen share", np.mean(truth == -1)))
        answers.append(case.answer("truth", "accuracy", np.mean(right)))
    write_answers(work, "truth", answers)


if __name__ == "__main__":
    main()
