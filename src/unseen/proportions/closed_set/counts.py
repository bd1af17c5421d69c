"""Counts of a classifier's answers on the new rows: plain, and corrected for its error rates.

Let ``M_ki`` be the rate at which rows of class i are counted for class k, estimated out of fold,
and ``q_k`` the share of new rows counted for k. If only the shares have changed, ``q = M pi``,
which is solved for pi: the adjusted count (ACC) of predictions, or the probabilistic one (PACC) of
posteriors. docs/theory.md, "Closed-set methods", says more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from unseen._types import FloatArray
from unseen.proportions.base import (
    CLASSIFIER_CONSTRAINTS,
    ClosedSetEstimator,
    PosteriorEstimator,
    Reading,
    closed_reading,
)
from unseen.proportions.bootstrap import bootstrap_means
from unseen.scores import Posteriors, PosteriorScorer
from unseen.simplex import minimise_on_simplex


@dataclass(eq=False, repr=False)
class ClassifyAndCount(ClosedSetEstimator):
    """Shares of the classes among a classifier's predictions on the new rows.

    Parameters
    ----------
    soft : bool, default=False
        False counts each row for its most probable class; True spreads it over the classes by
        its posterior.
    classifier, random_state, n_jobs
        As in :class:`~unseen.SaerensEM`.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import ClassifyAndCount
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-4, 1, (300, 2)), rng.normal(4, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-4, 1, (400, 2)), rng.normal(4, 1, (100, 2))])
    >>> ClassifyAndCount(random_state=0).fit(X, y).estimate(X_new)["left"]
    0.8
    """

    soft: bool = False
    classifier: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    reads = Posteriors

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "soft": ["boolean"],
        **{name: CLASSIFIER_CONSTRAINTS[name] for name in ("classifier", "random_state", "n_jobs")},
    }

    def scorer(self, seed: int) -> PosteriorScorer:
        """The scorer that makes the posteriors of the new rows; only these are counted."""
        return PosteriorScorer(self.classifier, None, seed, self.n_jobs)

    def read(self, scores: Posteriors) -> Reading:
        """Count the new rows of each class."""
        rows = votes(scores.new, self.soft)
        return closed_reading(rows.mean(axis=0), partial(bootstrap_means, rows))


@dataclass(eq=False, repr=False)
class AdjustedCount(PosteriorEstimator):
    """Shares of the known classes from counts corrected for the classifier's error rates.

    With two classes this is the Rogan-Gladen estimator, ``(q - f) / (t - f)`` clipped to
    [0, 1], with apparent share q, true positive rate t and false positive rate f.

    Parameters
    ----------
    soft : bool, default=True
        True counts posteriors (PACC), False counts predictions (ACC).
    constrained : bool, default=True
        True finds the shares on the simplex that solve ``q = M pi`` best in least squares.
        False solves it outright, sets negative shares to 0 and divides by the sum, as the
        method was first written. Both are the same with two classes; with more, clipping
        one share leaves the others at values that made up for it.
    classifier, n_folds, random_state, n_jobs
        As in :class:`~unseen.SaerensEM`.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import AdjustedCount
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-1, 1, (300, 2)), rng.normal(1, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-1, 1, (400, 2)), rng.normal(1, 1, (100, 2))])
    >>> round(AdjustedCount(random_state=0).fit(X, y).estimate(X_new)["left"], 1)
    0.8
    """

    soft: bool = True
    constrained: bool = True

    _parameter_constraints = CLASSIFIER_CONSTRAINTS | {
        "soft": ["boolean"],
        "constrained": ["boolean"],
    }

    def read(self, scores: Posteriors) -> Reading:
        """Correct the counts for the error rates."""
        rows, rows_new = votes(scores.of_labelled, self.soft), votes(scores.new, self.soft)
        by_class = [rows[scores.codes == code] for code in range(len(scores.classes))]
        rates = np.stack([own.mean(axis=0) for own in by_class]).T

        def draw(n_replicates: int, rng: np.random.Generator) -> FloatArray:
            drawn = [bootstrap_means(own, n_replicates, rng) for own in by_class]
            counted = bootstrap_means(rows_new, n_replicates, rng)
            drawn_rates = np.stack(drawn, axis=1).swapaxes(1, 2)
            return adjusted_shares(drawn_rates, counted, self.constrained)

        shares = adjusted_shares(rates, rows_new.mean(axis=0), self.constrained)
        return closed_reading(shares, draw, condition=float(np.linalg.cond(rates)))


def adjusted_shares(rates: FloatArray, counted: FloatArray, constrained: bool = True) -> FloatArray:
    """Solve ``q = M pi`` for the shares (..., K): by least squares on the simplex, or clipped.

    ``rates`` is M, (..., K, K), and ``counted`` q, (..., K).
    """
    if constrained:
        transposed = np.swapaxes(rates, -1, -2)
        linear = (transposed @ counted[..., None])[..., 0]
        return minimise_on_simplex(transposed @ rates, linear)
    # The pseudo-inverse, for a classifier that gives two classes the very same counts.
    plain = (np.linalg.pinv(rates) @ counted[..., None])[..., 0]
    clipped = np.clip(plain, 0.0, 1.0)
    return clipped / clipped.sum(axis=-1, keepdims=True)


def votes(posteriors: FloatArray, soft: bool) -> FloatArray:
    """The posteriors themselves, or a 1 for the most probable class of each row."""
    return posteriors if soft else np.eye(posteriors.shape[1])[posteriors.argmax(axis=1)]
