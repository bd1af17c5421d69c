"""The default: closed-set EM where nothing is unseen, the placement likelihood where something is.

A closed-set method is sharp and blind; an open one sees the unseen and pays for looking. The data
say which to trust. Everything is read off out-of-fold posteriors and density ratios, and distances
(:mod:`unseen.scores.open`); docs/default.md derives the method.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from unseen._sklearn import Interval
from unseen.intervals import Credible, IntervalMethod
from unseen.proportions.base import CLASSIFIER_CONSTRAINTS, ProportionEstimator
from unseen.proportions.open_set.reading import OpenSetReading, read_open_set
from unseen.scores import OpenScorer, OpenScores

__all__ = ["OpenSetEstimator"]

_PRIOR_CLOSED_ONE, _PRIOR_CLOSED_MORE = 0.02, 0.9


class OpenSetEstimator(ProportionEstimator):
    """Shares of the known classes and of unseen ones, by averaging three models.

    As sharp as closed-set EM where nothing is unseen, and able to find the unseen where there is
    something. Known classes may have moved a little (``Estimate.drift``). One known class is
    enough.

    Parameters
    ----------
    prior_closed : float or None, default=None
        Prior probability that nothing is unseen; None is 0.02 for one known class and 0.9 for
        more.
    classifier : scikit-learn classifier or None, default=None
        What tells the known classes apart, and new rows from labelled ones; None is kernel
        logistic regression.
    n_folds : int or None, default=None
        Folds of the out-of-fold scores; None is 10, and 5 from 5,000 rows on, where the rows that
        a fold leaves out are no longer missed (``benchmarks/default.py folds``).
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.
    n_jobs : int or None, default=None
        Jobs that score at the same time; does not change the result.
    prior_moved : float or None, default=None
        Prior probability, if the new rows are no mixture of the known classes, that the known
        classes have moved (docs/drift.md); None is 0.12 for one known class and 0.27 for more. 0
        takes for granted that they have not.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import OpenSetEstimator
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-4, 1, (200, 2)), rng.normal(4, 1, (200, 2))])
    >>> y = ["left"] * 200 + ["right"] * 200
    >>> X_new = np.vstack([rng.normal(-4, 1, (140, 2)), rng.normal([-4, 4], 1, (60, 2))])
    >>> estimate = OpenSetEstimator(random_state=0).fit(X, y).estimate(X_new)
    >>> print(f"left {estimate['left']:.1f}, unseen {estimate.unseen:.1f}")
    left 0.7, unseen 0.3
    >>> estimate.diagnostics["probability_unseen"] > 0.99
    True
    """

    reads = OpenScores

    _default_interval: ClassVar[IntervalMethod] = Credible()

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CLASSIFIER_CONSTRAINTS,
        "prior_closed": [None, Interval(Real, 0, 1, closed="both")],
        "prior_moved": [None, Interval(Real, 0, 1, closed="left")],
        "n_folds": [None, Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        prior_closed: float | None = None,
        classifier: Any = None,
        n_folds: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        prior_moved: float | None = None,
    ) -> None:
        self.prior_closed = prior_closed
        self.classifier = classifier
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.prior_moved = prior_moved

    def scorer(self, seed: int) -> OpenScorer:
        """Makes posteriors, density ratios and distances."""
        return OpenScorer(self.classifier, self.n_folds, seed, self.n_jobs)

    def read(self, scores: OpenScores) -> OpenSetReading:
        """Weigh "nothing is unseen", "something is" and "known classes have moved".

        ``probability_unseen``, ``probability_moved`` and ``bayes_factor``, of the second against
        the first, are among the diagnostics.
        """
        prior = self.prior_closed
        if prior is None:
            prior = _PRIOR_CLOSED_ONE if len(scores.classes) == 1 else _PRIOR_CLOSED_MORE
        return read_open_set(scores, float(prior), self.prior_moved)
