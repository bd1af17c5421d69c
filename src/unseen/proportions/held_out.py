"""Labelled rows in groups: hold groups out, and ask of each, where nothing is new, what is unseen.

New rows come from another person, site or batch than the labelled ones. What the estimator claims
of a labelled group that it did not learn from is what it claims where nothing is new.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unseen._progress import between, each
from unseen._types import BoolArray, IntArray
from unseen._wording import listed, named, shown
from unseen.drift import HeldOut, calibrated, group_tolerance
from unseen.proportions.base import ProportionEstimator, answer, seeded_copy
from unseen.records import Estimate, Notice
from unseen.samples import LabelledRows, check_new, in_one_group
from unseen.samples.labelled import is_missing
from unseen.scores.base import FOLDS
from unseen.scores.distances import between_groups

# Each part costs an estimate. With ten a new group is worse than all in one case of eleven.
MOST_PARTS = 10
_FEWEST_ROWS, _MOST_ROWS = 30, 5_000


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
    with between(first, 1.0):
        claims = _claims(estimator, group, parts, names, n_groups_new, rng)
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


def _claims(
    estimator: ProportionEstimator,
    group: IntArray,
    parts: list[IntArray],
    names: NDArray[Any],
    n_groups_new: int,
    rng: np.random.RandomState,
) -> list[tuple[str, Estimate]]:
    """What the groups of each part are called, and the answer about them."""
    claims = [
        (listed([shown(names[one]) for one in part]), claim)
        for part in each(parts)
        if (claim := _claim(estimator, np.isin(group, part), n_groups_new, rng)) is not None
    ]
    if not claims:
        raise ValueError(
            "groups must leave enough rows to hold a group out, at least "
            f"{FOLDS} of some class on either side; got {len(names)} groups of "
            f"{int(np.median(np.bincount(group)))} rows."
        )
    return claims


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
    train, test = (_some(np.flatnonzero(usable & side), rng) for side in (~held, held))
    known &= np.bincount(labelled.codes[train], minlength=n_classes) >= FOLDS
    test = test[known[labelled.codes[test]]]
    train = train[known[labelled.codes[train]]]
    if known.sum() < estimator.n_classes[0] or len(test) < FOLDS:
        return None
    codes, (group, _) = np.cumsum(known) - 1, labelled.groups  # type: ignore[misc]
    rest = replace(
        labelled,
        rows=labelled.rows[train],
        classes=labelled.classes[known],
        codes=codes[labelled.codes[train]],
        groups=(group[train], group[test] if n_groups_new > 1 else np.full(len(test), -1)),
    )
    return answer(estimator, rest, labelled.rows[test])


def _some(places: IntArray, rng: np.random.RandomState) -> IntArray:
    """The places, or a part of very many, so that the cost stays bounded."""
    return places if len(places) <= _MOST_ROWS else np.sort(rng.permutation(places)[:_MOST_ROWS])


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
    if groups_new is None:
        return 1, np.full(n_new, -1)
    names_new, group = _checked(groups_new, "groups_new", n_new, "X_new")
    if len(names_new) == 1:
        return 1, np.full(n_new, -1)
    place = {name: number for number, name in enumerate(names.tolist())}
    numbers = [place.setdefault(name, len(place)) for name in names_new.tolist()]
    return len(names_new), np.array(numbers)[group]


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
