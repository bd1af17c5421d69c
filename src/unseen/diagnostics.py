"""Checks whether the data contradict an estimate.

Each check returns a :class:`Finding`: a number, its limit, and a sentence if the number is beyond
it. :func:`quick_checks` uses scores that the estimate has made anyway; :func:`hidden_share` and
:func:`class_drift` are expensive, as they need new scores or the rows. See docs/theory.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm, rankdata

from unseen._types import FloatArray, ScorePair
from unseen.records import Notice, RocEvidence
from unseen.roc.bootstrap import STRETCH, bootstrap_rocs, bootstrap_slopes
from unseen.roc.fit import GRID, fit_roc, fit_sketches
from unseen.roc.models import Concave
from unseen.roc.sketch import RocSketch, concave_hull

# Probability of a false alarm allowed to one check over all classes, on ideal data.
_LEVEL = 0.01
# Departures up to these sizes are too small to matter, even beyond noise.
_LARGEST_BEND = 1.25
_LARGEST_MISFIT = 0.03
_LARGEST_HIDDEN = _LARGEST_DRIFT = 0.1
_FEWEST_ROWS, _FEWEST_ATTRIBUTED = 30, 5
_END = 0.2  # the last fifth of the rows of H is compared with the fifth before
_INNER = 0.3  # the false alarm whose slope is the share, also after a drift
_STEEP = 0.1  # below this false alarm a ROC is too steep for a distance in detection
_QUICK_REPLICATES, _HIDDEN_REPLICATES = 50, 200


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Parameters
    ----------
    name : str
        Name of the check.
    value, limit : float
        The number that was measured, and its limit; the value is nan if the check had no rows.
    message : str or None
        One sentence for a person, if the check fires or had no rows; None if all is well.
    label : object
        The class that was checked; None for a check of all classes together.
    interval : (float, float) or None
        Limits of the value, if the check has them.

    Examples
    --------
    >>> effective_rows("cat", 500, 500).fires
    False
    """

    name: str
    value: float
    limit: float
    message: str | None = None
    label: Any = None
    interval: tuple[float, float] | None = None

    @property
    def fires(self) -> bool:
        """Whether the value is beyond its limit; never for a check that had no rows."""
        return self.message is not None and not np.isnan(self.value)

    @property
    def notice(self) -> Notice | None:
        """The sentence as a notice: a warning if the check fires, a note if it had no rows."""
        if self.message is None:
            return None
        if self.fires:
            return Notice(self.name, self.message, about=self.label)
        return Notice(f"{self.name}_unchecked", self.message, severity="note", about=self.label)


def right_end_bend(label: Any, pair: ScorePair, n_classes: int = 1) -> Finding:
    """How much steeper the ROC is just before its right end than at this end.

    A ROC is straight, with the share as its slope, where only the class itself has rows. A ROC
    that still bends at its end has not reached this slope. The value is the ratio of the numbers
    of new rows beside the second lowest and beside the lowest fifth of H; the check fires if the
    ratio is above 1.25 beyond noise.

    Parameters
    ----------
    label : object
        The class.
    pair : (scores_F, scores_H)
        Out-of-fold scores of the new rows and of the rows of the class.
    n_classes : int, default=1
        Number of classes that are checked at the same time, which raises the limit.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> H, far, near = rng.normal(0, 1, 3000), rng.normal(6, 1, 2000), rng.normal(1, 1, 3000)
    >>> right_end_bend("a", (np.r_[H[:1000], far], H[1000:])).fires
    False
    >>> right_end_bend("a", (near, H)).fires
    True
    """
    scores_F, scores_H = pair
    n_end = max(1, round(_END * len(scores_H)))
    edges = np.sort(scores_H)[[n_end - 1, min(2 * n_end, len(scores_H)) - 1]]
    below = np.searchsorted(np.sort(scores_F), edges, side="right")
    last, before = below[0] + 0.5, below[1] - below[0] + 0.5
    spread = np.sqrt(1 / last + 1 / before + 2 / n_end)
    limit = _LARGEST_BEND * np.exp(norm.isf(_LEVEL / n_classes) * spread)
    ratio = before / last
    sentence = (
        f"class {label!r}: its ROC still bends at the right end, so its share is an upper "
        "bound rather than an estimate; a better classifier or more rows may help."
    )
    message = sentence if ratio > limit else None
    return Finding("right_end_bend", float(ratio), float(limit), message, label)


def misfit(
    label: Any,
    false_alarm: FloatArray,
    roc: FloatArray,
    fitted: FloatArray,
    spread: FloatArray,
    n_classes: int = 1,
) -> Finding:
    """How far the fitted curve strays from the ROC.

    The value is a distance in detection; the check fires if the distance is above 0.03 beyond
    noise at some false alarm. False alarms below 0.1 are left out: the ROC is steep there, and
    the distance says nothing about the slope at the other end.

    Parameters
    ----------
    label, n_classes
        See :func:`right_end_bend`.
    false_alarm : ndarray of shape (G,)
        Grid on which the curves are compared.
    roc, fitted : ndarray of shape (G,)
        Detection of the empirical ROC and of the model.
    spread : ndarray of shape (G,)
        Standard deviation of the ROC at each false alarm.

    Examples
    --------
    >>> alpha = np.linspace(0.1, 0.9, 9)
    >>> misfit("a", alpha, alpha, alpha + 0.1, np.full(9, 0.01)).fires
    True
    >>> misfit("a", alpha, alpha, alpha + 0.1, np.full(9, 0.05)).fires
    False
    """
    distance = np.abs(roc - fitted)
    # About ten stretches of a ROC are independent of each other.
    limit = _LARGEST_MISFIT + norm.isf(_LEVEL / (20 * n_classes)) * spread
    limit = np.where(false_alarm < _STEEP, np.inf, limit)
    worst = int(np.argmax(distance - limit))
    value, limit = distance[worst], limit[worst]
    sentence = (
        f"class {label!r}: the fitted curve strays from the ROC by {value:.2f} at false alarm "
        f"{false_alarm[worst]:.2f}, so its share may be off; try another model or method."
    )
    message = sentence if value > limit else None
    return Finding("misfit", float(value), float(limit), message, label)


def overfull(slopes: FloatArray, spread: float) -> Finding:
    """Whether the slopes of the known classes sum to more than 1 beyond noise.

    ``slopes`` (K,) are the mixture proportions before any projection, and ``spread`` is the
    standard deviation of their sum.

    Examples
    --------
    >>> overfull(np.array([0.6, 0.42]), 0.02).fires, overfull(np.array([0.6, 0.6]), 0.02).fires
    (False, True)
    """
    total = float(np.sum(slopes))
    limit = 1 + float(norm.isf(_LEVEL)) * STRETCH * spread
    sentence = (
        f"the slopes of the known classes sum to {total:.3f}, more than 1 beyond noise; the "
        "nearest shares that sum to 1 are given, so the unseen share is 0."
    )
    return Finding("overfull", total, limit, sentence if total > limit else None)


def effective_rows(label: Any, n_labelled: int, n_new: int) -> Finding:
    """Size of one sample that is as noisy as the two samples together.

    The variance of a ROC is proportional to ``1 / n_i + 1 / m``; the value is the inverse of this
    sum, for so many labelled rows of the class and so many new rows. The check fires below 30.

    Examples
    --------
    >>> effective_rows("a", 60, 30).value
    20.0
    """
    value = n_labelled * n_new / (n_labelled + n_new)
    sentence = (
        f"class {label!r}: with {n_labelled} labelled and {n_new} new rows its share may be off by "
        "a fifth or more."
    )
    message = sentence if value < _FEWEST_ROWS else None
    return Finding("effective_rows", value, float(_FEWEST_ROWS), message, label)


def hidden_share(
    label: Any, pair: ScorePair, n_classes: int = 2, random_state: Any = None
) -> Finding:
    """How much of the other known classes looks like this class: nu(mixture of others, P_i).

    The value is 0 under condition (A). If the value is larger, rows of the other classes count for
    this class, and its share is only an upper bound. The check fires if the lower end of the
    interval is above 0.1.

    Parameters
    ----------
    label, n_classes
        See :func:`right_end_bend`.
    pair : (scores_others, scores_class)
        Out-of-fold scores of the labelled rows of all other classes and of this class.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the bootstrap behind the interval.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> own, others = rng.normal(0, 1, 500), rng.normal(5, 1, 500)
    >>> hidden_share("a", (others, own), random_state=0).fires
    False
    >>> hidden_share("a", (np.r_[others[:300], rng.normal(0, 1, 200)], own), random_state=0).fires
    True
    """
    sketch, model = RocSketch.from_scores(*pair), Concave()
    value = float(fit_sketches([sketch], model).right_slope[0])
    draws = bootstrap_slopes([pair], model, _HIDDEN_REPLICATES, random_state)
    reach = norm.isf(_LEVEL / n_classes) * STRETCH * float(draws.std())
    interval = max(0.0, value - reach), min(1.0, value + reach)
    sentence = (
        f"class {label!r}: about {value:.0%} of the other known classes looks like it, so "
        "its share is only an upper bound."
    )
    message = sentence if interval[0] > _LARGEST_HIDDEN else None
    return Finding("hidden_share", value, _LARGEST_HIDDEN, message, label, interval)


def attribution(pair: ScorePair) -> FloatArray:
    """Probability that each new row belongs to the class: ``share * h / f``, clipped to [0, 1].

    The density ratio f / h is the slope of the concave hull of the ROC at the score of the row, and
    the share is the slope of the hull at the false alarm .3. The slope at the right end would be
    the same for a class that stayed where it was; after a drift there are no new rows at the
    right end, and its slope would attribute hardly any rows to the class. The scores of ``pair``
    are those of the new rows and of the rows of the class, out of fold.

    Examples
    --------
    >>> attribution((np.array([0.0, 0.2, 5.0, 6.0]), np.array([0.1, 0.3])))
    array([1., 1., 0., 0.])
    """
    scores_F, scores_H = pair
    false_alarm, detection = concave_hull(*RocSketch.from_scores(scores_F, scores_H).roc())
    run, rise = np.diff(false_alarm), np.diff(detection)
    middle = np.searchsorted(false_alarm, _INNER) - 1
    share = rise[middle] / run[middle]
    place = (rankdata(-scores_F) - 0.5) / len(scores_F)
    part = np.searchsorted(detection, place) - 1
    return np.clip(share * run[part] / rise[part], 0.0, 1.0)


def class_drift(
    label: Any,
    rows: Any,
    new_rows: Any,
    weight: FloatArray,
    n_classes: int = 1,
    names: Sequence[str] | None = None,
) -> Finding:
    """How far the new rows of a class have moved from its labelled rows.

    The value is the largest difference of means over the features, in standard deviations; each
    new row is weighted by its probability to belong to the class. The check fires if the
    difference is above 0.1 beyond noise. A class that has moved and an unseen class that overlaps
    it look the same: both make the check fire. The value is nan, and a sentence says so, if the
    probabilities sum to less than 5.

    Parameters
    ----------
    label, n_classes
        See :func:`right_end_bend`.
    rows : array or sparse matrix of shape (n_i, d)
        Labelled rows of the class.
    new_rows : array or sparse matrix of shape (m, d)
        All new rows.
    weight : ndarray of shape (m,)
        Probability that each new row belongs to the class; see :func:`attribution`.
    names : sequence of str or None, default=None
        Names of the columns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(0, 1, (500, 2)), rng.normal(0, 1, (500, 2))
    >>> class_drift("a", old, new, np.ones(500)).fires
    False
    >>> class_drift("a", old, new + [0, 1], np.ones(500)).fires
    True
    """
    total = float(weight.sum())
    if total < _FEWEST_ATTRIBUTED:
        no_rows = (
            f"class {label!r}: no drift could be measured, as fewer than "
            f"{_FEWEST_ATTRIBUTED} new rows look like this class."
        )
        return Finding("class_drift", np.nan, _LARGEST_DRIFT, no_rows, label)
    mean, variance = _moments(rows, np.full(rows.shape[0], 1 / rows.shape[0]))
    new_mean, new_variance = _moments(new_rows, weight / total)
    counted = total**2 / float(weight @ weight)
    spread = np.sqrt((variance + new_variance) / 2)
    spread = np.where(spread > 0, spread, np.inf)
    moved = np.abs(new_mean - mean) / spread
    noise = np.sqrt(variance / rows.shape[0] + new_variance / counted) / spread
    limit = _LARGEST_DRIFT + norm.isf(_LEVEL / (2 * len(moved) * n_classes)) * noise
    worst = int(np.argmax(moved - limit))
    value, limit = moved[worst], limit[worst]
    column = worst if names is None else repr(names[worst])
    sentence = (
        f"class {label!r}: the new rows nearest to it differ from its labelled rows by "
        f"{value:.1f} standard deviations in column {column}; it may have drifted, and rows "
        "that have drifted away are counted as unseen."
    )
    message = sentence if value > limit else None
    return Finding("class_drift", float(value), float(limit), message, label)


def quick_checks(
    classes: Sequence[Any],
    pairs: Sequence[ScorePair],
    roc: Mapping[Any, RocEvidence],
    random_state: Any = None,
) -> list[Finding]:
    """Run every check that needs only the ROCs of an estimate.

    ``pairs`` are the scores of the new rows and of the rows of each class, ``roc`` is the ROC
    evidence of each class. If the concave model was fitted to each class on its own, the fits and
    the sum of the slopes are checked too, with a small bootstrap.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pair = rng.normal(0, 1, 500), rng.normal(0, 1, 20)
    >>> [finding.name for finding in quick_checks(["a"], [pair], {}) if finding.fires]
    ['effective_rows']
    """
    findings = []
    for label, pair in zip(classes, pairs, strict=True):
        findings.append(effective_rows(label, len(pair[1]), len(pair[0])))
        findings.append(right_end_bend(label, pair, len(classes)))
    if not all(label in roc and "mu" in roc[label].parameters for label in classes):
        return findings
    curves = bootstrap_rocs(pairs, GRID, _QUICK_REPLICATES, random_state)
    for place, label in enumerate(classes):
        parameters = roc[label].parameters
        model = Concave(mu=parameters["mu"])
        fitted = model.value(GRID, [parameters["gamma"], parameters["Delta"]])
        empirical = np.interp(GRID, *RocSketch.from_scores(*pairs[place]).roc())
        spread = curves[:, place].std(axis=0)
        findings.append(misfit(label, GRID, empirical, fitted, spread, len(classes)))
    slopes = np.array([roc[label].right_slope for label in classes])
    spread_of_sum = 0.0
    if slopes.sum() > 1:  # else no spread is needed, and the fits are expensive
        fitted_slopes = fit_roc(GRID, curves.reshape(-1, len(GRID)), Concave()).right_slope
        spread_of_sum = float(fitted_slopes.reshape(len(curves), -1).sum(axis=1).std())
    return [*findings, overfull(slopes, spread_of_sum)]


def _moments(rows: Any, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted mean and variance of each column, dense or sparse; the weights sum to 1."""
    square = rows**2 if isinstance(rows, np.ndarray) else rows.multiply(rows).tocsr()
    mean, power = (np.asarray(weight @ values).ravel() for values in (rows, square))
    variance = np.maximum(power - mean**2, 0.0)
    # Rounding gives a constant column a variance above 0.
    return mean, np.where(variance > 1e-12 * power, variance, 0.0)
