"""A control: rows of the same place as the new ones, believed to hold no new class.

The known classes look in the control as they look in the new rows, however far they have moved
since training. So the control, each row under the known class that it looks like, takes the place
of the labelled rows. docs/drift.md says what this takes for granted.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from unseen._random import whole_seed
from unseen._types import Matrix
from unseen._wording import named
from unseen.drift import Control
from unseen.intervals import check_interval
from unseen.proportions.base import ProportionEstimator, answer, seeded_copy
from unseen.records import Estimate, Notice
from unseen.samples import LabelledRows, check_new, sample_notices
from unseen.samples.checks import warn
from unseen.samples.clusters import row_keys
from unseen.samples.oddities import copy_notices
from unseen.scores.base import stack_samples
from unseen.simplex import mixture_shares

# Of fewer rows no density ratio can be learnt; the labelled rows of the class know more.
FEWEST_ROWS = 20


def estimate_against_control(
    fitted: ProportionEstimator,
    X_new: ArrayLike,
    control: ArrayLike,
    confidence: float | None = None,
) -> Estimate:
    """Estimate the shares in new rows, with known classes as they look in the control.

    ``control`` of the estimate says what training alone would claim of the control.
    """
    estimator = seeded_copy(fitted, "control")
    check_interval(confidence)
    rows = check_new(fitted.labelled_, control, name="control")
    if rows.shape[0] < FEWEST_ROWS:
        raise ValueError(f"control must have at least {FEWEST_ROWS} rows; got {rows.shape[0]}.")
    new = check_new(fitted.labelled_, X_new)
    notices = sample_notices(fitted.labelled_, new, given=X_new)
    notices += _shared_rows(fitted.labelled_.rows, rows, new)
    claim = answer(estimator, fitted.labelled_, rows, confidence)
    here, lacking = rows_of_control(estimator, rows)
    there = copy(estimator)
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
    with_new, with_labelled = (
        [one for one in copy_notices(*pair) if one.code == "rows_in_both"]
        for pair in ((control, new, "control", "X_new"), (labelled, control, "X", "control"))
    )
    keys, keys_new = np.split(row_keys(control, new), [control.shape[0]])
    if with_new and np.isin(keys_new, keys).all():
        raise ValueError(
            "control must hold other rows than the new ones; it holds all of them, so that none "
            "could be called unseen."
        )
    for notice in (*with_new, *with_labelled):
        warn(notice.text)
    return (*with_new, *with_labelled)


def rows_of_control(
    fitted: ProportionEstimator, rows: Matrix
) -> tuple[LabelledRows, tuple[Notice, ...]]:
    """Checked rows of the control under the class that each looks like, as labelled rows.

    A class that fewer than 20 rows look like keeps its labelled rows beside these, and a notice.
    """
    labelled, codes = fitted.labelled_, np.zeros(rows.shape[0], dtype=np.intp)
    if len(labelled.classes) > 1:
        scorer = fitted.scorer(whole_seed(fitted.random_state)).posterior_scorer()
        posteriors = replace(scorer, n_folds=None).score(labelled, rows)
        # The likeliest class of each row, at the shares that EM finds in these rows.
        shares = mixture_shares(posteriors.ratios, start=posteriors.prior)
        codes = (posteriors.ratios * shares).argmax(axis=1)
    few = np.bincount(codes, minlength=len(labelled.classes)) < FEWEST_ROWS
    kept = few[labelled.codes]
    stacked, _ = stack_samples(rows, labelled.rows[kept])
    sample = replace(labelled, rows=stacked, codes=np.append(codes, labelled.codes[kept]))
    said = (
        f"fewer than {FEWEST_ROWS} rows of the control look like it, so its labelled rows are used "
        "too. Where the class has moved, its rows look new."
    )
    return sample, tuple(
        Notice("class_not_in_control", f"class {named(label)}: {said}", about=label)
        for label in labelled.classes[few].tolist()
    )
