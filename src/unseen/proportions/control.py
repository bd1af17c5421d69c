"""A control: rows of the same place as the new ones, believed to hold no new class.

The known classes look in the control as they look in the new rows, however far they have moved
since training. So the control, each row under the known class that it looks like, takes the place
of the labelled rows. docs/drift.md says what this takes for granted.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unseen._random import whole_seed
from unseen._types import IntArray, Matrix
from unseen._wording import named
from unseen.drift import Control
from unseen.intervals import check_interval
from unseen.proportions.base import ProportionEstimator, answer
from unseen.records import Estimate, Notice
from unseen.samples import LabelledRows, check_new, sample_notices
from unseen.samples.checks import warn
from unseen.samples.copies import copy_notices, row_keys
from unseen.scores.base import stack_samples
from unseen.simplex import mixture_shares

__all__ = ["estimate_against_control", "rows_of_control"]

# Of fewer rows no density ratio can be learnt; the labelled rows of the class know more.
FEWEST_ROWS = 20


def estimate_against_control(
    fitted: ProportionEstimator,
    X_new: ArrayLike,
    control: ArrayLike,
    confidence: float | None = None,
) -> Estimate:
    """Estimate the shares in new rows, the known classes as they look in the control.

    Parameters
    ----------
    fitted : ProportionEstimator
        Fitted to the labelled rows; it must see the unseen.
    X_new, control : array-like of shape (n_new, n_features) and (n_control, n_features)
        New rows, and rows of the same place that hold no new class; without labels.
    confidence : float or None, default=None
        Level of the intervals.

    Returns
    -------
    Estimate
        With ``control``, which says what training alone would claim of the control.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import OpenSetEstimator
    >>> from unseen.proportions.control import estimate_against_control
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-4, 1, (200, 2)), rng.normal(4, 1, (200, 2))])
    >>> control, X_new = X[::2] + 2.0, np.vstack([X[1::2] + 2.0, rng.normal([9, -9], 1, (50, 2))])
    >>> fitted = OpenSetEstimator(random_state=0).fit(X, ["left"] * 200 + ["right"] * 200)
    >>> print(f"{estimate_against_control(fitted, X_new, control).unseen:.1f}")
    0.2
    """
    if not fitted.sees_unseen:
        name = type(fitted).__name__
        raise ValueError(f"control needs an estimator that sees the unseen; got {name}.")
    check_interval(confidence)
    rows = check_new(fitted.labelled_, control, name="control")
    if rows.shape[0] < FEWEST_ROWS:
        raise ValueError(f"control must have at least {FEWEST_ROWS} rows; got {rows.shape[0]}.")
    new = check_new(fitted.labelled_, X_new)
    notices = sample_notices(fitted.labelled_, new, given=X_new)
    notices += _shared_rows(fitted.labelled_.rows, rows, new)
    one_seed = copy(fitted).set_params(random_state=whole_seed(fitted.random_state))
    claim = answer(one_seed, one_seed.labelled_, rows, confidence)
    here, lacking = rows_of_control(one_seed, rows)
    there = copy(one_seed)
    there.labelled_ = here
    found = there.with_verdict(answer(there, here, new, confidence), new, None)
    limits = None if claim.intervals is None else tuple(claim.intervals[-1].tolist())
    verdict = None if claim.drift is None else claim.drift.verdict
    return replace(
        found,
        control=Control(rows.shape[0], claim.unseen, limits, verdict),
        n_labelled=claim.n_labelled,
        notices=(*notices, *found.notices, *lacking),
    )


def _shared_rows(labelled: Matrix, control: Matrix, new: Matrix) -> tuple[Notice, ...]:
    """Rows that the control has in common with another sample, where chance does not put them."""
    with_new = _in_both(control, new, "control", "X_new")
    keys, keys_new = np.split(row_keys(control, new), [control.shape[0]])
    if with_new and np.isin(keys_new, keys).all():
        raise ValueError(
            "control must hold other rows than the new ones; it holds all of them, so that none "
            "could be called unseen."
        )
    shared = with_new + _in_both(labelled, control, "X", "control")
    for notice in shared:
        warn(notice.text)
    return tuple(shared)


def _in_both(known: Matrix, new: Matrix, *names: str) -> list[Notice]:
    return [one for one in copy_notices(known, new, *names) if one.code == "rows_in_both"]


def rows_of_control(
    fitted: ProportionEstimator, rows: Matrix
) -> tuple[LabelledRows, tuple[Notice, ...]]:
    """Rows of the control under the class that each looks like, in place of the labelled rows.

    A class that fewer than 20 rows look like keeps its labelled rows beside these, and a notice.

    Parameters
    ----------
    fitted : ProportionEstimator
    rows : array or CSR matrix
        Checked rows of the control.

    Returns
    -------
    sample : LabelledRows
    notices : tuple of Notice
    """
    labelled = fitted.labelled_
    codes = _looks_like(fitted, rows)
    few = np.bincount(codes, minlength=len(labelled.classes)) < FEWEST_ROWS
    kept = few[labelled.codes]
    stacked, _ = stack_samples(rows, labelled.rows[kept])
    sample = replace(labelled, rows=stacked, codes=np.append(codes, labelled.codes[kept]))
    return sample, tuple(_lacking(label) for label in labelled.classes[few].tolist())


def _looks_like(fitted: ProportionEstimator, rows: Matrix) -> IntArray:
    """The likeliest class of each row, at the shares that EM finds in these rows."""
    labelled = fitted.labelled_
    if len(labelled.classes) == 1:
        return np.zeros(rows.shape[0], dtype=np.intp)
    scorer = fitted.scorer(whole_seed(fitted.random_state)).posterior_scorer()
    posteriors = replace(scorer, n_folds=None).score(labelled, rows)
    shares = mixture_shares(posteriors.ratios, start=posteriors.prior)
    return np.asarray((posteriors.ratios * shares).argmax(axis=1))


def _lacking(label: Any) -> Notice:
    text = (
        f"class {named(label)}: fewer than {FEWEST_ROWS} rows of the control look like it, so its "
        "labelled rows are used too. Where the class has moved, its rows look new."
    )
    return Notice("class_not_in_control", text, about=label)
