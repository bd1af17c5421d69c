"""Every kind of bad or odd input to the functions that take two samples, and what must come of it.

A bad input must raise a ValueError or TypeError that names an argument, in one line. An odd input
is unusual and fine: it must be answered with finite numbers, shares on the simplex.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen.mixture.base import MixtureEstimator
from unseen.proportions import ProportionEstimator
from unseen.rejection.base import RejectionRule

Given = tuple[Any, Any, Any]
Change = Callable[[Any, Any, Any], Given]
N_KNOWN, N_NEW = 24, 48


def good() -> Given:
    """Two classes and new rows, half of them of a third class."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(centre, 1, (N_KNOWN, 3)) for centre in (-4, 4)])
    new = [rng.normal(centre, 1, (N_NEW // 2, 3)) for centre in (-4, [-4, 9, 4])]
    return X, np.repeat(["a", "b"], N_KNOWN), np.vstack(new)


def _cell(rows: Any, value: Any, kind: Any = float) -> Any:
    changed = np.array(rows, dtype=kind)
    changed[3, 1] = value
    return changed


def _both(change: Callable[[Any], Any]) -> Change:
    return lambda X, y, new: (change(X), y, change(new))


def _old(change: Callable[[Any], Any]) -> Change:
    return lambda X, y, new: (change(X), y, new)


def _new(change: Callable[[Any], Any]) -> Change:
    return lambda X, y, new: (X, y, change(new))


def _labels(change: Callable[[Any], Any]) -> Change:
    return lambda X, y, new: (X, change(y), new)


def _frame(rows: Any, names: str = "pqr") -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(names))


def _dated(rows: Any) -> pd.DataFrame:
    return _frame(rows).assign(r=pd.Timestamp(2024, 1, 1))


def _mapped(rows: Any) -> Any:
    with tempfile.TemporaryFile() as file:
        file.write(rows.tobytes())
        file.flush()
        return np.memmap(file, rows.dtype, "r", shape=rows.shape)


def _broken_csr(rows: Any) -> Any:
    matrix = sparse.csr_array(rows)
    matrix.indices[0] = 10_000_000
    return matrix


BAD_ROWS: dict[str, Callable[[Any], Any]] = {
    "NaN": lambda rows: _cell(rows, np.nan),
    "infinite": lambda rows: _cell(rows, -np.inf),
    "1e300": lambda rows: _cell(rows, 1e300),
    "1e101": lambda rows: _cell(rows, 1e101),
    "integer of 400 digits": lambda rows: _cell(rows, 10**400, object),
    "None": lambda rows: None,
    "None in a cell": lambda rows: _cell(rows, None, object),
    "text": lambda rows: _cell(rows, "red", object),
    "all text": lambda rows: np.full(rows.shape, "red"),
    "a string": lambda rows: "red",
    "a dict": lambda rows: {"p": [1.0]},
    "a generator": lambda rows: (row for row in rows),
    "a number": lambda rows: 3.0,
    "no rows": lambda rows: rows[:0],
    "no columns": lambda rows: rows[:, :0],
    "an empty list": lambda rows: [],
    "one dimension": lambda rows: rows[:, 0],
    "three dimensions": lambda rows: rows[:, :, None],
    "ragged": lambda rows: [[1.0, 2.0, 3.0], [4.0]],
    "complex": lambda rows: rows + 1j,
    "dates": lambda rows: np.full(rows.shape, np.datetime64("2024-01-01")),
    "pandas dates": _dated,
    "polars dates": lambda rows: pl.DataFrame(rows).with_columns(d=pl.lit(date(2024, 1, 1))),
    "pandas gaps": lambda rows: _frame(rows).convert_dtypes().mask(_frame(rows) > 4),
    "polars gaps": lambda rows: pl.DataFrame(_cell(rows, None, object).tolist(), orient="row"),
    "polars, not collected": lambda rows: pl.DataFrame(rows).lazy(),
    "masked": lambda rows: np.ma.masked_greater(rows, 4),
    "damaged sparse": _broken_csr,
    "sparse NaN": lambda rows: sparse.csr_array(_cell(rows, np.nan)),
    "pandas complex": lambda rows: _frame(rows).assign(r=1j),
    "one name twice": lambda rows: _frame(rows, "pqq"),
    "lists in cells": lambda rows: _cell(rows, [1, 2], object),
}  # fmt: skip

BAD: dict[str, Change] = {
    **{f"X: {name}": _old(change) for name, change in BAD_ROWS.items()},
    **{f"X_new: {name}": _new(change) for name, change in BAD_ROWS.items()},
    "X: one row": lambda X, y, new: (X[:1], y[:1], new),
    "X_new: other columns": _new(lambda rows: rows[:, :2]),
    "X_new: the label too": lambda X, y, new: (X, y, np.column_stack([new, np.zeros(len(new))])),
    "X_new: columns renamed": lambda X, y, new: (_frame(X), y, _frame(new, "pqs")),
    "X_new: columns in other order": lambda X, y, new: (_frame(X), y, _frame(new, "qpr")),
    "both: constant": _both(np.ones_like),
    "both: times 1e-170": _both(lambda rows: rows * 1e-170),
    "both: times 1e155": _both(lambda rows: rows * 1e155),
}
BAD_LABELS: dict[str, Change] = {
    "y: None": _labels(lambda y: None),
    "y: too short": _labels(lambda y: y[:-1]),
    "y: two columns": _labels(lambda y: np.column_stack([y, y])),
    "y: NaN": _labels(lambda y: [np.nan, *y[1:]]),
    "y: a gap": _labels(lambda y: pd.Series(y).where(np.arange(len(y)) > 0)),
    "y: measurements": _labels(lambda y: np.linspace(0, 1, len(y))),
    "y: infinite": _labels(lambda y: np.where(y == "a", 1.0, np.inf)),
    "y: text and numbers": _labels(lambda y: [1, *y[1:]]),
    "y: NUL": _labels(lambda y: ["a" if label == "a" else "a\0" for label in y]),
    "y: masked": _labels(lambda y: np.ma.array(y, mask=y == "a")),
    "y: a gap in whole numbers": _labels(lambda y: pd.array([None, *(y[1:] == "a")], "Int64")),
    "y: no time": _labels(
        lambda y: np.where(y == "a", np.datetime64("NaT"), np.datetime64(0, "D"))
    ),
    "y: truths and numbers": _labels(lambda y: [True, 1, *(y[2:] == "a").astype(int).tolist()]),
    "y: complex": _labels(lambda y: np.where(y == "a", 1j, 1)),
    "y: a string": _labels(lambda y: "ab"),
    "y: a dict": _labels(lambda y: {"a": 1}),
}
ODD: dict[str, Change] = {
    "float32": _both(np.float32),
    "float16": _both(np.float16),
    "whole numbers": _both(lambda rows: np.round(rows * 10).astype(np.int8)),
    "objects": _both(lambda rows: rows.astype(object)),
    "decimals": _both(lambda rows: np.array([[Decimal(str(v)) for v in row] for row in rows])),
    "lists": lambda X, y, new: (X.tolist(), y.tolist(), new.tolist()),
    "columns first, read-only": _both(lambda rows: _read_only(np.asfortranarray(rows))),
    "backwards, other byte order": _both(lambda rows: rows.astype(">f8")[::-1][::-1]),
    "sparse": _both(sparse.csc_matrix),
    "polars": _both(pl.DataFrame),
    "a mask that hides nothing": _both(np.ma.array),
    "one column constant": _both(lambda rows: np.column_stack([rows, np.ones(len(rows))])),
    "labels of bool": _labels(lambda y: y == "a"),
    "truths": _both(lambda rows: rows > 0),
    "a memory map that may only be read": _both(_mapped),
    "whole numbers of pandas, indices twice": _both(
        lambda rows: _frame(np.round(rows * 10)).astype("Int64").set_axis([0] * len(rows))
    ),
    "labels of pandas": _labels(lambda y: pd.Series(y, dtype="category")),
}


def _read_only(rows: Any) -> Any:
    rows.flags.writeable = False
    return rows


# --- the functions ---------------------------------------------------------------------------


def functions() -> dict[str, Callable[..., Any]]:
    """Every public function and estimator as one of X, y and X_new, with few rows in mind."""
    found: dict[str, Callable[..., Any]] = {
        "estimate": lambda X, y, new: unseen.estimate(X, y, new, random_state=0),
        "estimate, all rows": _full,
        "estimate, control": _control,
        "explain": lambda X, y, new: unseen.explain(_rule(), X, y, new, random_state=0).weights,
        "compare": lambda X, y, new: unseen.compare(X, y, new, random_state=0),
        "monitor": _monitor,
        "mixture_proportion": lambda X, y, new: unseen.mixture_proportion(new, X, random_state=0),
        "open_set_risk": _risk,
        "KernelLogisticRegression": _classifier,
    }
    for name in unseen.__all__:
        kind = getattr(unseen, name)
        if isinstance(kind, type) and issubclass(kind, BaseEstimator) and name not in found:
            caller = _caller(kind)
            if caller is not None:
                found[name] = caller
    return found


# X of open_set_risk goes to a classifier of the user's, and its errors are those of the classifier.
ROWS_UNUSED = ("open_set_risk",)
# A bound holds of constants too, and a classifier falls back on the shares of its classes.
ANSWERED = {(name, f"both: {what}") for name in ("CertifiedBound", "KernelLogisticRegression")
            for what in ("constant", "times 1e-170")}  # fmt: skip
# None is no control, and the new rows beside it are good; groups are of the rule's own
# probabilities.
ANSWERED |= {
    ("estimate, control", "X_new: None"),
    ("estimate, control", "both: constant"),
    ("estimate, control", "both: times 1e-170"),
    ("explain", "both: times 1e-170"),
}
# These bring good rows, a rule or a classifier of their own, which the input does not change; and
# whether a value is positive leaves too few rows that differ for a full pass.
REFUSED = {
    ("estimate, control", "one column constant"),
    ("estimate, all rows", "truths"),
    ("explain", "labels of bool"),
    *(("open_set_risk", what) for what in ("sparse", "one column constant", "labels of bool")),
}
LABELS_UNUSED = ("mixture_proportion", "BestBin", "CertifiedBound", "DensityRatio", "KernelMean",
                 "Placement", "ROCSlope")  # fmt: skip


def _caller(kind: Any) -> Callable[..., Any] | None:
    if getattr(kind, "__abstractmethods__", None):
        return None
    seeded = {"random_state": 0} if "random_state" in kind().get_params() else {}
    if issubclass(kind, RejectionRule):
        shares = [0.5, 0.0]
        return lambda X, y, new: kind(**seeded).fit(X, y, new, shares).predict_proba(new)
    if issubclass(kind, ProportionEstimator):
        return lambda X, y, new: kind(**seeded).fit(X, y).estimate(new)
    if issubclass(kind, MixtureEstimator):
        return lambda X, y, new: kind(**seeded).fit(X).estimate(new)
    if hasattr(kind, "bound"):
        return lambda X, y, new: kind(**seeded).fit(X).bound(new)
    return None


def _full(X: Any, y: Any, new: Any) -> Any:
    asked = unseen.MPEIncomplete(random_state=0)
    return unseen.estimate(X, y, new, estimator=asked, full=True, random_state=0)


def _control(X: Any, y: Any, new: Any) -> Any:
    return unseen.estimate(X, y, good()[2] + 0.01, control=new, random_state=0)


@cache
def _rule() -> Any:
    return unseen.RejectionThreshold(random_state=0).fit(*good(), [0.5, 0.0])


def _monitor(X: Any, y: Any, new: Any) -> Any:
    windows = np.repeat(["one", "two"], N_NEW // 2)
    options = {"estimator": unseen.MPEIncomplete(), "least_rows": 10, "random_state": 0}
    return unseen.monitor(X, y, new, windows, **options).estimates[0]


def _risk(X: Any, y: Any, new: Any) -> Any:
    rule = GaussianNB().fit(*good()[:2])
    return unseen.open_set_risk(rule, X, y, new, [0.5, 0.0], random_state=0).risk


def _classifier(X: Any, y: Any, new: Any) -> Any:
    return unseen.KernelLogisticRegression(bandwidth=1.0, C=1.0).fit(X, y).predict_proba(new)


# --- outcomes --------------------------------------------------------------------------------

_NAMES = ("X", "y", "NEW", "control", "F", "H", "by", "KernelLogisticRegression", "each class")


def outcome(function: Callable[..., Any], given: Given) -> str:
    """``error``, ``answer``, or what is wrong with the way that a function ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            found = function(*given)
        except (ValueError, TypeError) as error:
            return _fault_of_message(str(error)) or "error"
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:100]}"
    return _fault_of_answer(found) or "answer"


def bad_for(name: str) -> dict[str, Change]:
    """The bad inputs that a function looks at."""
    rows = {} if name in ROWS_UNUSED else BAD
    labels = {} if name in LABELS_UNUSED else BAD_LABELS
    return {
        what: change for what, change in {**rows, **labels}.items() if (name, what) not in ANSWERED
    }


def odd_for(name: str) -> dict[str, Change]:
    """The odd inputs that a function must answer."""
    return {what: change for what, change in ODD.items() if (name, what) not in REFUSED}


def _fault_of_message(text: str) -> str:
    # What scikit-learn says of other column names has a line for each of them.
    if text.startswith("The feature names should match"):
        return ""
    if "\n" in text.strip():
        return f"several lines: {text[:100]!r}"
    return "" if any(name in text for name in _NAMES) else f"names no argument: {text[:100]!r}"


def _fault_of_answer(found: Any) -> str:
    if isinstance(found, Mapping) or hasattr(found, "items"):
        return next((fault for _, one in found.items() if (fault := _fault_of_answer(one))), "")
    if hasattr(found, "proportions"):
        found = [*found.proportions, found.unseen]
        if abs(sum(found) - 1) > 1e-9 or min(found) < 0:
            return f"not on the simplex: {found}"
    for name in ("proportion", "upper"):
        found = getattr(found, name, found)
    values = np.asarray(found, dtype=float)
    return "" if np.isfinite(values).all() else "not finite"
