"""Rows that people named become labelled rows: new classes are known from then on.

Promoted rows are marked and leave the new rows, or the next estimate would find the same rows in
both samples. The rows that are left are no random part of the new rows any more, so that shares of
all new rows are those of the rest and the promoted rows together (:meth:`Promotion.combine`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from unseen import _wording as words
from unseen._frozen import Frozen, plain
from unseen._types import FloatArray, IntArray
from unseen.loop.audit import CANNOT_TELL, checked_labels, names_alike
from unseen.loop.explanation import Explanation
from unseen.records import Estimate, Notice
from unseen.samples.checks import check_labelled, check_new, is_missing
from unseen.scores.base import stack_samples

# A class of fewer rows cannot be learnt.
FEWEST = 10
LABELLED, SPREAD = "labelled", "spread"
_AGREE = 0.8
_LESS_SURE = 0.7
_OR_A_GROUP = ", or give the name to a whole group"


@dataclass(frozen=True, eq=False)
class Promotion(Frozen):
    """New rows that become labelled rows, and how each came by its label.

    Parameters
    ----------
    rows : ndarray of shape (n,)
        Places of the rows among the new ones, from 0.
    labels : ndarray of shape (n,)
        Labels of these rows.
    sources : ndarray of shape (n,)
        "labelled" by people, or "spread" from the name of a whole group.
    weights : ndarray of shape (n,)
        One over the probability of the draw, divided by the mean over the class; 1 for spread rows.
        Sheets draw unsure rows more often: these weights undo it.
    n_new : int
        New rows before the promotion.
    notices : tuple of Notice
        Names with too few rows, and groups in which people found other classes too.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import promote
    >>> found = promote(range(12), ["emu"] * 10 + ["cat", "?"], 100, known=["cat"])
    >>> found.counts, len(found.rest)
    ({'cat': 1, 'emu': 10}, 89)
    >>> X, y, rest = found.apply(np.zeros((5, 2)), ["cat"] * 5, np.ones((100, 2)))
    >>> X.shape, y[-1], rest.shape
    ((16, 2), np.str_('cat'), (89, 2))
    """

    rows: IntArray
    labels: NDArray[Any]
    sources: NDArray[Any]
    weights: FloatArray
    n_new: int
    notices: tuple[Notice, ...] = ()

    @property
    def counts(self) -> dict[Any, int]:
        """Promoted rows of each class."""
        return dict(sorted(Counter(self.labels.tolist()).items(), key=lambda one: str(one[0])))

    @property
    def rest(self) -> IntArray:
        """Places of the rows that stay new."""
        return np.setdiff1d(np.arange(self.n_new), self.rows)

    def apply(self, X: Any, y: Any, X_new: Any) -> tuple[Any, NDArray[Any], Any]:
        """The labelled rows followed by the promoted ones, their labels, and the other new rows.

        ``X`` and ``X_new`` are arrays or sparse matrices of numbers, and so are the rows that come
        back. All labels become text if one of them is text.
        """
        labelled = check_labelled(BaseEstimator(), X, y)
        new = check_new(labelled, X_new)
        if new.shape[0] != self.n_new:
            raise ValueError(
                f"X_new must hold the {self.n_new} rows of the promotion; got {new.shape[0]}."
            )
        grown, _ = stack_samples(labelled.rows, new[self.rows])
        known = labelled.classes[labelled.codes]
        kind = object if known.dtype == object else None
        labels = np.concatenate([known, np.array(self.labels.tolist(), dtype=kind)])
        return grown, labels, new[self.rest]

    def combine(self, estimate: Estimate) -> Estimate:
        """Shares of all new rows: the estimate of the rows that stayed new, and the promoted rows.

        See the example of :func:`promote`.
        """
        part, counts = 1 - len(self.rows) / self.n_new, self.counts
        counted = np.array([counts.get(label, 0) / self.n_new for label in estimate.classes])
        # A promoted class that the estimate does not know would get lost.
        strange = set(counts) - set(estimate.classes)
        if strange:
            raise ValueError(
                f"estimate must know the promoted classes; it lacks {words.quoted(strange)}."
            )
        if estimate.n_new > self.n_new - len(self.rows):
            raise ValueError(
                f"estimate must be of the {self.n_new - len(self.rows)} rows that stayed new; got "
                f"one of {estimate.n_new} rows."
            )
        ends, limit = estimate.intervals, estimate.detection_limit
        if ends is not None:
            ends = part * ends + np.append(counted, 0.0)[:, None]
        return replace(
            estimate,
            detection_limit=None if limit is None else part * limit,
            proportions=part * estimate.proportions + counted,
            unseen=part * estimate.unseen,
            intervals=ends,
            n_new=self.n_new,
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON; rows count from 1."""
        return {
            "classes": [{"name": plain(name), "rows": n} for name, n in self.counts.items()],
            "labelled": int((self.sources == LABELLED).sum()),
            "spread": int((self.sources == SPREAD).sum()),
            "new_rows": self.n_new,
            "notices": [notice.to_dict() for notice in self.notices],
        }

    def __str__(self) -> str:
        named = [f"{words.shown(name)}: {words.count(n)}" for name, n in self.counts.items()]
        head = f"{words.count(len(self.rows))} of {self.n_new:,} promoted"
        return "\n".join([f"{head} ({', '.join(named)})", *map(str, self.notices)])


def promote(
    rows: ArrayLike,
    labels: Sequence[Any],
    n_new: int,
    *,
    known: Sequence[Any],
    probabilities: ArrayLike | None = None,
    spread: Mapping[int, Any] | None = None,
    explanation: Explanation | None = None,
    spread_from: float = 0.9,
    unseen_label: Any = "unseen",
) -> Promotion:
    """Turn rows that people labelled, and groups that ``spread`` names, into labelled rows.

    Parameters
    ----------
    rows : array-like of shape (n,)
        Places of the labelled rows among the new ones, from 0.
    labels : sequence of n labels
        A known class or a new name; "?", None, NaN, empty text and ``unseen_label`` promote
        nothing.
    n_new : int
        All new rows.
    known : sequence of labels
        The known classes; any other name needs at least 10 rows.
    probabilities : array-like of shape (n,) or None, default=None
        Probability of each draw; None if all rows were equally likely.
    spread : mapping from group to name, or None
        Name all rows of a group that are unseen with a probability of at least ``spread_from``;
        labels that people gave to single rows stay as they are.
    explanation : Explanation or None
        The groups; needed for ``spread``.
    spread_from : float, default=0.9
        The least probability of being unseen for a row that takes the name of its group.
    unseen_label : label, default="unseen"
        A label without a name.

    Returns
    -------
    Promotion

    Examples
    --------
    >>> from unseen import promote
    >>> from unseen.records import Estimate
    >>> found = promote(range(12), ["emu"] * 10 + ["cat", "?"], 100, known=["cat"])
    >>> print(found)
    11 rows of 100 promoted (cat: 1 row, emu: 10 rows)
    >>> rest = Estimate(("cat", "emu"), [0.8, 0.2], 0.0, "made", {"cat": 50, "emu": 10}, 89)
    >>> found.combine(rest).proportions.round(3)  # (0.8 * 89 + 1) / 100, (0.2 * 89 + 10) / 100
    array([0.722, 0.278])
    """
    places, answers, chances = checked_labels(rows, labels, probabilities, n_new)
    if not 0 < spread_from <= 1:
        raise ValueError(f"spread_from must be above 0 and at most 1; got {spread_from!r}.")
    named = _named_groups(spread, explanation, n_new, unseen_label)
    weights = chances.min(initial=1.0) / chances
    given = {
        int(row): (label, LABELLED, weight)
        for row, label, weight in zip(places, answers, weights, strict=True)
        if label not in (None, CANNOT_TELL, unseen_label)
    }
    seen = {int(row) for row, label in zip(places, answers, strict=True) if label is not None}
    notices = [*names_alike([one[0] for one in given.values()] + [*named.values()], known)]
    for group, name in named.items():
        assert explanation is not None
        sure, said = _of_group(group, name, given, seen, explanation, spread_from)
        given |= dict.fromkeys(sure, (name, SPREAD, 1.0))
        notices += said
    counts = Counter(label for label, *_ in given.values())
    few = {name: n for name, n in counts.items() if name not in set(known) and n < FEWEST}
    notices += [
        Notice(
            "few_promoted",
            f"{name!r} has {words.count(n)}, fewer than {FEWEST}: too few to learn a class, so "
            f"these rows stay new. Label more{'' if name in named.values() else _OR_A_GROUP}.",
            about=name,
        )
        for name, n in few.items()
    ]
    kept = {row: one for row, one in sorted(given.items()) if one[0] not in few}
    if not kept:
        why = " ".join(["got none that can be.", *(one.text for one in notices)])
        raise ValueError(f"labels must promote at least one row; {why}")
    names, sources, weights = (np.array(one, object) for one in zip(*kept.values(), strict=True))
    weights = weights.astype(float)
    for name in set(names):
        mine = (names == name) & (sources == LABELLED)
        if mine.any():
            weights[mine] /= weights[mine].mean()
    promoted = np.array(list(kept), dtype=np.intp)
    return Promotion(promoted, names, sources, weights, n_new, tuple(notices))


def _named_groups(
    spread: Mapping[int, Any] | None, explanation: Explanation | None, n_new: int, unseen_label: Any
) -> dict[int, Any]:
    """Names of whole groups, checked."""
    if not spread:
        return {}
    if not isinstance(spread, Mapping):
        raise TypeError(f"spread must be a mapping from groups to names; got {spread!r}.")
    if explanation is None:
        raise ValueError("spread must come with explanation, which has the groups; got None.")
    if len(explanation.group_of_row) != n_new:
        raise ValueError(
            f"explanation must be of the {n_new} new rows; got one of "
            f"{len(explanation.group_of_row)}."
        )
    for group, name in spread.items():
        if group not in {one.number for one in explanation.groups}:
            raise ValueError(
                f"spread must name groups 1 to {len(explanation.groups)}; got group {group}."
            )
        if is_missing(name) or name in ("", CANNOT_TELL, unseen_label):
            raise ValueError(f"spread must give group {group} a name; got {name!r}.")
    return dict(spread)


def _of_group(
    group: int,
    name: Any,
    given: Mapping[int, tuple[Any, str, float]],
    seen: Set[int],
    explanation: Explanation,
    least: float,
) -> tuple[list[int], list[Notice]]:
    """Rows that take the name of their group, and notices of other classes in it, or of no row."""
    members, notices = np.flatnonzero(explanation.group_of_row == group).tolist(), []
    looked = [given[row][0] for row in members if row in given]
    agree = sum(label == name for label in looked)
    if agree < _AGREE * len(looked):
        text = (
            f"group {group} is to be called {name!r}, but people gave this name to {agree} of the "
            f"{words.count(len(looked))} that they labelled in it: others may be of other classes "
            "too."
        )
        notices.append(Notice("mixed_group", text, about=plain(name)))
    # Rows of which people said anything at all are not overruled.
    free = [row for row in members if row not in seen]
    sure = [row for row in free if explanation.weights[row] >= least]
    if free and not sure:
        # Rounded up it would seem enough.
        highest = np.floor(100 * explanation.weights[free].max()) / 100
        text = (
            f"group {group} is to be called {name!r}, but none of its {words.count(len(free))} "
            f"without a label is unseen with a probability of {least:g} or more; the highest is "
            f"{highest:.2f}, since known classes have such rows too. Label more of them, or give "
            f"the name to less certain rows: --spread-from {min(highest, _LESS_SURE):g}, for "
            "example."
        )
        notices.append(Notice("none_spread", text, about=plain(name)))
    return sure, notices
