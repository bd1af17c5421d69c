"""The shares of the known classes, given or estimated, and how uncertain they are.

Plain numbers are taken as exact; the intervals of an :class:`~unseen.Estimate` give a covariance.
Where the library estimates, rules take the expected shares over both hypotheses, "nothing is
unseen" and "something is", at even odds: the risk is linear in the shares. Where the mass left for
unseen classes is below 0 beyond noise, a notice says so (``docs/rejection.md``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import clone

from unseen._frozen import Frozen
from unseen._random import whole_seed
from unseen._types import FloatArray, IntArray, Matrix
from unseen.drift.verdict import Verdict
from unseen.proportions import OpenSetEstimator, ProportionEstimator
from unseen.proportions.again import asked_again
from unseen.records import Estimate, Notice
from unseen.rejection.sample import OutOfFold, novelty
from unseen.samples import LabelledRows
from unseen.scores.base import FOLDS

_CONFIDENCE = 0.95
_ROUNDING = 1e-6
_REPLICATES = 200
_BINS = 5
# All cells together raise one false alarm in a hundred fits, and more where rows are few.
_FALSE_ALARMS = 0.01
# Below a tenth of the known mass labels hardly change: there the rows are called known anyway.
_MUCH = 0.1
_WIDE = 0.5


@dataclass(frozen=True, eq=False)
class Shares(Frozen):
    """Shares of the known classes among the new rows, with their uncertainty."""

    known: FloatArray  # of K classes
    covariance: FloatArray | None = None  # (K, K), of the errors; None where shares are exact
    limits: FloatArray | None = None  # (K + 1, 2), ends of each share's interval, unseen last
    estimate: Estimate | None = None  # that the shares come from; None for plain numbers

    @property
    def unseen(self) -> float:
        """Share that the known classes leave; never below 0."""
        return max(0.0, 1.0 - float(self.known.sum()))

    @property
    def verdict(self) -> Verdict | None:
        """Whether the known classes have moved; None where nobody asked."""
        drift = None if self.estimate is None else self.estimate.drift
        return None if drift is None else drift.verdict

    @property
    def tell_risk(self) -> bool:
        """Whether labelled rows tell how often labels of new rows are wrong.

        Rows of classes that may have moved do not, and errors are no better known than the shares.
        """
        wide = self.limits is not None and float(np.ptp(self.limits[-1])) > _WIDE
        return not wide and self.verdict in (None, "still")


def given_shares(proportions: Any, classes: NDArray[Any]) -> Shares:
    """The shares that the user gave: numbers, a mapping from label to share, or an Estimate."""
    estimate = proportions if isinstance(proportions, Estimate) else None
    if estimate is not None:
        proportions = dict(zip(estimate.classes, estimate.proportions, strict=True))
    labels = classes.tolist()
    if isinstance(proportions, Mapping):
        if set(proportions) != set(labels):
            named = list(proportions)
            raise ValueError(f"proportions must name the known classes {labels}; got {named}.")
        proportions = [proportions[label] for label in labels]
    known = _checked(proportions, len(labels))
    if estimate is None or estimate.intervals is None:
        return Shares(known, estimate=estimate)
    order = [estimate.classes.index(label) for label in labels]
    limits = estimate.intervals[[*order, -1]]
    covariance = covariance_of_limits(limits, confidence=estimate.confidence or _CONFIDENCE)
    return Shares(known, covariance, limits, estimate)


def estimate_shares(
    estimator: ProportionEstimator | None, labelled: LabelledRows, X_new: Matrix, seed: int
) -> Shares:
    """Shares from checked rows: the only place where a rule asks an estimator."""
    if estimator is None:
        estimator = default_estimator(np.bincount(labelled.codes), X_new.shape[0])
    chosen: ProportionEstimator = clone(estimator)
    # Kept, so that a question asked again draws from it too.
    chosen.random_state = whole_seed(seed if chosen.random_state is None else chosen.random_state)
    scorer = chosen.scorer(chosen.random_state)
    scorer.check(labelled, X_new.shape[0])
    reading, estimate = chosen.read_and_estimate(scorer.score(labelled, X_new), _CONFIDENCE)
    # A mean over moved and open would call rows unseen for having moved.
    has_moved = reading.drift is not None and reading.drift.verdict == "moved"
    if has_moved:
        estimate = asked_again(chosen, labelled, estimate, X_new)
    # Replicates say which shares err together; the intervals, which are seldom narrower, how far.
    draws = reading.replicates(_REPLICATES, estimate.seed)[:, :-1]
    limits = np.asarray(estimate.intervals)
    centred = draws - draws.mean(axis=0)
    scale = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(scale > 0, scale, 1.0)
    correlation = unit.T @ unit
    np.fill_diagonal(correlation, 1.0)  # a share that never moves is correlated with no other
    covariance = covariance_of_limits(limits, correlation)
    known = np.asarray(estimate.proportions if has_moved else reading.expected[:-1])
    return Shares(known, covariance, limits, estimate)


def default_estimator(counts: IntArray, n_new: int) -> OpenSetEstimator:
    """The estimator that a rule asks: at even odds, and with no more folds than rows can fill."""
    fewest = min(int(counts.min()), n_new)
    return OpenSetEstimator(
        prior_closed=0.5 if len(counts) > 1 else None,
        n_folds=None if fewest >= FOLDS else max(2, fewest),
    )


def covariance_of_limits(
    limits: FloatArray, correlation: FloatArray | None = None, confidence: float = _CONFIDENCE
) -> FloatArray:
    """Covariance of the known shares whose normal intervals have these ends.

    Without a correlation (K, K), all pairs have one common value: the value that gives the unseen
    share, one minus their sum, the width of its own interval, the last of the limits (K + 1, 2).
    """
    deviation = np.ptp(limits, axis=1) / (2 * norm.isf((1 - confidence) / 2))
    sd, sd_sum = deviation[:-1], deviation[-1]
    if correlation is None:
        n_classes = len(sd)
        pairs = float(sd.sum() ** 2 - (sd**2).sum())
        correlation = np.eye(n_classes)
        if n_classes > 1 and pairs != 0:
            lowest = -1.0 / (n_classes - 1)  # below it no correlation matrix has this pattern
            common = float(np.clip((sd_sum**2 - (sd**2).sum()) / pairs, lowest, 1.0))
            correlation = common + (1 - common) * correlation
    return np.asarray(sd[:, None] * correlation * sd)


def _checked(proportions: Any, n_classes: int) -> FloatArray:
    try:
        shares = np.array(proportions, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "proportions must be None, shares, a dict from label to share, an Estimate or a "
            f"proportion estimator; got {proportions!r}."
        ) from error
    if shares.ndim != 1 or len(shares) not in (n_classes, n_classes + 1):
        raise ValueError(
            f"proportions must hold {n_classes} shares, one per known class, or {n_classes + 1} "
            f"with the unseen share last; got shape {shares.shape}."
        )
    if not (np.isfinite(shares).all() and (shares >= 0).all()):
        raise ValueError(f"proportions must be >= 0; got {shares.tolist()}.")
    if len(shares) > n_classes and abs(shares.sum() - 1) > _ROUNDING:
        raise ValueError(
            "proportions must sum to 1 when the unseen share is given; "
            f"got a sum of {shares.sum():g}."
        )
    return shares[:n_classes]


def doubtful_shares(shares: Shares, classes: NDArray[Any]) -> tuple[Notice, ...]:
    """Notices where no risk is stated, shares sum to more than 1, or an interval is very wide."""
    estimate, total, found = shares.estimate, float(shares.known.sum()), []
    if not shares.tell_risk:
        why = {
            "moved": "labelled rows of classes that have moved do not tell how often rows of these "
            "classes are labelled wrongly now. For the same reason aims such as recall and fdr may "
            "be missed.",
            "unclear": "it is unclear whether known classes have moved, and if they have, rows "
            "called unseen are mostly of known classes. Aims such as recall and fdr may be missed.",
        }.get(shares.verdict or "", "too little is known of the unseen share.")
        found.append(Notice("risk_withheld", f"No error rate is stated: {why}"))
    noted = () if estimate is None else estimate.notices
    # Estimated shares sum to too much only beyond their noise, which the estimate has judged.
    if any(notice.code == "overfull" for notice in noted) or total > 1 + _ROUNDING:
        if estimate is not None:  # which may have projected the shares
            total = float(estimate.diagnostics.get("slope_total", total))
        text = (
            f"the known shares sum to {total:.3f}, more than 1: nothing is left for unseen "
            "classes, and some share is too large. Check proportions."
        )
        found.append(Notice("overfull", text))
    if shares.limits is not None and np.ptp(shares.limits, axis=1).max() > _WIDE:
        widest = int(np.ptp(shares.limits, axis=1).argmax())
        (lower, upper), label = shares.limits[widest], classes.tolist()[widest]
        text = (
            f"the share of {label!r} may be anything from {lower:.0%} to {upper:.0%}, and labels "
            "are no better than the shares: add new rows, or give shares that you know."
        )
        found.append(Notice("uncertain_share", text, about=label))
    return tuple(found)


def negative_mass(rows: OutOfFold, shares: Shares) -> tuple[Notice, ...]:
    """A notice where cells of clearly negative unseen mass hold over a tenth of the known mass."""
    # A cell is a known class, the best for its rows, and a fifth of their novelty.
    probabilities = np.vstack([rows.labelled, rows.new])
    best, score = probabilities[:, :-1].argmax(axis=1), novelty(probabilities)
    cells = np.zeros(len(best), dtype=np.intp)
    for label in np.unique(best):
        mine = best == label
        ends = np.quantile(score[mine], np.arange(1, _BINS) / _BINS)
        cells[mine] = label * _BINS + np.searchsorted(ends, score[mine], side="right")
    _, cells = np.unique(cells, return_inverse=True)
    n_cells = int(cells.max()) + 1
    samples = np.append(rows.codes, np.full(len(rows.new), len(shares.known)))
    counts = np.zeros((len(shares.known) + 1, n_cells))  # of each class and, last, of the new rows
    np.add.at(counts, (samples, cells), 1.0)
    sizes = counts.sum(axis=1, keepdims=True)
    rates, (new,) = np.split(counts / sizes, [-1])
    expected = shares.known @ rates
    mass = new - expected
    # Half a row more keeps the rate of an empty cell uncertain.
    guarded = (counts + 0.5) / (sizes + 1)
    variance = np.append(shares.known**2, 1.0) @ (guarded * (1 - guarded) / sizes)
    if shares.covariance is not None:
        variance = variance + np.einsum("ic,ij,jc->c", rates, shares.covariance, rates)
    negative = mass < -norm.isf(_FALSE_ALARMS / n_cells) * np.sqrt(variance)
    concerned = expected[negative].sum() / max(expected.sum(), np.finfo(float).tiny)
    if concerned <= _MUCH:
        return ()
    text = (
        "the estimated mass of unseen classes is negative, beyond noise, in cells that hold "
        f"{concerned:.0%} of the known classes (sum {mass[negative].sum():.3f}): the known shares "
        "are too large there, or the labelled rows differ from those of the same class among the "
        "new ones. Check proportions, and whether the classes drifted."
    )
    return (Notice("negative_mass", text),)
