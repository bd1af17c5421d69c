"""Calibration of posteriors on labelled rows, and the shares that posteriors take for granted.

A classifier that weights its classes, or draws as many rows of each, gives posteriors for other
shares than those of the labels. Its posteriors are proportional to ``share_k * p_k(x)`` for shares
of its own, which the labelled rows tell: the mean posterior at the label shares is the label share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import chi2

from unseen._arrays import chosen_arrays
from unseen._types import FloatArray, IntArray

_LEAST_POSTERIOR = 1e-15
_INVERSE_TEMPERATURES = (0.01, 100.0)
# Mean posteriors that stray from the label shares by less are taken for noise. Where classes lie
# apart standard errors are tiny, and a small difference of means says little about the prior.
_STANDARD_ERRORS, _LEAST_DIFFERENCE = 2.0, 0.02
# Calibrated posteriors would be rescaled in one case of a hundred.
_LEVEL = 0.01
# Before rows are seen: log-temperature and biases lie so far from 0 (a standard deviation).
SPREAD = 0.5


@dataclass(frozen=True, eq=False)
class Rescaling:
    """Calibrated posteriors: ``softmax(log(p) / temperature + bias)``."""

    temperature: float  # above 1 it tempers posteriors that are too sure, below 1 it sharpens them
    bias: FloatArray  # added to the log-posterior of each class; means 0
    zero: float = _LEAST_POSTERIOR  # what a smaller posterior is taken for

    def __call__(self, posteriors: FloatArray) -> FloatArray:
        """The calibrated posteriors."""
        # Logarithms stay finite where a classifier says 0.
        logs = np.log(np.maximum(posteriors, self.zero))
        return np.asarray(softmax(logs / self.temperature + self.bias, axis=1))


@dataclass(frozen=True)
class Temperature:
    """Calibration by one temperature, fitted by log-loss on out-of-fold posteriors.

    Examples
    --------
    >>> from unseen import SaerensEM
    >>> from unseen.scores.calibration import Temperature
    >>> SaerensEM(calibration=Temperature())
    SaerensEM(calibration=Temperature())
    """

    def fit(self, posteriors: FloatArray, codes: IntArray) -> Rescaling:
        """Find the temperature under which the true classes are most probable."""
        return probable_rescaling(posteriors, codes, bias=False)


@dataclass(frozen=True)
class BiasCorrectedTemperature:
    """Calibration by a temperature and a bias per class (Alexandari et al., 2020).

    With the bias, the mean calibrated posterior of each class equals its share among the
    labelled rows, which is what the correction for the prior takes for granted.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores.calibration import BiasCorrectedTemperature
    >>> posteriors, codes = np.array([[0.8, 0.2]] * 4), np.array([0, 0, 1, 1])
    >>> BiasCorrectedTemperature().fit(posteriors, codes)(posteriors)[0].round(3)
    array([0.5, 0.5])
    """

    def fit(self, posteriors: FloatArray, codes: IntArray) -> Rescaling:
        """Find the temperature and biases under which the true classes are most probable."""
        return probable_rescaling(posteriors, codes)


def assumed_shares(posteriors: FloatArray, codes: IntArray) -> FloatArray:
    """Shares of the classes that posteriors take for granted, told by their means.

    A calibrated classifier takes the label shares for granted, and its mean posteriors stray from
    these by chance alone. Where they stray by more, the shares are those under which the corrected
    posteriors, ``p_k / assumed_k * label_k`` over their sum, have the label shares as means.
    ``posteriors`` (n, K) are those of labelled rows, out of fold, and ``codes`` their classes.
    """
    arrays, n_rows = chosen_arrays(), len(codes)
    truth = arrays.put(np.asarray(codes)[:, None] == np.arange(posteriors.shape[1]), np.float64)
    excess = arrays.put(posteriors) - truth
    labels, noise = arrays.total(truth) / n_rows, np.sqrt(arrays.total(excess * excess)) / n_rows
    limit = np.maximum(_STANDARD_ERRORS * noise, _LEAST_DIFFERENCE)
    if (np.abs(arrays.total(excess) / n_rows) <= limit).all():
        return labels
    shares = labels * np.exp(-probable_rescaling(posteriors, codes, temperature=False).bias)
    return np.asarray(shares / shares.sum())


def needed_rescaling(posteriors: FloatArray, codes: IntArray) -> Rescaling | None:
    """The bias-corrected temperature, where the labelled rows clearly ask for one; else None.

    Twice the log-likelihood that a temperature and a bias per class gain has, for calibrated
    posteriors, the chi-squared law with one degree of freedom per class.
    """
    rescaling, rows = probable_rescaling(posteriors, codes), np.arange(len(codes))
    after, before = (
        np.log(np.maximum(values, _LEAST_POSTERIOR))[rows, codes].sum()
        for values in (rescaling(posteriors), posteriors)
    )
    return rescaling if 2 * (after - before) > chi2.isf(_LEVEL, posteriors.shape[1]) else None


def probable_rescaling(
    posteriors: FloatArray,
    codes: IntArray,
    *,
    temperature: bool = True,
    bias: bool = True,
    spread: float = np.inf,
) -> Rescaling:
    """The most probable temperature and biases, those of the least log-loss: a convex problem.

    With a finite ``spread`` the biases and the logarithm of the temperature have a normal prior
    around 0, which is convex too up to an inverse temperature of e. Few rows, or rows of classes
    that lie apart, say little of a bias, which then stays near 0.
    """
    given = np.asarray(posteriors, dtype=np.float64)
    # Half of the least that is not 0: no vote of a hundred trees then says half a vote, and not
    # that no row of the class could be there.
    zero = max(float(given[given > 0].min()) / 2, _LEAST_POSTERIOR)
    logs = np.log(np.maximum(given, zero))
    n_rows, n_classes = logs.shape
    truth = (np.asarray(codes)[:, None] == np.arange(n_classes)).astype(float)

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        logits = parameters[0] * logs + parameters[1:]
        normaliser = np.logaddexp.reduce(logits, axis=1)
        excess = (np.exp(logits - normaliser[:, None]) - truth) / n_rows
        gradient = np.append((excess * logs).sum(), excess.sum(axis=0) * bias)
        # Of the prior, for each row.
        away = np.append(np.log(parameters[0]), parameters[1:])
        pull = away / spread**2 / n_rows
        gradient += pull / np.append(parameters[0], np.ones(n_classes))
        return float((normaliser - (logits * truth).sum(axis=1)).mean() + pull @ away / 2), gradient

    start = np.append(1.0, np.zeros(n_classes))
    bounds = [_INVERSE_TEMPERATURES if temperature else (1.0, 1.0), *[(-50.0, 50.0)] * n_classes]
    options: Any = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return Rescaling(float(1 / found.x[0]), found.x[1:] - found.x[1:].mean(), zero)
