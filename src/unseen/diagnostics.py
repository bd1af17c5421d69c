"""Signs that the numbers should not be trusted.

The data cannot prove that a class's share is the slope of its ROC (condition (A) and an
optimal classifier are assumed), but they can speak against it. Each check here is a pure
function that returns a :class:`Finding`: a number, the limit it is held against, and one plain
sentence where it lies beyond. On clean data each fires in fewer than 1 estimate of 20
(``benchmarks/false_alarms.py``).

Cheap, from the scores that the estimate has made anyway (:func:`quick_checks`):

- :func:`right_end_bend`: the ROC is straight at its right end, or the slope is not reached;
- :func:`misfit`: the fitted curve follows the ROC;
- :func:`overfull`: the slopes of all classes sum to at most 1, up to noise;
- :func:`effective_rows`: there are rows enough.

Dearer, as they need new scores or the rows themselves:

- :func:`hidden_share`: no class hides inside the other known ones;
- :func:`class_drift`: the new rows of a known class look like its labelled rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.stats import norm, rankdata

from unseen._types import FloatArray
from unseen.records import Notice, RocEvidence
from unseen.roc.bootstrap import bootstrap_rocs, bootstrap_slopes
from unseen.roc.fit import BinomialDeviance
from unseen.roc.models import Concave
from unseen.roc.sketch import RocSketch, concave_hull

__all__ = [
    "Finding",
    "attribution",
    "class_drift",
    "effective_rows",
    "hidden_share",
    "misfit",
    "overfull",
    "quick_checks",
    "right_end_bend",
]

ScorePair: TypeAlias = tuple[FloatArray, FloatArray]

# Probability of a false alarm allowed to one check over all classes, on ideal data.
_LEVEL = 0.01
# What is beyond noise but too small to matter.
_LARGEST_BEND = 1.25
_LARGEST_MISFIT = 0.03
_LARGEST_HIDDEN = 0.1
_LARGEST_DRIFT = 0.1
_FEWEST_ROWS = 30
_FEWEST_ATTRIBUTED = 5.0
# The last fifth of the rows of H, against the fifth before.
_END = 0.2
_STEEP = 0.1
_QUICK_REPLICATES = 50
# What bootstrap spreads leave out; see unseen.intervals.Calibrated.
_STRETCH = 1.4


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Parameters
    ----------
    name : str
        The check.
    value, limit : float
        What was measured, and what it was held against.
    message : str or None
        One sentence for a person, where the check fires; None where all is well.
    label : object
        The class, where the check is about one.
    interval : (float, float) or None
        Limits of the value, where it has some.

    Examples
    --------
    >>> from unseen.diagnostics import effective_rows
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
        """Whether a person should know."""
        return self.message is not None

    @property
    def notice(self) -> Notice | None:
        """The sentence as a notice, with the name of the check as its code."""
        return None if self.message is None else Notice(self.name, self.message, about=self.label)


def right_end_bend(label: Any, pair: ScorePair, n_classes: int = 1) -> Finding:
    """How much steeper the ROC is just before its end than at its end.

    Where only the class has rows the ROC is straight, with the share as its slope. A ROC that
    still bends at its end has not reached that slope. The value is the ratio of the rows of F
    that stand beside the lowest fifth of H and beside the fifth above it; the check fires when
    the ratio is above 1.25 beyond noise.

    Parameters
    ----------
    label : object
        The class.
    pair : (scores_F, scores_H)
    n_classes : int, default=1
        Classes that are checked at the same time.

    Returns
    -------
    Finding

    Examples
    --------
    >>> import numpy as np
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
    ratio = float(before / last)
    message = None
    if ratio > limit:
        message = (
            f"class {label!r}: its ROC still bends at the right end, so its share is an upper "
            "bound rather than an estimate; a better classifier or more rows may help."
        )
    return Finding("right_end_bend", ratio, float(limit), message, label)


def misfit(
    label: Any,
    false_alarm: FloatArray,
    roc: FloatArray,
    fitted: FloatArray,
    spread: FloatArray,
    n_classes: int = 1,
) -> Finding:
    """How far the fitted curve strays from the ROC.

    The value is the largest distance in detection; the check fires where, at some false alarm,
    it is above 0.03 beyond noise. Where the ROC is steepest, at false alarms under 0.1, a
    distance in detection says nothing of the slope at the other end and is left out.

    Parameters
    ----------
    label : object
        The class.
    false_alarm : ndarray of shape (G,)
        Grid on which the curves are compared.
    roc, fitted : ndarray of shape (G,)
        Detection of the empirical ROC and of the model.
    spread : ndarray of shape (G,)
        Standard deviation of the ROC at each false alarm.
    n_classes : int, default=1
        Classes that are checked at the same time.

    Returns
    -------
    Finding

    Examples
    --------
    >>> import numpy as np
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
    message = None
    if distance[worst] > limit[worst]:
        message = (
            f"class {label!r}: the fitted curve strays from the ROC by {distance[worst]:.2f} at "
            f"false alarm {false_alarm[worst]:.2f}, so its share may be off; try another "
            "ROC model or mixture method."
        )
    return Finding("misfit", float(distance[worst]), float(limit[worst]), message, label)


def overfull(slopes: FloatArray, spread: float) -> Finding:
    """Whether the slopes of the known classes sum to more than 1 beyond noise.

    Parameters
    ----------
    slopes : ndarray of shape (K,)
        Mixture proportion of each class, before any projection.
    spread : float
        Standard deviation of their sum.

    Returns
    -------
    Finding

    Examples
    --------
    >>> import numpy as np
    >>> overfull(np.array([0.6, 0.42]), 0.02).fires, overfull(np.array([0.6, 0.6]), 0.02).fires
    (False, True)
    """
    total = float(np.sum(slopes))
    limit = 1 + float(norm.isf(_LEVEL)) * _STRETCH * spread
    message = None
    if total > limit:
        message = (
            f"the slopes of the known classes sum to {total:.3f}, more than 1 beyond noise; the "
            "nearest shares that sum to 1 are given, so the unseen share is 0."
        )
    return Finding("overfull", total, limit, message)


def effective_rows(label: Any, n_labelled: int, n_new: int) -> Finding:
    """Rows of one sample that would be as noisy as the two samples together.

    The noise of a ROC falls with ``1 / n_i + 1 / m``; its inverse counts rows. The check fires
    under 30.

    Parameters
    ----------
    label : object
        The class.
    n_labelled, n_new : int
        Labelled rows of the class, and new rows.

    Returns
    -------
    Finding

    Examples
    --------
    >>> effective_rows("a", 60, 30).value
    20.0
    """
    value = n_labelled * n_new / (n_labelled + n_new)
    message = None
    if value < _FEWEST_ROWS:
        message = (
            f"class {label!r}: {n_labelled} labelled and {n_new} new rows are few; "
            "its share may be off by a fifth or more."
        )
    return Finding("effective_rows", float(value), float(_FEWEST_ROWS), message, label)


def hidden_share(
    label: Any, pair: ScorePair, n_classes: int = 2, random_state: Any = None
) -> Finding:
    """How much of the other known classes looks like this class: nu(mixture of others, P_i).

    Condition (A) asks for 0. Above 0 the class hides inside the others, whose rows then count
    for it: its share is only an upper bound. The check fires when the lower end of the
    interval is above 0.1.

    Parameters
    ----------
    label : object
        The class.
    pair : (scores_others, scores_class)
        Out-of-fold scores of the labelled rows of all other classes against those of this one.
    n_classes : int, default=2
        Classes that are checked at the same time.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the bootstrap behind the interval.

    Returns
    -------
    Finding
        With the interval.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> own, others = rng.normal(0, 1, 500), rng.normal(5, 1, 500)
    >>> hidden_share("a", (others, own), random_state=0).fires
    False
    >>> hidden_share("a", (np.r_[others[:300], rng.normal(0, 1, 200)], own), random_state=0).fires
    True
    """
    criterion, model = BinomialDeviance(), Concave()
    sketch = RocSketch.from_scores(*pair)
    value = float(criterion.fit_sketch(sketch, model).right_slope[0])
    draws = bootstrap_slopes([pair], model, criterion, 200, random_state)
    reach = norm.isf(_LEVEL / n_classes) * _STRETCH * float(draws.std())
    interval = max(0.0, value - reach), min(1.0, value + reach)
    message = None
    if interval[0] > _LARGEST_HIDDEN:
        message = (
            f"class {label!r}: about {value:.0%} of the other known classes looks like it, so "
            "its share is only an upper bound."
        )
    return Finding("hidden_share", value, _LARGEST_HIDDEN, message, label, interval)


def attribution(pair: ScorePair, at: float = 0.3) -> FloatArray:
    """Probability of each new row to belong to the class, ``share * h / f``, if it were clean.

    The density ratio f / h is the slope of the concave hull of the ROC at the row's score. As
    the share counts not the slope at the right end but that at the false alarm ``at``: where
    all is well the two agree, and where a class has drifted away from some of its labelled
    rows the end is empty and would attribute next to nothing.

    Parameters
    ----------
    pair : (scores_F, scores_H)
    at : float, default=0.3
        False alarm at which the slope is taken for the share.

    Returns
    -------
    ndarray of shape (n_new,)

    Examples
    --------
    >>> import numpy as np
    >>> attribution((np.array([0.0, 0.2, 5.0, 6.0]), np.array([0.1, 0.3])))
    array([1., 1., 0., 0.])
    """
    scores_F, scores_H = pair
    false_alarm, detection = concave_hull(*RocSketch.from_scores(scores_F, scores_H).roc())
    run, rise = np.diff(false_alarm), np.diff(detection)
    middle = np.searchsorted(false_alarm, at) - 1
    share = rise[middle] / run[middle]
    place = (rankdata(-scores_F) - 0.5) / len(scores_F)
    part = np.searchsorted(detection, place) - 1
    return np.clip(share * run[part] / rise[part], 0.0, 1.0)


def class_drift(
    label: Any, rows: Any, new_rows: Any, weight: FloatArray, n_classes: int = 1
) -> Finding:
    """How far the new rows of a class have moved from its labelled rows.

    The value is the largest difference of means over the features, in standard deviations;
    new rows count by their probability to belong to the class. The check fires when it is
    above 0.1 beyond noise. From the data alone a class that has moved cannot be told from an
    unseen class that overlaps it: both fire.

    Parameters
    ----------
    label : object
        The class.
    rows : array or sparse matrix of shape (n_i, d)
        Labelled rows of the class.
    new_rows : array or sparse matrix of shape (m, d)
        New rows.
    weight : ndarray of shape (m,)
        Their probabilities to belong to the class; see :func:`attribution`.
    n_classes : int, default=1
        Classes that are checked at the same time.

    Returns
    -------
    Finding
        Quiet where fewer than 5 rows are attributed to the class.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(0, 1, (500, 2)), rng.normal(0, 1, (500, 2))
    >>> class_drift("a", old, new, np.ones(500)).fires
    False
    >>> class_drift("a", old, new + [0, 1], np.ones(500)).fires
    True
    """
    total = float(weight.sum())
    if total < _FEWEST_ATTRIBUTED:
        return Finding("class_drift", 0.0, _LARGEST_DRIFT, None, label)
    mean, variance = _moments(rows, np.full(rows.shape[0], 1 / rows.shape[0]))
    new_mean, new_variance = _moments(new_rows, weight / total)
    counted = total**2 / float(weight @ weight)
    spread = np.sqrt((variance + new_variance) / 2)
    spread = np.where(spread > 0, spread, np.inf)
    moved = np.abs(new_mean - mean) / spread
    noise = np.sqrt(variance / rows.shape[0] + new_variance / counted) / spread
    limit = _LARGEST_DRIFT + norm.isf(_LEVEL / (2 * len(moved) * n_classes)) * noise
    worst = int(np.argmax(moved - limit))
    message = None
    if moved[worst] > limit[worst]:
        message = (
            f"class {label!r}: the new rows nearest to it differ from its labelled rows by "
            f"{moved[worst]:.1f} standard deviations in feature {worst}; it may have drifted, and "
            "what has drifted away is counted as unseen."
        )
    return Finding("class_drift", float(moved[worst]), float(limit[worst]), message, label)


def quick_checks(
    classes: Sequence[Any],
    pairs: Sequence[ScorePair],
    roc: Mapping[Any, RocEvidence],
    random_state: Any = None,
) -> list[Finding]:
    """Every check that the ROCs of an estimate allow, at a fraction of its cost.

    Parameters
    ----------
    classes : sequence
        Labels of the known classes.
    pairs : sequence of (scores_F, scores_H)
        Scores of the new rows and of the rows of each class.
    roc : dict
        The ROC evidence of each class. Where the concave model was fitted to each class on its
        own, its fit and the sum of its slopes are checked too.
    random_state : int, RandomState, Generator or None, default=None
        Seed of a small bootstrap.

    Returns
    -------
    list of Finding
    """
    findings = []
    for label, pair in zip(classes, pairs, strict=True):
        findings.append(effective_rows(label, len(pair[1]), len(pair[0])))
        findings.append(right_end_bend(label, pair, len(classes)))
    if all(label in roc and "mu" in roc[label].parameters for label in classes):
        findings += _model_checks(classes, pairs, roc, random_state)
    return findings


def _model_checks(
    classes: Sequence[Any],
    pairs: Sequence[ScorePair],
    roc: Mapping[Any, RocEvidence],
    random_state: Any,
) -> list[Finding]:
    """Fit of the concave model to each class, and the sum of its slopes."""
    grid = BinomialDeviance().grid
    curves = bootstrap_rocs(pairs, grid, _QUICK_REPLICATES, random_state)
    findings = []
    for place, label in enumerate(classes):
        parameters = roc[label].parameters
        model = Concave(mu=parameters["mu"])
        fitted = model.value(grid, [parameters["gamma"], parameters["Delta"]])
        empirical = np.interp(grid, *RocSketch.from_scores(*pairs[place]).roc())
        spread = curves[:, place].std(axis=0)
        findings.append(misfit(label, grid, empirical, fitted, spread, len(classes)))
    slopes = np.array([roc[label].right_slope for label in classes])
    # Fits cost most of the time, and a sum up to 1 needs no spread.
    spread_of_sum = _spread_of_sum(curves, grid) if slopes.sum() > 1 else 0.0
    return [*findings, overfull(slopes, spread_of_sum)]


def _spread_of_sum(curves: FloatArray, grid: FloatArray) -> float:
    """Standard deviation of the sum of slopes over replicates of the ROCs, (B, K, G)."""
    n_replicates, n_classes, n_points = curves.shape
    fitted = BinomialDeviance().fit_curves(grid, curves.reshape(-1, n_points), Concave())
    return float(fitted.right_slope.reshape(n_replicates, n_classes).sum(axis=1).std())


def _moments(rows: Any, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted mean and variance of each column, dense or sparse; the weights sum to 1."""
    square = rows**2 if isinstance(rows, np.ndarray) else rows.multiply(rows).tocsr()
    mean, power = (np.asarray(weight @ values).ravel() for values in (rows, square))
    variance = np.maximum(power - mean**2, 0.0)
    # What rounding leaves of a constant column is no variance.
    return mean, np.where(variance > 1e-12 * power, variance, 0.0)
