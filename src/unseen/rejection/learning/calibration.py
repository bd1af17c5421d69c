"""Probabilities that keep their word: of the rows called unseen with 70%, 70% are unseen.

The logistic surrogate of the risk (:mod:`unseen.rejection.learning.surrogate`) fits a line between
logits of P(known), ``logit P(known) = slope logit(t) + constant``, to rows out of fold, without an
unseen label. The parts of the known classes in P(known) stay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from unseen._types import BoolArray, FloatArray, Matrix
from unseen.rejection.learning.folds import FittedRule, OutOfFold, out_of_fold
from unseen.rejection.learning.surrogate import Logistic, Surrogate
from unseen.scores.base import assign_folds

__all__ = ["CalibratedRule", "Calibration", "calibrate_by_other_folds", "fit_calibration"]

MIN_PROBABILITY = 0.01  # bounds t away from 0 and 1, where a rule is surer than its rows allow
RIDGE = 1e-3


@dataclass(frozen=True)
class Calibration:
    """A line between the logits of P(known), before and after.

    Parameters
    ----------
    slope : float
        Slope of the line; above 0, so that the order of rows stays.
    constant : float
        Value of the line at logit 0.

    Examples
    --------
    >>> import numpy as np
    >>> sharper = Calibration(slope=2.0, constant=0.0)
    >>> sharper(np.array([[0.25, 0.5, 0.25]])).round(2)
    array([[0.3, 0.6, 0.1]])
    """

    slope: float
    constant: float

    def __call__(self, probabilities: FloatArray) -> FloatArray:
        """Calibrated probabilities of the same rows."""
        known = expit(self.slope * _logit_known(probabilities) + self.constant)[:, None]
        parts = probabilities[:, :-1]
        total = parts.sum(axis=1, keepdims=True)
        n_classes = parts.shape[1]
        shared = np.where(total > 0, parts / np.where(total > 0, total, 1.0), 1 / n_classes)
        return np.hstack([known * shared, 1 - known])


def fit_calibration(rows: OutOfFold, shares: FloatArray) -> Calibration:
    """The line with the lowest surrogate risk on rows out of fold."""
    new, labelled = _logit_known(rows.new), _logit_known(rows.labelled)
    features_new = np.column_stack([new, np.ones(len(new))])
    features = np.column_stack([labelled, np.ones(len(labelled))])
    problem = Surrogate.from_features(features, rows.codes, features_new, shares)
    (found,) = Logistic().minimisers(problem, np.array([RIDGE]))
    slope, constant = found[:, -1]
    # A slope below 0 would call the least odd rows unseen: such a rule is past mending.
    return Calibration(float(slope), float(constant)) if slope > 0 else Calibration(1.0, 0.0)


def calibrate_by_other_folds(
    rows: OutOfFold, shares: FloatArray, n_folds: int, rng: np.random.RandomState
) -> OutOfFold:
    """Probabilities out of fold, each calibrated by the rows of other folds."""

    def learn(kept: BoolArray, kept_new: BoolArray) -> Calibration:
        rest = OutOfFold(rows.labelled[kept], rows.codes[kept], rows.new[kept_new])
        return fit_calibration(rest, shares)

    folds = assign_folds(rows.codes, n_folds, rng)
    folds_new = assign_folds(np.zeros(len(rows.new), dtype=np.int64), n_folds, rng)
    labelled, new = out_of_fold(learn, (rows.labelled, rows.new), (folds, folds_new))
    return OutOfFold(labelled, rows.codes, new)


@dataclass(frozen=True, eq=False)
class CalibratedRule:
    """A fitted rule whose probabilities are calibrated."""

    rule: FittedRule
    calibration: Calibration

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones."""
        return self.calibration(self.rule.probabilities(X))


def _logit_known(probabilities: FloatArray) -> FloatArray:
    known = np.clip(1 - probabilities[:, -1], MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    return np.asarray(logit(known))
