"""EM on posteriors (Saerens, Latinne & Decaestecker, 2002): maximum likelihood of the shares.

With the ratios ``r_k(x) = p_k(x) / prior_k`` of a classifier's posteriors, the log-likelihood of
the shares is ``L(pi) = mean_j log sum_k pi_k r_k(x_j)``. L is concave: Newton steps reach the
height that EM climbs to. docs/theory.md, "Closed-set methods", derives L.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from unseen._random import generator
from unseen._sklearn import HasMethods
from unseen._types import FloatArray, IntArray
from unseen.proportions.base import Reading, append_zero_unseen
from unseen.proportions.bootstrap import em_replicates
from unseen.proportions.closed_set.base import PosteriorEstimator
from unseen.scores import Posteriors
from unseen.simplex import mixture_shares

__all__ = ["BiasCorrectedTemperature", "Rescaling", "SaerensEM", "Temperature"]

_LEAST_POSTERIOR = 1e-15
_INVERSE_TEMPERATURES = (0.01, 100.0)


@dataclass(frozen=True, eq=False)
class Rescaling:
    """Calibrated posteriors: ``softmax(log(p) / temperature + bias)``.

    Parameters
    ----------
    temperature : float
        Above 1 it tempers posteriors that are too sure, below 1 it sharpens them.
    bias : ndarray of shape (K,)
        Added to the log-posterior of each class; means 0.

    Examples
    --------
    >>> Rescaling(2.0, np.zeros(2))(np.array([[0.9, 0.1]])).round(2)
    array([[0.75, 0.25]])
    """

    temperature: float
    bias: FloatArray

    def __call__(self, posteriors: FloatArray) -> FloatArray:
        """The calibrated posteriors."""
        logits = log_posteriors(posteriors) / self.temperature + self.bias
        return np.asarray(softmax(logits, axis=1))


@dataclass(frozen=True)
class Temperature:
    """Calibration by one temperature, fitted by log-loss on out-of-fold posteriors.

    Examples
    --------
    >>> from unseen import SaerensEM
    >>> from unseen.proportions.closed_set.em import Temperature
    >>> SaerensEM(calibration=Temperature())
    SaerensEM(calibration=Temperature())
    """

    def fit(self, posteriors: FloatArray, codes: IntArray) -> Rescaling:
        """Find the temperature under which the true classes are most probable."""
        return _least_log_loss(posteriors, codes, with_bias=False)


@dataclass(frozen=True)
class BiasCorrectedTemperature:
    """Calibration by a temperature and a bias per class (Alexandari et al., 2020).

    With the bias, the mean calibrated posterior of each class equals its share among the
    labelled rows, which is what the correction for the prior takes for granted.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.proportions.closed_set.em import BiasCorrectedTemperature
    >>> posteriors, codes = np.array([[0.8, 0.2]] * 4), np.array([0, 0, 1, 1])
    >>> BiasCorrectedTemperature().fit(posteriors, codes)(posteriors)[0].round(3)
    array([0.5, 0.5])
    """

    def fit(self, posteriors: FloatArray, codes: IntArray) -> Rescaling:
        """Find the temperature and biases under which the true classes are most probable."""
        return _least_log_loss(posteriors, codes, with_bias=True)


class SaerensEM(PosteriorEstimator):
    """Shares of the known classes by maximum likelihood on a classifier's posteriors.

    Parameters
    ----------
    calibration : Temperature, BiasCorrectedTemperature or None, default=None
        How to calibrate the posteriors first, on the out-of-fold ones; None leaves them.
        Kernel logistic regression tuned by log-loss needs none; forests, naive Bayes and
        support vector machines do.
    classifier : scikit-learn classifier or None, default=None
        The classifier of the known classes, with ``predict_proba``; None is kernel logistic
        regression.
    n_folds : int, default=10
        Folds of the out-of-fold posteriors.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.
    n_jobs : int or None, default=None
        Folds that are fitted at the same time; does not change the result.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import SaerensEM
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-1, 1, (300, 2)), rng.normal(1, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-1, 1, (400, 2)), rng.normal(1, 1, (100, 2))])
    >>> estimate = SaerensEM(random_state=0).fit(X, y).estimate(X_new)
    >>> print(f"left {estimate['left']:.1f}, unseen {estimate.unseen:.1f}")
    left 0.8, unseen 0.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "calibration": [None, HasMethods(["fit"])],
        **PosteriorEstimator._parameter_constraints,
    }

    def __init__(
        self,
        calibration: Temperature | BiasCorrectedTemperature | None = None,
        classifier: Any = None,
        n_folds: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(classifier, n_folds, random_state, n_jobs)
        self.calibration = calibration

    def read(self, scores: Posteriors) -> Reading:
        """Climb the likelihood of the shares."""
        record = scores
        if self.calibration is not None:
            rescaling = self.calibration.fit(scores.of_labelled, scores.codes)
            labelled, new = rescaling(scores.of_labelled), rescaling(scores.new)
            record = replace(scores, labelled=labelled, new=new)
        shares = mixture_shares(record.ratios, start=record.prior)
        height = float(np.log(record.ratios @ shares).mean())

        def replicates(n_replicates: int, random_state: Any = None) -> FloatArray:
            return append_zero_unseen(
                em_replicates(record, shares, n_replicates, generator(random_state))
            )

        return Reading(
            append_zero_unseen(shares), replicates, diagnostics={"log_likelihood": height}
        )


def log_posteriors(posteriors: FloatArray) -> FloatArray:
    """Logarithms, with the 0 of a tree's vote taken as a very small number."""
    return np.log(np.maximum(posteriors, _LEAST_POSTERIOR))


def _least_log_loss(posteriors: FloatArray, codes: IntArray, *, with_bias: bool) -> Rescaling:
    """Inverse temperature and biases of the least log-loss: a convex problem."""
    logs = log_posteriors(np.asarray(posteriors, dtype=np.float64))
    n_rows, n_classes = logs.shape
    truth = (np.asarray(codes)[:, None] == np.arange(n_classes)).astype(float)

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        logits = parameters[0] * logs + parameters[1:]
        normaliser = np.logaddexp.reduce(logits, axis=1)
        excess = (np.exp(logits - normaliser[:, None]) - truth) / n_rows
        gradient = np.append((excess * logs).sum(), excess.sum(axis=0) * with_bias)
        return float((normaliser - (logits * truth).sum(axis=1)).mean()), gradient

    start = np.append(1.0, np.zeros(n_classes))
    bounds = [_INVERSE_TEMPERATURES, *[(-50.0, 50.0)] * n_classes]
    options: Any = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return Rescaling(float(1 / found.x[0]), found.x[1:] - found.x[1:].mean())
