"""Placement likelihood: a posterior of ν from where the rows of F stand among those of H.

Let ``F = (1 - ν) G + ν H``, Eq. (3), and let a score order the rows, high where a row looks like
F. The placement value of a row is the false alarm at its score, ``α = H(score > s)``. Among rows
of H it is uniform; among rows of F its density is the slope of the ROC,

    f'(α) = (1 - γ) g'(α) + γ,

with g the ROC of G against H. So ROC models are densities, and γ has a likelihood.

H is known by a sample only, and a likelihood of placement values that takes the sample for H is too
sure of itself. So it is taken of the labels of both samples, given their pooled order
(:mod:`unseen.roc.pooled`): ranks are binned into equal cells, so that any number of rows costs the
same, and so that the ROC as counts (:class:`~unseen.roc.sketch.RocSketch`) is all that is needed.
What is not H is taken to be visible at least a little, or else nothing could be said where F and H
look alike. ν is the slope of f at the right end, and γ is uniform a priori.

**Candidates.** Which score? Each candidate (:mod:`unseen.mixture.candidates`) has a likelihood of
the same labels and a prior weight q_c. Its Bayes factor B_c, of "F holds something besides H"
against "F is H", where η = r, adds to

    B = sum_c q_c B_c,

and the posterior of ν mixes those of the candidates with weights ``q_c B_c^(1/3)``: their scores
come from the same rows, so that their evidence is not counted in full.

**Spike.** "F is H" is one point, ν = 1, and has a prior weight of its own. The estimate is the
posterior median, which has the least expected absolute error.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from unseen._random import generator
from unseen._sklearn import Interval
from unseen._types import FloatArray
from unseen.mixture.base import MixtureEstimator, clipped_estimate
from unseen.mixture.candidates import Candidates
from unseen.records import MixtureEstimate
from unseen.roc.pooled import PooledCells, fitted_lattice, spread_cells
from unseen.roc.sketch import RocSketch
from unseen.scores.crossfit import cross_fitter

__all__ = ["Placement", "PlacementPosterior", "placement_posterior"]

_LEAST_RATE = 1e-9
_LARGEST_LOG = 690.0


@dataclass(frozen=True, eq=False)
class PlacementPosterior:
    """Posterior of the share ν of H in F.

    Parameters
    ----------
    share : ndarray of shape (L,)
        ν at the points of the lattice, rising.
    probability : ndarray of shape (L,)
        Posterior probability of the points, given that F holds something besides H; sums to 1.
    log_bayes_factor : float
        Logarithm of the Bayes factor for "F holds something besides H" against "F is H".
    spike : float
        Prior probability of "F is H".
    known : ndarray of shape (C, cells)
        Probability that a row of F in this cell belongs to H, given the same; each row is
        weighted by the probability of the candidate, so that they add up over candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.mixture.placement import PlacementPosterior
    >>> share, half = np.array([0.2, 0.4]), np.array([0.5, 0.5])
    >>> even = PlacementPosterior(share, half, 0.0, spike=0.5, known=np.ones((1, 1)))
    >>> even.probability_open, even.quantile(0.25).round(3), even.quantile(0.5)
    (0.5, np.float64(0.3), np.float64(1.0))
    """

    share: FloatArray
    probability: FloatArray
    log_bayes_factor: float
    spike: float
    known: FloatArray

    @property
    def bayes_factor(self) -> float:
        """Bayes factor for "F holds something besides H"."""
        return float(np.exp(min(self.log_bayes_factor, _LARGEST_LOG)))

    @property
    def probability_open(self) -> float:
        """Posterior probability that F holds something besides H."""
        if self.spike in (0.0, 1.0):
            return 1.0 - self.spike
        log_odds = np.log1p(-self.spike) - np.log(self.spike) + self.log_bayes_factor
        return float(1 / (1 + np.exp(-np.clip(log_odds, -_LARGEST_LOG, _LARGEST_LOG))))

    def quantile(self, level: ArrayLike) -> FloatArray:
        """Quantiles of ν, the spike at 1 included."""
        mixed = self.probability_open
        levels = np.asarray(level, dtype=float)
        inner = self.open_quantile(np.minimum(levels / max(mixed, _LEAST_RATE), 1.0))
        return np.where(levels < mixed, inner, 1.0)[()]

    def open_quantile(self, level: ArrayLike) -> FloatArray:
        """Quantiles of ν given that F holds something besides H."""
        middle = np.cumsum(self.probability) - self.probability / 2
        return np.interp(np.asarray(level, dtype=float), middle, self.share)

    def draws(self, n_draws: int, random_state: Any = None) -> FloatArray:
        """Draws of ν, the spike at 1 included."""
        return self.quantile(generator(random_state).random(n_draws))


class Placement(MixtureEstimator):
    """Estimate ν by the posterior median of the placement likelihood.

    Parameters
    ----------
    spike : float, default=0.02
        Prior probability that F is H, ν = 1. It is small: who asks how much of F is H has
        reason to expect something else in it.
    classifier : scikit-learn classifier or None, default=None
        What tells F from H; None is kernel logistic regression, averaged over its candidates.
    n_folds : int, default=10
        Folds of the out-of-fold scores.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.mixture.placement import Placement
    >>> rng = np.random.default_rng(0)
    >>> scores_H = rng.normal(0, 1, 2000)
    >>> scores_F = np.concatenate([rng.normal(0, 1, 600), rng.normal(2, 1, 1400)])
    >>> estimate = Placement().from_scores(scores_F, scores_H)
    >>> abs(estimate.proportion - 0.3) < 0.03
    True
    >>> lower, upper = Placement().posterior(scores_F, scores_H).quantile([0.025, 0.975])
    >>> bool(lower < 0.3 < upper)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MixtureEstimator._parameter_constraints,
        "spike": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        spike: float = 0.02,
        classifier: Any = None,
        n_folds: int = 10,
        random_state: Any = None,
    ) -> None:
        super().__init__(classifier, n_folds, random_state)
        self.spike = spike

    def posterior(self, scores_F: ArrayLike, scores_H: ArrayLike) -> PlacementPosterior:
        """Posterior of ν from out-of-fold scores; needs no ``fit``.

        Parameters
        ----------
        scores_F, scores_H : array-like of shape (n_new,) and (n_labelled,)
            Out-of-fold scores, high where a row looks like F.

        Returns
        -------
        PlacementPosterior
        """
        return self._posterior(RocSketch.from_scores(scores_F, scores_H))

    def from_sketch(self, sketch: RocSketch) -> MixtureEstimate:
        """Estimate from the counts behind a ROC; needs no ``fit``.

        Parameters
        ----------
        sketch : RocSketch

        Returns
        -------
        MixtureEstimate
            With the 95% limits, and the probability that F holds something besides H, in
            ``roc.parameters``.
        """
        return _estimate(sketch, self._posterior(sketch))

    def replicates(
        self, sketch: RocSketch, n_replicates: int = 1000, random_state: Any = None
    ) -> FloatArray:
        """Draws of ν from its posterior.

        Parameters
        ----------
        sketch : RocSketch
        n_replicates : int, default=1000
        random_state : int, RandomState, Generator or None, default=None
            Seed of the draws; None is the seed of the estimator.

        Returns
        -------
        ndarray of shape (n_replicates,)
        """
        seed = self.random_state if random_state is None else random_state
        return self._posterior(sketch).draws(n_replicates, seed)

    def _posterior(self, sketch: RocSketch) -> PlacementPosterior:
        self._validate_params()
        labelled, new = sketch.increments()
        F, H = spread_cells(new.astype(float), labelled.astype(float))
        cells = PooledCells(F[None], H[None], np.zeros((1, 0), dtype=np.intp))
        return placement_posterior(cells, np.zeros(1), self.spike)

    def _from_rows(self, new: Any) -> MixtureEstimate:
        fitter = cross_fitter(self.classifier)
        rows = self.labelled_.rows
        scores = fitter.ratios(new, rows, None, None, self.n_folds, self.random_state)
        candidates = Candidates.from_ratios(scores)
        posterior = placement_posterior(candidates.cells(), candidates.log_prior, self.spike)
        best = scores.best
        sketch = RocSketch.from_scores(scores.new[:, best], scores.labelled[:, best])
        return _estimate(sketch, posterior)


def _estimate(sketch: RocSketch, posterior: PlacementPosterior) -> MixtureEstimate:
    lower, median, upper = posterior.quantile([0.025, 0.5, 0.975])
    found = {
        "lower": float(lower),
        "upper": float(upper),
        "probability_open": posterior.probability_open,
    }
    return clipped_estimate("Placement", sketch, float(median), found)


def placement_posterior(
    cells: PooledCells, log_prior: FloatArray, spike: float, small_share: float = np.inf
) -> PlacementPosterior:
    """Sum the likelihood over candidates, curves and γ.

    Parameters
    ----------
    cells : PooledCells
    log_prior : ndarray of shape (C,)
        Log prior weights of the candidates.
    spike : float
        Prior probability that F is H.
    small_share : float, default=inf
        Share of what is not H from which on its prior falls, see
        :func:`~unseen.roc.pooled.share_density`; inf is a uniform prior.

    Returns
    -------
    PlacementPosterior
    """
    lattice = fitted_lattice(cells, log_prior, small_share)
    log_bayes_factor, weight = lattice.weights(cells, log_prior)
    order = np.argsort(lattice.slope, kind="stable")
    return PlacementPosterior(
        lattice.slope[order],
        weight.sum(axis=0)[order],
        log_bayes_factor,
        float(spike),
        weight @ lattice.known(),
    )
