"""The default: closed-set EM where nothing is unseen, the placement likelihood where something is.

    closed   P_0 = sum_i rho_i P_i                                  prior ``prior_closed``
    open     P_0 = nu sum_i rho_i P_i + (1 - nu) P_unseen           prior ``1 - prior_closed``

A closed-set method is sharp and blind; an open one sees the unseen and pays for looking. The data
say which to trust, by the placement likelihood of the new rows among the labelled ones
(:mod:`unseen.mixture.placement`). docs/default.md derives the method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from unseen._frozen import Frozen
from unseen._random import generator, one_blas_thread
from unseen._sklearn import Interval
from unseen._types import FloatArray
from unseen.intervals import Credible, IntervalMethod
from unseen.mixture.placement import Candidates, PlacementPosterior, placement_posterior
from unseen.proportions.base import CLASSIFIER_CONSTRAINTS, ProportionEstimator, Reading
from unseen.proportions.bootstrap import em_replicates
from unseen.roc.sketch import scored_evidence
from unseen.scores import OpenScorer, OpenScores
from unseen.scores.open import ratios_at_shares
from unseen.simplex import mixture_shares

__all__ = ["OpenSetEstimator", "OpenSetFit", "OpenSetReading", "open_set_fit"]

_PRIOR_CLOSED_ONE, _PRIOR_CLOSED_MORE = 0.02, 0.9
SMALL_SHARE = 0.03
_MIN_RATIO = 1e-12
_MIN_SHARE = 1e-6
# The posterior takes the scores as they are; with other training rows they would be others. By
# this factor draws of nu lie further from their median. Chosen on development data.
_SCORE_NOISE = 1.2


@dataclass(frozen=True, eq=False)
class OpenSetFit(Frozen):
    """Shares under both hypotheses, and the evidence for each.

    Parameters
    ----------
    closed : ndarray of shape (K,)
        Shares of the known classes if nothing is unseen.
    known_mixture : ndarray of shape (K,)
        Shares among the rows of known classes if something is unseen.
    posterior : PlacementPosterior
        Posterior of the share nu of all known classes together.
    known : ndarray of shape (m,)
        Probability of each new row to belong to a known class, if something is unseen.
    """

    closed: FloatArray
    known_mixture: FloatArray
    posterior: PlacementPosterior
    known: FloatArray

    @property
    def shares(self) -> FloatArray:
        """Share of each known class, then of unseen ones."""
        nu, is_open = float(self.posterior.quantile(0.5)), self.posterior.probability_open
        mixed = (1 - is_open) * self.closed + is_open * self.known_mixture
        return np.append(nu * mixed / mixed.sum(), 1 - nu)

    @property
    def expected(self) -> FloatArray:
        """Mean of both hypotheses: share of each known class, then of unseen ones."""
        nu, is_open = float(self.posterior.open_quantile(0.5)), self.posterior.probability_open
        known = (1 - is_open) * self.closed + is_open * nu * self.known_mixture
        return np.append(known, 1 - known.sum())


@dataclass(frozen=True, eq=False)
class OpenSetReading(Reading):
    """A reading with the fit behind it.

    Parameters
    ----------
    shares, replicates, roc, pooled, diagnostics, notices
        As in :class:`~unseen.proportions.base.Reading`.
    fit : OpenSetFit
        Shares under both hypotheses.
    """

    fit: OpenSetFit = None  # type: ignore[assignment]

    @property
    def expected(self) -> FloatArray:
        """Shares on average over both hypotheses, where ``shares`` takes a side."""
        return self.fit.expected


class OpenSetEstimator(ProportionEstimator):
    """Shares of the known classes and of unseen ones, by averaging a closed and an open model.

    As sharp as closed-set EM where nothing is unseen, and able to find the unseen where there is
    something. One known class is enough.

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
        "n_folds": [None, Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        prior_closed: float | None = None,
        classifier: Any = None,
        n_folds: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.prior_closed = prior_closed
        self.classifier = classifier
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def scorer(self, seed: int) -> OpenScorer:
        """Makes posteriors, density ratios and distances."""
        return OpenScorer(self.classifier, self.n_folds, seed, self.n_jobs)

    def read(self, scores: OpenScores) -> OpenSetReading:
        """Weigh "nothing is unseen" against "something is".

        ``probability_unseen`` and ``bayes_factor``, of the second against the first, are among the
        diagnostics.
        """
        prior = self.prior_closed
        if prior is None:
            prior = _PRIOR_CLOSED_ONE if len(scores.classes) == 1 else _PRIOR_CLOSED_MORE
        with one_blas_thread():  # or rounding would depend on the number of cores
            fit = open_set_fit(scores, float(prior))
        shares = fit.shares
        # The ROC of the candidate of least log-loss, at the shares of the answer.
        mixture, best = np.maximum(shares[:-1], _MIN_SHARE), scores.ratios.best
        ratios = ratios_at_shares(scores, mixture / mixture.sum())
        weight = (mixture / scores.counts)[scores.codes]
        pair = ratios.new[:, best], ratios.labelled[:, best]
        pooled = scored_evidence(*pair, 1 - float(shares[-1]), weight)
        return OpenSetReading(
            shares=shares,
            replicates=partial(_posterior_draws, scores, fit),
            roc={scores.classes[0]: pooled} if len(scores.classes) == 1 else {},
            pooled=pooled,
            diagnostics={
                "probability_unseen": fit.posterior.probability_open,
                "bayes_factor": fit.posterior.bayes_factor,
            },
            fit=fit,
        )


def open_set_fit(
    scores: OpenScores, prior_closed: float, n_rounds: int = 3, small_share: float = SMALL_SHARE
) -> OpenSetFit:
    """Evidence at the closed-set shares, then rounds of placement and EM for the open ones.

    Parameters
    ----------
    scores : OpenScores
    prior_closed : float
        Prior probability that nothing is unseen.
    n_rounds : int, default=3
        Rounds of placement and EM; none keeps the closed shares among the known classes.
    small_share : float, default=0.03
        Scale of the prior of the unseen share where there are several known classes, see
        :func:`~unseen.roc.pooled.share_density`; inf is a uniform prior.

    Returns
    -------
    OpenSetFit
    """
    posteriors = scores.posteriors
    prior = prior_closed, np.inf if posteriors is None else small_share
    posterior, known = _posterior_at_shares(scores, scores.closed, *prior)
    evidence, mixture = posterior.log_bayes_factor, scores.closed
    for _ in range(n_rounds if posteriors is not None else 0):
        # EM over rows that count as far as they belong to a known class.
        weights = (known / known.sum())[None]
        mixture = mixture_shares(posteriors.ratios, weights, start=scores.mixture)[0]  # type: ignore[union-attr]
        posterior, known = _posterior_at_shares(scores, mixture, *prior)
    return OpenSetFit(scores.closed, mixture, replace(posterior, log_bayes_factor=evidence), known)


def _posterior_at_shares(
    scores: OpenScores, mixture: FloatArray, prior_closed: float, small_share: float
) -> tuple[PlacementPosterior, FloatArray]:
    """Posterior of nu, and probability of each new row to be known, at these shares."""
    mixture = np.maximum(mixture, _MIN_SHARE)
    weight = (mixture / scores.counts)[scores.codes]
    candidates = Candidates.from_ratios(ratios_at_shares(scores, mixture))
    cells = candidates.cells(weight)
    posterior = placement_posterior(cells, candidates.log_prior, prior_closed, small_share)
    known = np.take_along_axis(posterior.known, cells.place, axis=1).sum(axis=0)
    return posterior, np.clip(known, _MIN_RATIO, 1.0)


def _posterior_draws(
    scores: OpenScores, fit: OpenSetFit, n_draws: int, random_state: Any = None
) -> FloatArray:
    """Draws of the shares, (B, K + 1): nu from its posterior, the known shares by bootstrap."""
    rng = generator(scores.seed if random_state is None else random_state)
    nu = fit.posterior.quantile(rng.random(n_draws))
    is_open = nu < 1
    middle = fit.posterior.open_quantile(0.5)
    nu[is_open] = np.clip(middle + _SCORE_NOISE * (nu[is_open] - middle), 0.0, 1.0)
    mixture, posteriors = np.ones((n_draws, len(scores.classes))), scores.posteriors
    if posteriors is not None:
        n_open = int(is_open.sum())
        with one_blas_thread():
            if n_open < n_draws:
                mixture[~is_open] = em_replicates(posteriors, fit.closed, n_draws - n_open, rng)
            if n_open:
                mixture[is_open] = em_replicates(
                    posteriors, fit.known_mixture, n_open, rng, fit.known
                )
    return np.column_stack([nu[:, None] * mixture, 1 - nu])
