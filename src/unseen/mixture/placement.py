"""Placement likelihood: a posterior of ν from the places of the rows of F among those of H.

The slope of the ROC is the density of the placement values of F among H, so that ν has a likelihood
(:mod:`unseen.roc.pooled`). The posterior is summed over several candidate scores, with a prior mass
on "F is H". docs/theory.md, "The likelihood of a ROC", derives it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from unseen._arrays import chosen_arrays, kept_there
from unseen._frozen import Frozen
from unseen._random import generator
from unseen._sklearn import Interval
from unseen._team import row_blocks
from unseen._types import Array, FloatArray, IntArray
from unseen.mixture.base import MixtureEstimator, clipped_estimate
from unseen.mixture.detection import Missed
from unseen.records import MixtureEstimate
from unseen.roc.pooled import (
    N_CELLS,
    PooledCells,
    WeighedLattice,
    fitted_lattice,
    log_sums,
    spread_cells,
)
from unseen.roc.sketch import RocSketch
from unseen.samples import Clusters, design_effect, effective_number
from unseen.scores.base import NEGLIGIBLE, RatioScores
from unseen.scores.crossfit import cross_fitter

# Half of the prior weight is with distances, which find few unseen rows where no discriminator can
# be learnt from them; evenly, as distances have no loss.
_DISTANCE_WEIGHT = 0.5
_MOST_MASS = 2.0
_ROUNDING = 1e-6
_LEAST_RATE = 1e-9
LARGEST_LOG = 690.0
_VALUES = 50_000  # scores that are put in order at a time
# The posterior takes the scores as they are; with other training rows they would be others. By
# this factor draws lie further from their median. Chosen on development data.
_SCORE_NOISE = 1.2
# A part of the unseen rows may look known, which no curve shows: this much of u (1 - u). Chosen on
# development data.
_LOOKS_KNOWN = 0.1
# Scale of the prior of the share of F that is not H. Chosen on development data.
SMALL_REST = 0.3


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate scores, high where a row looks like F, and their prior weights."""

    new: FloatArray  # (n_F, C), one column for every candidate
    labelled: FloatArray  # (n_H, C)
    log_prior: FloatArray  # (C,); -inf for candidates that cannot matter
    clusters: Clusters | None = None  # rows that count as draws of one row
    odds_step: float = 0.0  # see RatioScores

    @classmethod
    def from_ratios(cls, scores: RatioScores) -> Candidates:
        """The discriminators, and the distances where there are any."""
        log_prior = scores.log_weight
        log_prior[log_prior < np.log(NEGLIGIBLE)] = -np.inf
        log_prior -= log_sums(log_prior)
        far, counted = scores.distances, (scores.clusters, scores.odds_step)
        if far is None:
            return cls(scores.new, scores.labelled, log_prior, *counted)
        n_far = far.labelled.shape[1]
        new, labelled = (
            chosen_arrays().xp.column_stack([kept_there(scores, sample), kept_there(far, sample)])
            for sample in ("new", "labelled")
        )
        of_far = np.full(n_far, np.log(_DISTANCE_WEIGHT / n_far))
        log_prior = np.append(log_prior + np.log1p(-_DISTANCE_WEIGHT), of_far)
        return cls(new, labelled, log_prior, *counted)

    def cells(self, weight: FloatArray | None = None) -> PooledCells:
        """Cells of every candidate; those that cannot matter are left empty.

        The mass of weighted rows of H is their effective number, ``(sum w)^2 / sum w^2``, or less,
        so that none counts as more than two. Rows of one cluster are one row. Rows of groups count
        less by the design effect of their places in the order of the scores.
        """
        weights = np.ones(len(self.labelled)) if weight is None else weight
        n_new, clusters = len(self.new), self.clusters
        distinct, part = weights, 1.0
        if clusters is not None and not clusters.distinct:
            distinct = np.bincount(clusters.labelled, weights).astype(float)
            part = effective_number(np.ones(n_new), clusters.new) / n_new
        # The effective number is right for means over all rows; where the few rows of one class
        # have most of the weight, it would take each of them for many.
        scale = min(weights.sum() / np.square(distinct).sum(), _MOST_MASS / distinct.max())
        if self.odds_step:
            # A little less of H brings the log-odds of F to a multiple of the step.
            steps = np.log(part * n_new / (scale * weights.sum())) / self.odds_step
            scale *= float(np.exp(self.odds_step * (steps - np.ceil(steps - _ROUNDING))))
        masses = weights * scale, np.full(n_new, part)
        used, arrays = np.flatnonzero(np.isfinite(self.log_prior)), chosen_arrays()
        # Several candidates at a time, where rows are few.
        at_once = max(1, _VALUES // (n_new + len(weights)))
        parts = [used[some] for some in row_blocks(len(used), at_once)]
        found = arrays.side_by_side(partial(self._cells_of, masses), parts)
        new, labelled = np.zeros((2, len(self.log_prior), N_CELLS))
        place = arrays.zeros((len(self.log_prior), n_new), np.uint8)
        for columns, one in zip(parts, found, strict=True):
            labelled[columns], new[columns], place[columns] = one
        return PooledCells(new, labelled, place)

    def _cells_of(
        self, masses: tuple[FloatArray, FloatArray], columns: IntArray
    ) -> tuple[FloatArray, FloatArray, Array]:
        """Mass of H and of F in the cells of some candidates, and the cell of each row of F."""
        arrays, n_new = chosen_arrays(), len(self.new)
        scores = arrays.joined([self.new[:, columns], self.labelled[:, columns]])
        step = arrays.ranks(-scores.T)
        shape = len(columns), step.shape[1]
        # Steps are counted on from one candidate to the next.
        flat = step + arrays.put(shape[1] * np.arange(shape[0])[:, None])
        grouped, found = None if self.clusters is None else self.clusters.groups, []
        for sample, rows in enumerate((slice(n_new, None), slice(n_new))):
            mass = arrays.joined([arrays.put(masses[sample])] * shape[0])
            total = arrays.xp.bincount(flat[:, rows].ravel(), mass, minlength=shape[0] * shape[1])
            total = total.reshape(shape)
            if grouped is not None:
                own = masses[sample], grouped[sample]
                effects = [design_effect(one, *own) for one in arrays.host(step[:, rows])]
                total = total / arrays.put(np.array(effects)[:, None])
            found.append(total)
        H, F = found
        # The cell in which the middle of a step lies, for each row of F.
        pooled = F + H
        middle = (pooled.cumsum(1) - pooled / 2) / pooled.sum(1)[:, None]
        cell = arrays.put((middle * N_CELLS).clip(max=N_CELLS - 1), np.uint8)
        new, labelled = spread_cells(F, H)
        return labelled, new, cell.ravel()[flat[:, :n_new]]


@dataclass(frozen=True, eq=False)
class PlacementPosterior(Frozen):
    """Posterior of the share ν of H in F; "open" means that F holds something besides H."""

    share: FloatArray  # (L,): ν at the points of the lattice, rising
    probability: FloatArray  # (L,): posterior of the points if open; sums to 1
    log_bayes_factor: float  # for "open" against "F is H"
    prior_closed: float  # prior probability of "F is H"
    # (C, cells): probability that a row of F in this cell belongs to H if open, times the
    # probability of the candidate; sum over candidates.
    known: FloatArray
    # How many times over the classes behind H would account for F; above 1 a part of what is not H
    # looks as if it were, and intervals reach further up.
    overlap: float = 1.0
    # What intervals take for the share of F that is not H where the rows look as if F were H.
    missed: Missed = field(default_factory=Missed)

    @property
    def probability_open(self) -> float:
        """Posterior probability that F holds something besides H."""
        if self.prior_closed in (0.0, 1.0):
            return 1.0 - self.prior_closed
        log_odds = np.log1p(-self.prior_closed) - np.log(self.prior_closed) + self.log_bayes_factor
        return float(1 / (1 + np.exp(-np.clip(log_odds, -LARGEST_LOG, LARGEST_LOG))))

    def quantile(self, level: ArrayLike) -> FloatArray:
        """Quantiles of ν, the prior_closed at 1 included."""
        mixed = self.probability_open
        levels = np.asarray(level, dtype=float)
        inner = self.open_quantile(np.minimum(levels / max(mixed, _LEAST_RATE), 1.0))
        return np.where(levels < mixed, inner, 1.0)[()]

    def open_quantile(self, level: ArrayLike) -> FloatArray:
        """Quantiles of ν given that F holds something besides H."""
        middle = np.cumsum(self.probability) - self.probability / 2
        return np.interp(np.asarray(level, dtype=float), middle, self.share)


def for_intervals(posterior: PlacementPosterior) -> PlacementPosterior:
    """What intervals are made from: even odds at least, wider than the posterior, upwards more.

    A prior that favours "F is H" is a rule of caution for the estimate. Taken for knowledge, it
    would make intervals of what was not found shorter than the data allow.
    """
    prior, u = posterior.prior_closed, 1 - posterior.share
    middle = 1 - posterior.open_quantile(0.5)
    u = np.clip(middle + _SCORE_NOISE * (u - middle), 0.0, 1.0)
    higher = u + _LOOKS_KNOWN * u * (1 - u)
    # Where the same rows would do for several classes, what is unseen may be so many times as much.
    higher *= posterior.overlap / (1 + (posterior.overlap - 1) * higher)
    u = np.where(u > middle, higher, u)
    even = prior if prior == 1 else min(prior, 0.5)
    return replace(posterior, share=1 - u, prior_closed=even)


@dataclass(eq=False, repr=False)
class Placement(MixtureEstimator):
    """Estimate ν by the posterior median of the placement likelihood.

    Parameters
    ----------
    prior_closed : float, default=0.02
        Prior probability that F is H, ν = 1. It is small, because whoever asks how much of F is H
        expects something else in F.
    classifier, n_folds, random_state
        The classifier that tells F from H, its folds and its seed; None averages over
        the candidates of kernel logistic regression. See
        :class:`~unseen.mixture.base.MixtureEstimator`.

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

    prior_closed: float = 0.02
    classifier: Any = None
    n_folds: int = 10
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MixtureEstimator._parameter_constraints,
        "prior_closed": [Interval(Real, 0, 1, closed="both")],
    }

    def posterior(self, scores_F: ArrayLike, scores_H: ArrayLike) -> PlacementPosterior:
        """Posterior of ν from out-of-fold scores; see :meth:`from_scores`. Needs no ``fit``."""
        return self._posterior(RocSketch.from_scores(scores_F, scores_H))

    def from_sketch(self, sketch: RocSketch) -> MixtureEstimate:
        """Estimate from the counts behind a ROC; needs no ``fit``.

        The 95% limits, and the probability that F holds something besides H, are in
        ``roc.parameters``.
        """
        return _estimate(sketch, self._posterior(sketch))

    def replicates(
        self, sketch: RocSketch, n_replicates: int = 1000, random_state: Any = None
    ) -> FloatArray:
        """Draws of ν from its posterior; ``random_state=None`` takes the seed of the estimator."""
        seed = self.random_state if random_state is None else random_state
        return self._posterior(sketch).quantile(generator(seed).random(n_replicates))

    def _posterior(self, sketch: RocSketch) -> PlacementPosterior:
        self._validate_params()
        labelled, new = sketch.increments()
        F, H = spread_cells(new[None].astype(float), labelled[None].astype(float))
        cells = PooledCells(F, H, np.zeros((1, 0), dtype=np.intp))
        return placement_posterior(
            fitted_lattice(cells, np.zeros(1), SMALL_REST), self.prior_closed
        )

    def _from_rows(self, new: Any) -> MixtureEstimate:
        fitter = cross_fitter(self.classifier)
        rows = self.labelled_.rows
        scores = fitter.ratios(new, rows, None, None, self.n_folds, self.random_state)
        candidates = Candidates.from_ratios(scores)
        weighed = fitted_lattice(candidates.cells(), candidates.log_prior, SMALL_REST)
        posterior = placement_posterior(weighed, self.prior_closed)
        best = scores.best
        sketch = RocSketch.from_scores(scores.new[:, best], scores.labelled[:, best])
        return _estimate(sketch, posterior)


def _estimate(sketch: RocSketch, posterior: PlacementPosterior) -> MixtureEstimate:
    lower, median, upper = posterior.quantile([0.025, 0.5, 0.975])
    found = {"lower": float(lower), "upper": float(upper)}
    found["probability_open"] = posterior.probability_open
    return clipped_estimate("Placement", sketch, float(median), found)


def placement_posterior(weighed: WeighedLattice, prior_closed: float) -> PlacementPosterior:
    """The posterior that a weighed lattice gives; ``prior_closed`` is the prior of "F is H"."""
    lattice, weight = weighed.lattice, weighed.weight
    order = np.argsort(lattice.slope, kind="stable")
    return PlacementPosterior(
        lattice.slope[order],
        weight.sum(axis=0)[order],
        weighed.log_bayes_factor,
        float(prior_closed),
        weight @ lattice.known,
    )
