"""What the unseen rows are: groups with shares, verdicts, columns that set them apart, examples.

Every new row has a probability of being unseen, from a rule that did not learn from the row. The
probabilities are shifted to average to the unseen share; rows that are more probably unseen than
not are grouped (:mod:`unseen.loop.groups`); every row counts, with its probability, for the group
whose centre is nearest. So the shares of the groups sum to the unseen share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, linear_sum_assignment
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from unseen._types import FloatArray, IntArray
from unseen._wording import quoted
from unseen.loop.clauses import Column, describe, group_differences, top_words
from unseen.loop.explanation import Explanation, Group, Verdict
from unseen.loop.groups import Grouping, KnownWidth, width
from unseen.loop.sheet import fitted_rule
from unseen.rejection.base import RejectionRule
from unseen.rejection.shares import Shares
from unseen.samples.checks import check_labelled, check_new, is_missing
from unseen.scores.scales import dense

_CONFIDENCE = 0.95
_RESAMPLES = 30
_NEIGHBOURS = 10
# Share of neighbours in the group from which it is a clump of its own. On development draws 45
# groups of rows that were all known had at most 0.5, most groups of unseen rows more than 0.6.
_OWN = 0.55
# Shares of the known neighbours from which one class has the group at its rim, or two between them.
_ONE_CLASS, _TWO_CLASSES = 0.6, 0.8
# Distance to a class, in its width, from which a group is not part of it.
_FAR = 2.0
_FEWEST, _SMALLEST = 10, 0.02
_EXAMPLES = 3
_TINY = 1e-6


def explain(
    rule: RejectionRule,
    X: ArrayLike,
    y: ArrayLike,
    X_new: ArrayLike,
    *,
    columns: Sequence[Column | str] | None = None,
    texts: Sequence[str] | None = None,
    groups: KnownWidth | None = None,
    random_state: Any = None,
) -> Explanation:
    """Group the unseen rows, and say what each group is.

    Parameters
    ----------
    rule : fitted rejection rule
        A rule that was fitted to the rows below; its shares and its out-of-fold probabilities are
        used.
    X, y, X_new : array-like
        The labelled rows, their labels and the new rows of the fit.
    columns : sequence of Column or str, or None, default=None
        Names of the columns; None is those of a data frame, else "column 1" and so on.
    texts : sequence of str or None, default=None
        One text per new row: words of each group are compared with words of the rows called known.
    groups : KnownWidth or None, default=None
        The way to group rows; None is :class:`~unseen.KnownWidth`.
    random_state : int, RandomState instance or None, default=None
        Seed of k-means and of resamples.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import RejectionKernel, explain
    >>> rng = np.random.RandomState(0)
    >>> X, y = rng.normal(size=(100, 2)), np.repeat("cat", 100)
    >>> X_new = np.concatenate([rng.normal(size=(140, 2)), rng.normal([0, 9], 1, size=(60, 2))])
    >>> rule = RejectionKernel(random_state=0).fit(X, y, X_new, [0.7])
    >>> found = explain(rule, X, y, X_new, columns=["width", "length"], random_state=0)
    >>> group = found.groups[0]
    >>> group.verdict, group.sentence.text(found.columns)
    ('a clump of its own', 'length > 6.97 holds for 91% of the group and 1% of known rows')
    """
    rows = _Rows.checked(fitted_rule(rule), X, y, X_new)
    _check_texts(texts, len(rows.new))
    named = _named(X, columns, rows.known.shape[1])
    shares, n_new = rule.shares_, len(rows.new)
    called = np.flatnonzero(rows.weights >= 0.5)
    group_of_row = np.zeros(n_new, dtype=np.intp)
    if len(called) < _FEWEST:
        return Explanation((), shares.unseen, (0, 0), group_of_row, rows.weights, named)
    rng = check_random_state(random_state)
    chosen = KnownWidth() if groups is None else groups
    X_called, mine = rows.new[called], rows.weights[called]
    of_known = (1 - shares.unseen) * n_new / (len(rule.classes_) - 1)
    found = chosen.group(X_called, mine, rows.known, rows.codes, rng, of_known)
    found, is_rest = _without_small(found)
    of_groups = _shares(rows, called, found, shares, rng)
    order = np.argsort(-of_groups[:, 0], kind="stable")
    group_of_row[called] = 1 + np.argsort(order)[found.labels]
    has_moved = shares.estimate is not None and shares.estimate.is_in_doubt
    words = {} if texts is None else top_words(texts, group_of_row)
    parts = []
    for number, place in enumerate(order.tolist(), start=1):
        members = np.flatnonzero(group_of_row == number)
        near = _near(rows, members, group_of_row)
        verdict = near.verdict(is_rest and place == len(order) - 1, has_moved)
        share, low, high = of_groups[place].tolist()
        said = {"share": share, "low": low, "high": high, "words": words.get(number, ())}
        said |= {"number": number, "verdict": verdict}
        parts.append(_group(rows, members, near, rule.classes_.tolist(), rng, said))
    return Explanation(
        tuple(parts), shares.unseen, found.n_groups, group_of_row, rows.weights, named
    )


def _check_texts(texts: Sequence[str] | None, n_new: int) -> None:
    if texts is not None and len(texts) != n_new:
        raise ValueError(f"texts must be one for each of {n_new} new rows; got {len(texts)}.")
    given = () if texts is None else texts
    others = [one for one in given if not isinstance(one, str) and not is_missing(one)]
    if others:
        raise TypeError(f"texts must hold text; got {others[0]!r}.")


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of known classes, new rows, and the probability that each new row is unseen."""

    known: FloatArray
    codes: IntArray
    new: FloatArray
    weights: FloatArray

    @classmethod
    def checked(cls, rule: RejectionRule, X: Any, y: Any, X_new: Any) -> _Rows:
        labelled = check_labelled(BaseEstimator(), X, y)
        known, new = dense(labelled.rows), dense(check_new(labelled, X_new))
        if all((rows == known[0]).all() for rows in (known, new)):
            raise ValueError("X and X_new must vary in at least one feature; got one row in all.")
        fitted = rule.out_of_fold_
        if (len(known), len(new)) != (len(fitted.codes), len(fitted.new)):
            raise ValueError(
                f"X and X_new must be the rows that rule was fitted to, {len(fitted.codes)} and "
                f"{len(fitted.new)}; got {len(known)} and {len(new)}."
            )
        if not np.array_equal(labelled.classes, rule.classes_[:-1]):
            raise ValueError(
                f"y must hold the classes that rule was fitted to, {quoted(rule.classes_[:-1])}; "
                f"got {quoted(labelled.classes)}."
            )
        weights = unseen_weights(fitted.new[:, -1], rule.shares_.unseen)
        return cls(known, labelled.codes, new, weights)


def unseen_weights(probabilities: FloatArray, share: float) -> FloatArray:
    """Probabilities shifted on the logit scale, so that their mean is the share."""
    if not 0 < share < 1:
        return np.full(len(probabilities), float(share > 0))
    odds = logit(np.clip(probabilities, _TINY, 1 - _TINY))
    shift = brentq(lambda size: expit(odds + size).mean() - share, -60, 60)
    return np.asarray(expit(odds + shift))


def _named(X: Any, columns: Sequence[Column | str] | None, n_columns: int) -> tuple[Column, ...]:
    names = getattr(X, "columns", None) if columns is None else columns
    if names is None:
        names = [f"column {place + 1}" for place in range(n_columns)]
    found = tuple(one if isinstance(one, Column) else Column(str(one)) for one in names)
    if len(found) != n_columns:
        raise ValueError(f"columns must name {n_columns} columns; got {len(found)} names.")
    return found


def _without_small(found: Grouping) -> tuple[Grouping, bool]:
    """Groups, those too small to be one put together as the last; and whether any are."""
    sizes = np.bincount(found.labels, minlength=len(found.centres))
    small = sizes < max(_FEWEST, _SMALLEST * len(found.labels))
    if not small.any() or small.all():
        return found, False
    # Rows of all small groups are one group, with the centre that they have together.
    place = np.where(small, (~small).sum(), np.cumsum(~small) - 1)
    rest = np.average(found.centres[small], axis=0, weights=np.maximum(sizes[small], 1))
    centres = np.vstack([found.centres[~small], rest])
    return replace(found, labels=place[found.labels], centres=centres), True


def _shares(
    rows: _Rows, called: IntArray, found: Grouping, shares: Shares, rng: np.random.RandomState
) -> FloatArray:
    """Share of each group among all new rows, and the ends of its interval: shape (k, 3).

    A share is the unseen share times the group's part of it: the first errs as the estimate says,
    the second as k-means does on resampled rows, started anew each time.
    """
    n_groups, weights = len(found.centres), rows.weights
    nearest = found.nearest(rows.new)
    nearest[called] = found.labels
    masses = np.bincount(nearest, weights=weights, minlength=n_groups) / len(weights)
    unseen = float(masses.sum())
    X, mine = found.units.of(rows.new[called]), weights[called]
    parts = np.ones((_RESAMPLES, n_groups))
    for place in range(_RESAMPLES if n_groups > 1 else 0):
        drawn = rng.multinomial(len(called), np.full(len(called), 1 / len(called)))
        again = KMeans(n_groups, n_init=1, max_iter=20, random_state=rng)
        labels = again.fit(X, sample_weight=mine * drawn).labels_
        _, same = linear_sum_assignment(pairwise_distances(found.centres, again.cluster_centers_))
        parts[place] = np.bincount(labels, mine * drawn, n_groups)[same] / (mine * drawn).sum()
    z = norm.isf((1 - _CONFIDENCE) / 2)
    if shares.limits is None:
        of_unseen = np.sqrt(unseen * (1 - unseen) / len(weights))
    else:
        of_unseen = float(np.ptp(shares.limits[-1])) / (2 * z)
    half = z * np.hypot(masses / unseen * of_unseen, unseen * parts.std(axis=0))
    return np.column_stack([masses, np.maximum(masses - half, 0.0), np.minimum(masses + half, 1.0)])


@dataclass(frozen=True, eq=False)
class _Near:
    """Known classes near a group: the nearest first.

    ``distances`` are in widths of the classes; ``counts`` of the rows nearest to the group's rows
    are of each class, ``own`` of the group itself. A labelled row stands for ``stands_for`` known
    rows among the new ones: of very many labelled rows some are near any group.
    """

    order: IntArray
    distances: FloatArray
    counts: IntArray
    own: int
    stands_for: float

    @property
    def isolation(self) -> float:
        known = self.stands_for * self.counts.sum()
        return float(self.own / (self.own + known)) if self.own else 0.0

    def verdict(self, is_rest: bool, moved: bool) -> Verdict:
        """What a group is, by its distance and its neighbours."""
        first, *_ = self.order
        if is_rest:
            return "scattered"
        if moved and self.distances[first] < _FAR:
            return "looks moved"
        if self.isolation >= _OWN:
            return "a clump of its own"
        in_first, in_two = np.cumsum(self.counts[self.order[:2]])[[0, -1]] / self.counts.sum()
        if in_first >= _ONE_CLASS:
            return "the rim of"
        return "between" if in_two >= _TWO_CLASSES else "scattered"


def _near(rows: _Rows, members: IntArray, group_of_row: IntArray) -> _Near:
    """Neighbours of a group's rows among the labelled rows and all rows that look unseen."""
    X, called = rows.new[members], np.flatnonzero(group_of_row)
    n_known, n_classes = len(rows.known), int(rows.codes.max()) + 1
    pool = np.vstack([rows.known, rows.new[called]])
    n_near = min(_NEIGHBOURS + 1, len(pool))
    near = NearestNeighbors(n_neighbors=n_near).fit(pool).kneighbors(X, return_distance=False)
    near = near[:, 1:].ravel()  # the nearest of all is the row itself
    counts = np.bincount(rows.codes[near[near < n_known]], minlength=n_classes)
    in_group = group_of_row[called] == group_of_row[members[0]]
    classes = [rows.known[rows.codes == code] for code in range(n_classes)]
    means = np.array([one.mean(axis=0) for one in classes])
    widths = np.maximum([width(one) for one in classes], _TINY)
    distances = np.linalg.norm(means - X.mean(axis=0), axis=1) / widths
    own = int(in_group[near[near >= n_known] - n_known].sum())
    stands_for = float((1 - rows.weights).sum()) / n_known
    return _Near(np.lexsort((distances, -counts)), distances, counts, own, stands_for)


def _group(
    rows: _Rows,
    members: IntArray,
    near: _Near,
    labels: list[Any],
    rng: np.random.RandomState,
    said: dict[str, Any],
) -> Group:
    """The record of a group; ``said`` are fields that are known."""
    X = rows.new[members]
    central, spread = _examples(X)
    borderline = np.argsort(rows.weights[members], kind="stable")[:2]
    first, second = near.order[0], near.order[:2][-1]
    return Group(
        **said,
        n_rows=len(members),
        nearest=labels[first],
        second=labels[second],
        distance=float(near.distances[first]),
        isolation=near.isolation,
        sentence=describe(X, rows.known, rng) if len(members) >= _FEWEST else None,
        columns=tuple(group_differences(X, rows.known)),
        central=tuple(members[central].tolist()),
        spread=tuple(members[spread].tolist()),
        borderline=tuple(members[borderline].tolist()),
    )


def _examples(X: FloatArray) -> tuple[IntArray, list[int]]:
    """Rows nearest the centre, and rows that are far from each other and from the centre."""
    distance = np.linalg.norm(X - X.mean(axis=0), axis=1)
    central = np.argsort(distance, kind="stable")[:_EXAMPLES]
    spread: list[int] = []
    far = distance
    for _ in range(min(_EXAMPLES, len(X))):
        spread.append(int(far.argmax()))
        far = np.minimum(far, pairwise_distances(X, X[spread[-1:]])[:, 0])
    return central, spread
