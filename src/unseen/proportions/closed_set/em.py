"""EM on posteriors (Saerens, Latinne & Decaestecker, 2002): maximum likelihood of the shares.

With the ratios ``r_k(x) = p_k(x) / prior_k`` of a classifier's posteriors, the log-likelihood of
the shares is ``L(pi) = mean_j log sum_k pi_k r_k(x_j)``. L is concave: Newton steps reach the
height that EM climbs to. docs/theory.md, "Closed-set methods", derives L.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from unseen._sklearn import HasMethods
from unseen.proportions.base import (
    CLASSIFIER_CONSTRAINTS,
    PosteriorEstimator,
    Reading,
    closed_reading,
)
from unseen.proportions.bootstrap import em_replicates, shares_by_sums, sums_replicates
from unseen.scores import Posteriors
from unseen.scores.calibration import BiasCorrectedTemperature, Temperature, assumed_shares
from unseen.simplex import mixture_shares


@dataclass(eq=False, repr=False)
class SaerensEM(PosteriorEstimator):
    """Shares of the known classes by maximum likelihood on a classifier's posteriors.

    Parameters
    ----------
    calibration : Temperature, BiasCorrectedTemperature or None, default=None
        Calibration of the posteriors, learnt from the out-of-fold posteriors of labelled rows. None
        leaves kernel logistic regression as it is, since log-loss has tuned it, and rescales any
        other classifier, such as a forest, where labelled rows contradict it.
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

    calibration: Temperature | BiasCorrectedTemperature | None = None

    _parameter_constraints = CLASSIFIER_CONSTRAINTS | {"calibration": [None, HasMethods(["fit"])]}

    def read(self, scores: Posteriors) -> Reading:
        """Climb the likelihood of the shares."""
        record = scores
        if self.calibration is not None:
            rescaling = self.calibration.fit(scores.of_labelled, scores.codes)
            labelled, new = rescaling(scores.of_labelled), rescaling(scores.new)
            prior = assumed_shares(labelled, scores.codes)
            record = replace(scores, labelled=labelled, new=new, prior=prior, rescaling=None)
        if record.sums is None:
            shares = mixture_shares(record.ratios, start=record.prior)
            draw = partial(em_replicates, record, shares)
        else:
            shares = shares_by_sums(record.sums)
            draw = partial(sums_replicates, record, shares)
        height = float(np.log(record.ratios @ shares).mean())
        return closed_reading(shares, draw, log_likelihood=height)
