"""Probabilities that keep their word: of the rows called unseen with 70%, 70% are.

Bagged trees and plugged-in ratios know which rows look most unseen, but not how sure to be. Where t
is the probability that a rule gives to "known", the logistic surrogate of the risk (see
:mod:`unseen.rejection.kernel`) has on held-out rows a minimum over two numbers,

    logit P(known) = slope logit(t) + constant,

and no label of an unseen row is needed for it. How the known classes share P(known) stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from unseen._types import FloatArray, Matrix
from unseen.rejection.kernel import Logistic, Surrogate
from unseen.rejection.learning.folds import FittedRule, HeldOut
from unseen.scores.selection import assign_folds

__all__ = ["CalibratedRule", "Calibration", "calibrate_held_out", "fit_calibration"]

LEAST = 0.01  # bounds t away from 0 and 1, where a rule is surer than its rows allow
RIDGE = 1e-3


@dataclass(frozen=True)
class Calibration:
    """A line between the logits of P(known), before and after.

    Parameters
    ----------
    slope, constant : float
        Of the line; the slope is above 0, so that the order of rows stays.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.learning.calibration import Calibration
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
        among = np.where(total > 0, parts / np.where(total > 0, total, 1.0), 1 / n_classes)
        return np.hstack([known * among, 1 - known])


def fit_calibration(held_out: HeldOut, shares: FloatArray) -> Calibration:
    """The line that held-out rows cost least.

    Parameters
    ----------
    held_out : HeldOut
        Probabilities of rows by rules that did not learn from them.
    shares : ndarray of shape (K,)
        Shares of the known classes.

    Returns
    -------
    Calibration
    """
    new, labelled = _logit_known(held_out.new), _logit_known(held_out.labelled)
    rows = np.column_stack([new, np.ones(len(new))])
    rows_known = np.column_stack([labelled, np.ones(len(labelled))])
    problem = Surrogate.of(rows_known, held_out.codes, rows, shares)
    (found,) = Logistic().minimisers(problem, np.array([RIDGE]))
    slope, constant = found[:, -1]
    # A slope below 0 would call the least odd rows unseen: then the rule knows nothing to mend.
    return Calibration(float(slope), float(constant)) if slope > 0 else Calibration(1.0, 0.0)


def calibrate_held_out(
    held_out: HeldOut, shares: FloatArray, n_folds: int, rng: np.random.RandomState
) -> HeldOut:
    """Held-out probabilities, each calibrated by the rows of other folds."""
    folds = assign_folds(held_out.codes, n_folds, rng)
    folds_new = assign_folds(np.zeros(len(held_out.new), dtype=np.int64), n_folds, rng)
    labelled, new = held_out.labelled.copy(), held_out.new.copy()
    for fold in range(int(max(folds.max(), folds_new.max())) + 1):
        out, out_new = folds == fold, folds_new == fold
        rest = HeldOut(held_out.labelled[~out], held_out.codes[~out], held_out.new[~out_new])
        calibration = fit_calibration(rest, shares)
        labelled[out] = calibration(held_out.labelled[out])
        new[out_new] = calibration(held_out.new[out_new])
    return HeldOut(labelled, held_out.codes, new)


@dataclass(frozen=True, eq=False)
class CalibratedRule:
    """A fitted rule whose probabilities are calibrated.

    Parameters
    ----------
    rule : FittedRule
        Gives the probabilities.
    calibration : Calibration
        Mends them.
    """

    rule: FittedRule
    calibration: Calibration

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones."""
        return self.calibration(self.rule.probabilities(X))


def _logit_known(probabilities: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(1 - probabilities[:, -1], LEAST, 1 - LEAST)))
