"""The default: closed-set EM where nothing is unseen, and the placement likelihood where it is.

A closed-set method is sharp and blind; an open one sees the unseen and pays for looking. Which to
trust is a question that the data can answer. Two hypotheses have prior weights,

    closed   P_0 = sum_i rho_i P_i                                  weight ``spike``
    open     P_0 = nu sum_i rho_i P_i + (1 - nu) P_unseen           weight ``1 - spike``

and everything is read off three sets of scores: the posteriors p_i of a classifier of the known
classes and the log density ratios s of the new rows against all labelled rows together, both out of
fold, and the distances of all rows to the nearest labelled ones.

**Closed.** EM on the posteriors (:class:`~unseen.SaerensEM`) gives the shares rho_0. With the rows
of class i weighted by ``rho_0i / n_i`` the labelled rows are a sample of the mixture H that the new
rows are a sample of, if nothing is unseen: whether that is so is a two-sample problem.

**Evidence.** The placement likelihood (:mod:`unseen.mixture.placement`) of the new rows among the
weighted labelled rows has a Bayes factor for "something is unseen", averaged over discriminators
and distances (:mod:`unseen.mixture.candidates`). Each one's factor has expectation 1 where nothing
is unseen, and so is rarely large by chance; the average over them nearly so, as discriminators are
weighted by a log-loss of the same rows.

**Open.** With other shares rho the mixture H changes, and no new discriminator is needed:

    s_rho = s + log sum_i rho_0i p_i / prior_i - log sum_i rho_i p_i / prior_i.

Distances order the rows as before; only the weights of the labelled rows change. The placement
posterior at rho says of each new row with what probability it belongs to a known class, and EM on
rows weighted so gives the next rho. A few rounds settle it.

**Both.** nu is the posterior median with the spike at nu = 1 in it, the answer of least expected
absolute error, and ``pi = nu ((1 - P) rho_0 + P rho)``, P the probability of anything unseen.

**The prior.** With one known class "nothing is unseen" has one possible answer, 1, and nobody who
expects that asks. With several it is what closed-set methods take for granted, mostly rightly. So
the prior weight is 0.02 for one class and 0.9 for more. If something is unseen, its share u is
uniform with one known class. With several, unseen rows are what all those classes left over, and u
has the density ``~ 1 / (u + 0.03)``: from a few percent on, all orders of magnitude are alike.

Draws from the posterior mix closed ones (bootstrap of EM) and open ones (nu from its posterior, a
little widened, rho from a bootstrap of the weighted EM) in proportion to P. :class:`Credible` makes
intervals of them.

What is assumed: classes keep their distributions, and only shares change; the unseen rows hold no
hidden share of a known class, condition (A); and a discriminator can tell them from the known
classes at least a little (binormal Δ >= 0.6, an AUC of 0.66; 1 and 0.76 with many rows). The ROC
of unseen rows against known ones is taken to be nearly binormal with equal spreads: where unseen
rows are a much tighter cluster inside the known ones, the share is off by more than intervals say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from unseen._random import generator, one_blas_thread, whole_seed
from unseen._sklearn import HasMethods, Interval
from unseen._types import FloatArray
from unseen.intervals import Credible, IntervalMethod
from unseen.mixture.candidates import Candidates
from unseen.mixture.placement import PlacementPosterior, placement_posterior
from unseen.proportions.base import ProportionEstimator
from unseen.proportions.closed_set.em import SaerensEM, labelled_noise
from unseen.proportions.closed_set.matching import EXACT_ROWS
from unseen.proportions.closed_set.posteriors import Posteriors
from unseen.proportions.open_set.scores import (
    OpenSetScores,
    closed_shares,
    moved_ratios,
    open_set_scores,
)
from unseen.records import Estimate, RocEvidence
from unseen.roc.evidence import pooled_evidence
from unseen.samples.checks import check_folds, check_new, remarks
from unseen.scores.posteriors import crossfit_posteriors
from unseen.simplex import mixture_shares

__all__ = ["OpenSetEstimator", "OpenSetFit", "open_set_fit"]

_SPIKE_ONE, _SPIKE_MORE = 0.02, 0.9
SMALL_SHARE = 0.03
FOLDS, _FOLDS_FEW, _MANY_ROWS = 10, 5, 5_000
_LEAST_RATIO = 1e-12
_LEAST_SHARE = 1e-6
_BLOCK_SIZE = 2_000_000
# The posterior takes the scores as they are; with other training rows they would be others. By
# this factor draws of nu lie further from their median. Chosen on development data.
_SCORE_NOISE = 1.2


@dataclass(frozen=True, eq=False)
class OpenSetFit:
    """What the scores say: shares under both hypotheses, and which to believe.

    Parameters
    ----------
    closed : ndarray of shape (K,)
        Shares of the known classes if nothing is unseen.
    among_known : ndarray of shape (K,)
        Shares among the rows of known classes if something is unseen.
    posterior : PlacementPosterior
        Posterior of the share nu of all known classes together.
    known : ndarray of shape (m,)
        Probability of each new row to belong to a known class, if something is unseen.
    """

    closed: FloatArray
    among_known: FloatArray
    posterior: PlacementPosterior
    known: FloatArray

    @property
    def shares(self) -> FloatArray:
        """Share of each known class, then of unseen ones."""
        nu, unseen = float(self.posterior.quantile(0.5)), self.posterior.probability_mixed
        mixed = (1 - unseen) * self.closed + unseen * self.among_known
        return np.append(nu * mixed / mixed.sum(), 1 - nu)

    @property
    def expected(self) -> FloatArray:
        """Mean of what the two hypotheses say: share of each known class, then of unseen ones."""
        nu, unseen = float(self.posterior.mixed_quantile(0.5)), self.posterior.probability_mixed
        known = (1 - unseen) * self.closed + unseen * nu * self.among_known
        return np.append(known, 1 - known.sum())


class OpenSetEstimator(ProportionEstimator):
    """Shares of the known classes and of unseen ones, by averaging a closed and an open model.

    As sharp as closed-set EM where nothing is unseen, and it finds the unseen where there is
    something. One known class is enough.

    Parameters
    ----------
    spike : float or None, default=None
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

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels of the known classes.
    labelled_ : LabelledRows
        The labelled sample.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.proportions.open_set.estimator import OpenSetEstimator
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

    _default_interval: ClassVar[IntervalMethod] = Credible()

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "spike": [None, Interval(Real, 0, 1, closed="both")],
        "classifier": [None, HasMethods(["fit", "get_params"])],
        "n_folds": [None, Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        spike: float | None = None,
        classifier: Any = None,
        n_folds: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.spike = spike
        self.classifier = classifier
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def scores(self, X_new: ArrayLike) -> OpenSetScores:
        """Posteriors of the known classes, and density ratios of the new rows, out of fold.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n_features)
            New rows, with the columns of X.

        Returns
        -------
        OpenSetScores
        """
        check_is_fitted(self)
        rows = check_new(self, X_new)
        sample = self.labelled_
        n_folds = self._n_folds(len(sample.codes) + rows.shape[0])
        check_folds(sample, rows.shape[0], n_folds)
        odd = remarks(self, sample.rows, rows, given=X_new)
        seed = whole_seed(self.random_state)
        run: dict[str, Any] = {"n_folds": n_folds, "random_state": seed, "n_jobs": self.n_jobs}
        classes = tuple(self.classes_.tolist())
        posteriors = None
        if len(classes) > 1:
            found = crossfit_posteriors(sample.rows, sample.codes, rows, self.classifier, **run)
            posteriors = Posteriors(classes, sample.codes, *found, seed)
        scores = open_set_scores(
            classes, sample.rows, sample.codes, rows, posteriors, self.classifier, **run
        )
        return replace(scores, notices=odd)

    def from_scores(self, scores: OpenSetScores) -> Estimate:
        """Read the shares off scores that have been made before; needs no ``fit``.

        Parameters
        ----------
        scores : OpenSetScores

        Returns
        -------
        Estimate
            With ``probability_unseen`` and ``bayes_factor``, of "something is unseen" against
            "nothing is", among the diagnostics.
        """
        self._validate_params()
        fit = _fit_once(scores, self._spike(scores))
        shares, pooled = fit.shares, _pooled(scores, fit)
        return Estimate(
            classes=scores.classes,
            proportions=shares[:-1],
            unseen=float(shares[-1]),
            method=type(self).__name__,
            n_labelled=scores.n_labelled,
            n_new=scores.n_new,
            roc={scores.classes[0]: pooled} if len(scores.classes) == 1 else {},
            pooled=pooled,
            diagnostics={
                "probability_unseen": fit.posterior.probability_mixed,
                "bayes_factor": fit.posterior.bayes_factor,
            },
            notices=scores.notices,
            seed=scores.seed,
        )

    def expected_shares(self, scores: OpenSetScores) -> FloatArray:
        """Shares on average over both hypotheses, where ``from_scores`` takes a side.

        For what is linear in the shares, such as a risk, they count as one sure answer would.

        Parameters
        ----------
        scores : OpenSetScores

        Returns
        -------
        ndarray of shape (K + 1,)
            Share of each known class, then of unseen ones.
        """
        self._validate_params()
        return _fit_once(scores, self._spike(scores)).expected

    def replicates(
        self, scores: OpenSetScores, n_replicates: int = 500, random_state: Any = None
    ) -> FloatArray:
        """Draws of the shares from their posterior; nothing is refitted.

        Parameters
        ----------
        scores : OpenSetScores
        n_replicates : int, default=500
            Number of draws, B.
        random_state : int, RandomState, Generator or None, default=None
            Where all randomness comes from; None is the seed of the scores.

        Returns
        -------
        ndarray of shape (B, K + 1)
            Share of each known class, then of unseen ones.
        """
        self._validate_params()
        rng = generator(scores.seed if random_state is None else random_state)
        fit = _fit_once(scores, self._spike(scores))
        nu = fit.posterior.draws(n_replicates, rng)
        unseen = nu < 1
        middle = fit.posterior.mixed_quantile(0.5)
        nu[unseen] = np.clip(middle + _SCORE_NOISE * (nu[unseen] - middle), 0.0, 1.0)
        among = np.ones((n_replicates, len(scores.classes)))
        if scores.posteriors is not None:
            n_unseen = int(unseen.sum())
            with one_blas_thread():
                among[~unseen] = _closed_draws(scores.posteriors, n_replicates - n_unseen, rng)
                among[unseen] = _open_draws(scores.posteriors, fit, n_unseen, rng)
        return np.column_stack([nu[:, None] * among, 1 - nu])

    def _n_folds(self, n_rows: int) -> int:
        if self.n_folds is None:
            return _FOLDS_FEW if n_rows >= _MANY_ROWS else FOLDS
        return self.n_folds

    def _spike(self, scores: OpenSetScores) -> float:
        if self.spike is None:
            return _SPIKE_ONE if len(scores.classes) == 1 else _SPIKE_MORE
        return float(self.spike)


# Shares and intervals read the same fit; it goes when the scores go.
_FITS: WeakKeyDictionary[OpenSetScores, dict[float, OpenSetFit]] = WeakKeyDictionary()


def _fit_once(scores: OpenSetScores, spike: float) -> OpenSetFit:
    fits = _FITS.setdefault(scores, {})
    if spike not in fits:
        with one_blas_thread():  # or rounding would hang on the number of cores
            fits[spike] = open_set_fit(scores, spike)
    return fits[spike]


def open_set_fit(
    scores: OpenSetScores, spike: float, n_rounds: int = 3, small_share: float = SMALL_SHARE
) -> OpenSetFit:
    """Evidence at the closed-set shares, then rounds of placement and EM for the open ones.

    Parameters
    ----------
    scores : OpenSetScores
    spike : float
        Prior probability that nothing is unseen.
    n_rounds : int, default=3
        Rounds of placement and EM; none keeps the closed shares among the known classes.
    small_share : float, default=0.03
        Of the prior of the unseen share where there are several known classes, see
        :func:`~unseen.roc.pooled.share_density`; inf is a uniform prior.

    Returns
    -------
    OpenSetFit
    """
    prior = spike, np.inf if scores.posteriors is None else small_share
    closed = np.ones(1) if scores.posteriors is None else closed_shares(scores.posteriors)
    posterior, known = _placed(scores, closed, *prior)
    evidence, among = posterior.log_bayes_factor, closed
    for _ in range(n_rounds if scores.posteriors is not None else 0):
        among = _shares_among(scores, known)
        posterior, known = _placed(scores, among, *prior)
    return OpenSetFit(closed, among, replace(posterior, log_bayes_factor=evidence), known)


def _shares_among(scores: OpenSetScores, known: FloatArray) -> FloatArray:
    """EM over rows that count as far as they belong to a known class."""
    assert scores.posteriors is not None
    weights = (known / known.sum())[None]
    return mixture_shares(scores.posteriors.ratios, weights, start=scores.mixture)[0]


def _placed(
    scores: OpenSetScores, among: FloatArray, spike: float, small_share: float
) -> tuple[PlacementPosterior, FloatArray]:
    """Posterior of nu, and probability of each new row to be known, at these shares."""
    among = np.maximum(among, _LEAST_SHARE)
    weight = (among / scores.counts)[scores.codes]
    candidates = Candidates.of(moved_ratios(scores, among))
    cells = candidates.cells(weight)
    posterior = placement_posterior(cells, candidates.log_prior, spike, small_share)
    known = np.take_along_axis(posterior.known, cells.place, axis=1).sum(axis=0)
    return posterior, np.clip(known, _LEAST_RATIO, 1.0)


def _closed_draws(posteriors: Posteriors, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Bootstrap replicates of closed-set EM."""
    if n_draws == 0:
        return np.empty((0, len(posteriors.classes)))
    return SaerensEM().replicates(posteriors, n_draws, rng)[:, :-1]


def _open_draws(
    posteriors: Posteriors, fit: OpenSetFit, n_draws: int, rng: np.random.Generator
) -> FloatArray:
    """Bootstrap replicates of EM over the rows that look known.

    Of very many rows a part is enough: it errs on the side of wider intervals.
    """
    n_rows = len(fit.known)
    rows = rng.permutation(n_rows)[:EXACT_ROWS] if n_rows > EXACT_ROWS else np.arange(n_rows)
    ratios, known = posteriors.ratios[rows], fit.known[rows]
    noise = labelled_noise(posteriors, fit.among_known, n_draws, rng) if n_draws else np.empty(0)
    draws = np.empty((n_draws, len(posteriors.classes)))
    block = max(1, _BLOCK_SIZE // len(rows))
    for first in range(0, n_draws, block):
        part = slice(first, min(first + block, n_draws))
        weights = known * rng.standard_exponential((part.stop - first, len(rows)))
        weights /= weights.sum(axis=1, keepdims=True)
        draws[part] = mixture_shares(ratios, weights, noise[part], start=fit.among_known)
    return draws


def _pooled(scores: OpenSetScores, fit: OpenSetFit) -> RocEvidence:
    """The ROC of the candidate of least log-loss, at the shares of the answer."""
    *proportions, unseen = fit.shares
    among = np.maximum(proportions, _LEAST_SHARE)
    moved, best = moved_ratios(scores, among / among.sum()), scores.ratios.best
    weight = (among / scores.counts)[scores.codes]
    return pooled_evidence(moved.new[:, best], moved.labelled[:, best], weight, 1 - float(unseen))
