"""What is claimed where nothing is new: of a control, and of labelled groups held out.

A control are rows of the same place as the new ones, believed to hold no new class: each row under
the known class that it looks like, it takes the place of the labelled rows (docs/drift.md). And new
rows come from another person, site or batch than the labelled ones: what the estimator claims of a
labelled group that it did not learn from is what it claims where nothing is new.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unseen._progress import between, each
from unseen._random import whole_seed
from unseen._types import BoolArray, IntArray, Matrix
from unseen._wording import listed, named, shown
from unseen.drift import Control, HeldOut, calibrated, group_tolerance
from unseen.intervals import check_interval
from unseen.proportions.base import ProportionEstimator, answer, seeded_copy
from unseen.records import Estimate, Notice
from unseen.samples import LabelledRows, check_new, in_one_group, sample_notices
from unseen.samples.checks import is_missing, warn
from unseen.samples.clusters import row_keys
from unseen.samples.oddities import copy_notices
from unseen.scores.base import FOLDS, stack_samples
from unseen.scores.distances import between_groups
from unseen.simplex import mixture_shares

# Each part costs an estimate. With ten a new group is worse than all in one case of eleven.
MOST_PARTS = 10
_FEWEST_ROWS, _MOST_ROWS = 30, 5_000
# Of fewer rows no density ratio can be learnt; the labelled rows of the class know more.
FEWEST_IN_CONTROL = 20
_CONTROL_FAR = (
    "The control lies so far from the labelled rows that these do not tell its classes apart: the "
    "unseen share is that against all known classes together, and their own shares are not known."
)


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
    if rows.shape[0] < FEWEST_IN_CONTROL:
        raise ValueError(
            f"control must have at least {FEWEST_IN_CONTROL} rows; got {rows.shape[0]}."
        )
    new = check_new(fitted.labelled_, X_new)
    notices = sample_notices(fitted.labelled_, new, given=X_new)
    notices += _shared_rows(fitted.labelled_.rows, rows, new)
    claim = answer(estimator, fitted.labelled_, rows, confidence)
    here, lacking = rows_of_control(estimator, rows)
    there = copy(estimator)
    there.labelled_ = here
    found = there.with_verdict(answer(there, here, new, confidence), new, None)
    limits = None if claim.intervals is None else tuple(claim.intervals[-1].tolist())
    verdict, far, known = None, claim.has_moved_far, found.intervals
    if claim.drift is not None:
        verdict = claim.drift.verdict
    if far:
        # Nobody knows which class a row of the control is of; together they are all classes.
        if known is not None:
            known = np.vstack([np.tile([0.0, 1.0], (len(known) - 1, 1)), known[-1]])
        lacking = (Notice("control_far", _CONTROL_FAR),)
    return replace(
        found,
        intervals=known,
        control=Control(rows.shape[0], claim.unseen, limits, verdict, far),
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
    few = np.bincount(codes, minlength=len(labelled.classes)) < FEWEST_IN_CONTROL
    kept = few[labelled.codes]
    stacked, _ = stack_samples(rows, labelled.rows[kept])
    sample = replace(labelled, rows=stacked, codes=np.append(codes, labelled.codes[kept]))
    said = (
        f"fewer than {FEWEST_IN_CONTROL} rows of the control look like it, so its labelled rows "
        "are used too. Where the class has moved, its rows look new."
    )
    return sample, tuple(
        Notice("class_not_in_control", f"class {named(label)}: {said}", about=label)
        for label in labelled.classes[few].tolist()
    )


def estimate_with_groups(
    fitted: ProportionEstimator,
    X_new: ArrayLike,
    groups: ArrayLike,
    groups_new: ArrayLike | None = None,
    confidence: float | None = None,
) -> Estimate:
    """Estimate the shares in new rows, less what is claimed of held-out groups.

    As many groups are held out at a time as the new rows have; without ``groups_new`` these are
    one group. ``held_out`` of the estimate says what was claimed.
    """
    estimator, labelled = seeded_copy(fitted, "groups"), fitted.labelled_
    names, group = _checked(groups, "groups", len(labelled.codes), "X")
    if len(names) < 2:
        raise ValueError(f"groups must hold at least two groups; got only {shown(names[0])!r}.")
    rows = check_new(labelled, X_new)
    n_groups_new, group_new = _groups_of_new(groups_new, names, rows.shape[0])
    estimator.labelled_ = replace(labelled, groups=(group, group_new))
    rng = np.random.RandomState(estimator.random_state)
    parts = held_out_parts(group, n_groups_new, rng)
    first = 1 / (len(parts) + 1)
    with between(0.0, first):
        found = estimator.estimate(X_new, confidence=confidence)
    claims = []
    with between(first, 1.0):
        for part in each(parts):
            claim = _claim(estimator, np.isin(group, part), n_groups_new, rng)
            if claim is not None:
                claims.append((listed([shown(names[one]) for one in part]), claim))
    if not claims:
        raise _no_claims(labelled.codes, group, names)
    far = between_groups(rows, labelled.rows, group, rng)
    tolerance, factors = group_tolerance(far.new, far.labelled, labelled.codes, group)
    held_out = HeldOut(
        groups=tuple(name for name, _ in claims),
        n_rows=tuple(claim.n_new for _, claim in claims),
        unseen=np.array([claim.unseen for _, claim in claims]),
        factors=factors,
        tolerance=tolerance,
        by=str(getattr(groups, "name", None) or ""),
    )
    doubts = _group_notices(labelled, group, names)
    return calibrated(replace(found, notices=(*found.notices, *doubts)), held_out)


def held_out_parts(
    group: IntArray, n_groups_new: int, rng: np.random.RandomState
) -> list[IntArray]:
    """Groups to hold out together: as many as the new rows have, with rows enough to ask about."""
    sizes = np.bincount(group)
    wanted = max(n_groups_new, int(np.ceil(_FEWEST_ROWS / np.median(sizes))))
    together = min(wanted, len(sizes) // 2)
    n_parts = min(MOST_PARTS, len(sizes) // together)
    order = rng.permutation(len(sizes))
    return [order[place * together : (place + 1) * together] for place in range(n_parts)]


def _no_claims(codes: IntArray, group: IntArray, names: NDArray[Any]) -> ValueError:
    """Why no group can be held out."""
    if in_one_group(codes, group).all():
        return ValueError(
            "groups must have some class in two groups, or nothing can be asked of a held-out "
            f"group; got {len(names)} groups, and each class in one of them alone."
        )
    return ValueError(
        "groups must leave enough rows to hold a group out, at least "
        f"{FOLDS} of some class on either side; got {len(names)} groups of "
        f"{int(np.median(np.bincount(group)))} rows."
    )


def _claim(
    estimator: ProportionEstimator,
    held: BoolArray,
    n_groups_new: int,
    rng: np.random.RandomState,
) -> Estimate | None:
    """The answer for held-out rows of classes that the others know; None if too few are left."""
    labelled = estimator.labelled_
    n_classes = len(labelled.classes)
    known = np.bincount(labelled.codes[~held], minlength=n_classes) >= FOLDS
    usable = known[labelled.codes]
    sides = (np.flatnonzero(usable & side) for side in (~held, held))
    # A part of very many rows, so that the cost stays bounded.
    train, test = (
        rows if len(rows) <= _MOST_ROWS else np.sort(rng.permutation(rows)[:_MOST_ROWS])
        for rows in sides
    )
    known &= np.bincount(labelled.codes[train], minlength=n_classes) >= FOLDS
    test = test[known[labelled.codes[test]]]
    train = train[known[labelled.codes[train]]]
    if known.sum() < estimator.n_classes[0] or len(test) < FOLDS:
        return None
    codes, (group, _) = np.cumsum(known) - 1, labelled.groups  # type: ignore[misc]
    # New rows of one group alone have none: they would all be in one fold.
    has_groups = n_groups_new > 1 and len(np.unique(group[test])) > 1
    rest = replace(
        labelled,
        rows=labelled.rows[train],
        classes=labelled.classes[known],
        codes=codes[labelled.codes[train]],
        groups=(group[train], group[test] if has_groups else np.full(len(test), -1)),
    )
    return answer(estimator, rest, labelled.rows[test])


def _checked(groups: Any, name: str, n_rows: int, of: str) -> tuple[NDArray[Any], IntArray]:
    """Names of the groups as text, and the group of each row."""
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise ValueError(
            f"{name} must hold one group per row of {of}, {n_rows}; got shape {values.shape}."
        )
    missing = sum(map(is_missing, values.tolist()))
    if missing:
        raise ValueError(f"{name} must have no missing values; got {missing} of {n_rows}.")
    names, group = np.unique(values.astype(str), return_inverse=True)
    return names, group.astype(np.intp)


def _groups_of_new(groups_new: Any, names: NDArray[Any], n_new: int) -> tuple[int, IntArray]:
    """How many groups the new rows have, and that of each row; -1 where they have one alone.

    A group that labelled rows have as well keeps its number.
    """
    if groups_new is not None:
        names_new, group = _checked(groups_new, "groups_new", n_new, "X_new")
        if len(names_new) > 1:
            place = {name: number for number, name in enumerate(names.tolist())}
            numbers = [place.setdefault(name, len(place)) for name in names_new.tolist()]
            return len(names_new), np.array(numbers)[group]
    return 1, np.full(n_new, -1)


def _group_notices(labelled: LabelledRows, group: IntArray, names: NDArray[Any]) -> list[Notice]:
    """Classes that cannot be held out, as no other group has them; and fewer groups than folds."""
    alone, found = in_one_group(labelled.codes, group), []
    for code in np.flatnonzero(alone):
        label, where = labelled.labels[code], group[labelled.codes == code][0]
        text = (
            f"class {named(label)}: all its labelled rows are of group {shown(names[where])}, so "
            "nothing shows how the class looks in another group, and its rows do not share a fold."
        )
        found.append(Notice("class_in_one_group", text, about=label))
    n_groups = len(np.unique(group[~alone[labelled.codes]]))
    if 0 < n_groups < FOLDS:
        text = (
            f"All rows of a group share a fold, so {n_groups} groups make {n_groups} folds instead "
            f"of {FOLDS}: models that score labelled rows learn from fewer rows than those for new "
            "rows."
        )
        found.append(Notice("few_groups", text, "note"))
    return found
