"""The default: closed-set EM if nothing is unseen, the placement likelihood if something is.

    closed   P_0 = sum_i rho_i P_i                                  prior ``prior_closed``
    open     P_0 = nu sum_i rho_i P_i + (1 - nu) P_unseen           prior ``1 - prior_closed``
    moved    the same, where every P_i may have moved (docs/drift.md)

A closed-set method is sharp and blind; an open one sees the unseen and pays for looking. The data
say which to trust, by the placement likelihood of the new rows among the labelled ones
(:mod:`unseen.mixture.placement`). docs/default.md derives the method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from unseen._arrays import chosen_arrays
from unseen._frozen import Frozen
from unseen._random import even_draws, generator
from unseen._sklearn import Interval
from unseen._team import own_threads
from unseen._types import FloatArray, Matrix
from unseen.drift import (
    Drift,
    MovedReading,
    ThreeHypotheses,
    drift_record,
    moved_reading,
    weigh_three,
)
from unseen.intervals import Credible, IntervalMethod
from unseen.mixture.detection import Missed, detection_limit, detection_power, missed_share
from unseen.mixture.placement import (
    SMALL_REST,
    Candidates,
    PlacementPosterior,
    for_intervals,
    placement_posterior,
)
from unseen.proportions.again import asked_again
from unseen.proportions.base import (
    CLASSIFIER_CONSTRAINTS,
    ProportionEstimator,
    Reading,
)
from unseen.proportions.bootstrap import em_replicates
from unseen.proportions.overlap import known_overlap, overlap_notices
from unseen.proportions.shrinking import shrunk_shares
from unseen.records import Estimate
from unseen.roc.pooled import CurveLattice, WeighedLattice, fitted_lattice
from unseen.roc.sketch import scored_evidence
from unseen.scores import OpenScorer, OpenScores
from unseen.scores.distances import hidden_from_posteriors
from unseen.scores.open import mixture_of_known, ratios_at_shares

PRIOR_CLOSED_ONE, PRIOR_CLOSED_MORE = 0.02, 0.9
SMALL_SHARE = 0.03
_MIN_RATIO = 1e-12
_MIN_SHARE = 1e-6
# Below this probability of open no sign of moved could make a difference worth its time.
_SURELY_CLOSED = 0.018
_TOO_FAR = 0.5
# What discriminators find of the new classes that only posteriors of known ones would tell apart.
_LEARNT = 0.75


@dataclass(frozen=True, eq=False)
class OpenSetFit(Frozen):
    """Shares under both hypotheses, and the evidence for each."""

    closed: FloatArray  # (K,): shares of the known classes if nothing is unseen
    known_mixture: FloatArray  # (K,): shares among the rows of known classes if something is
    posterior: PlacementPosterior  # of the share nu of all known classes together
    known: FloatArray  # (m,): probability of each new row to be known, if something is unseen

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
    """A reading with the fit behind it, and ``three`` where "moved" has a part in the shares."""

    fit: OpenSetFit = None  # type: ignore[assignment]
    three: ThreeHypotheses | None = None

    @property
    def expected(self) -> FloatArray:
        """Shares on average over the hypotheses, where ``shares`` takes a side."""
        return self.fit.expected if self.three is None else self.three.expected


@dataclass(eq=False, repr=False)
class OpenSetEstimator(ProportionEstimator):
    """Shares of the known classes and of unseen ones, by averaging three models.

    The estimator is as accurate as closed-set EM where nothing is unseen, and finds unseen classes
    where there are some. Known classes may have moved a little (``Estimate.drift``). One known
    class is enough.

    Parameters
    ----------
    prior_closed : float or None, default=None
        Prior probability that nothing is unseen; None is 0.02 for one known class and 0.9 for
        more.
    classifier : scikit-learn classifier or None, default=None
        The classifier that tells the known classes apart, and new rows from labelled ones; None is
        kernel logistic regression.
    n_folds : int or None, default=None
        Folds of the out-of-fold scores; None is 10, and 5 from 5,000 rows on, where a model loses
        little by the rows that a fold leaves out (``benchmarks/default.py folds``).
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.
    n_jobs : int or None, default=None
        Jobs that score at the same time; does not change the result.
    prior_moved : float or None, default=None
        Prior probability, if the new rows are no mixture of the known classes, that the known
        classes have moved (docs/drift.md); None is 0.42 for several known classes and 0.18 for
        one. 0 takes for granted that no class has moved.

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
    >>> estimate.diagnostics["probability_unseen"] > 0.95
    True
    """

    prior_closed: float | None = None
    classifier: Any = None
    n_folds: int | None = None
    random_state: Any = None
    n_jobs: int | None = None
    prior_moved: float | None = None

    reads = OpenScores

    _default_interval: ClassVar[IntervalMethod] = Credible()

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CLASSIFIER_CONSTRAINTS,
        "prior_closed": [None, Interval(Real, 0, 1, closed="both")],
        "prior_moved": [None, Interval(Real, 0, 1, closed="left")],
        "n_folds": [None, Interval(Integral, 2, None, closed="left")],
    }

    def scorer(self, seed: int) -> OpenScorer:
        """The scorer that makes posteriors, density ratios and distances."""
        return OpenScorer(self.classifier, self.n_folds, seed, self.n_jobs)

    def read(self, scores: OpenScores) -> OpenSetReading:
        """Weigh "nothing is unseen", "something is" and "known classes have moved".

        ``probability_unseen``, ``probability_moved`` and ``bayes_factor``, of the second against
        the first, are among the diagnostics.
        """
        prior = self.prior_closed
        if prior is None:
            prior = PRIOR_CLOSED_ONE if len(scores.classes) == 1 else PRIOR_CLOSED_MORE
        moved = three = drift = None
        with own_threads():  # or rounding would depend on the number of cores
            fit, overlap = open_set_fit(scores, float(prior)), known_overlap(scores)
            missed = _missed(scores) if prior < 1 else Missed()
            fit = replace(fit, posterior=replace(fit.posterior, overlap=overlap, missed=missed))
            if self.prior_moved != 0 and prior < 1:
                if fit.posterior.probability_open >= _SURELY_CLOSED:
                    moved = moved_reading(scores, fit)
                    three = weigh_three(fit, moved, self.prior_moved)
                seen = (three.probability_moved, moved.far) if three and moved else (0.0, 0.0)
                drift = drift_record(scores, *seen, fit.shares[-1])
            fit, three = _shrunk(scores, fit, three)
        follows = three is not None and self._follows(scores, drift)
        shares = three.shares if three is not None and follows else fit.shares
        # The ROC of the candidate of least log-loss, at the shares of the answer.
        mixture, best = np.maximum(shares[:-1], _MIN_SHARE), scores.ratios.best
        ratios = ratios_at_shares(scores, mixture / mixture.sum())
        weight = (mixture / scores.counts)[scores.codes]
        pair = ratios.new[:, best], ratios.labelled[:, best]
        pooled = scored_evidence(*pair, 1 - float(shares[-1]), weight)
        draws = partial(_posterior_draws, scores, fit)
        if three is not None and moved is not None:
            draws = partial(_three_draws, scores, fit, moved, three)
        return OpenSetReading(
            shares=shares,
            replicates=draws,
            roc={scores.classes[0]: pooled} if len(scores.classes) == 1 else {},
            pooled=pooled,
            diagnostics=_diagnostics(fit.posterior, three, drift),
            notices=(*overlap_notices(overlap), *(() if drift is None else drift.notices)),
            drift=drift,
            detection_limit=_detection_limit(scores, float(prior)),
            fit=fit,
            three=three if follows else None,
        )

    def with_verdict(self, estimate: Estimate, rows: Matrix, drift: Drift | None) -> Estimate:
        """The estimate, or the answer to the question asked again (``proportions/again.py``).

        The verdict is in the estimate.
        """
        return asked_again(self, self.labelled_, estimate, rows)

    def _follows(self, scores: OpenScores, drift: Drift | None) -> bool:
        """Whether the shares are those of three hypotheses, or of closed and open alone.

        With one class little tells a class that moved from a new one that overlaps it: the verdict
        and the intervals allow for moved, and the shares follow where the verdict is "moved". Rows
        that lie as far off as those of a new class are taken for one where moved is not sure.
        """
        if drift is None or drift.as_class:
            return False
        several = len(scores.classes) > 1 or self.prior_moved is not None
        return several or drift.verdict == "moved"


def _shrunk(
    scores: OpenScores, fit: OpenSetFit, three: ThreeHypotheses | None
) -> tuple[OpenSetFit, ThreeHypotheses | None]:
    """Shares of many known classes, drawn towards the label shares, under closed and open."""
    if scores.posteriors is None:
        return fit, three
    calibrated = scores.posteriors.calibrated
    closed = shrunk_shares(calibrated, fit.closed)
    opened = shrunk_shares(calibrated, fit.known_mixture, fit.known)
    if three is not None:
        three = replace(three, mixtures=np.array([closed, opened, three.mixtures[2]]))
    return replace(fit, closed=closed, known_mixture=opened), three


def _detection_limit(scores: OpenScores, prior_closed: float) -> float | None:
    """The unseen share that would have been found 4 times in 5; see ``mixture/detection.py``."""
    if not scores.hidden or prior_closed in (0.0, 1.0):
        return None
    power = detection_power(scores.hidden, *effective_rows(scores), prior_closed, SMALL_SHARE)
    return detection_limit(power)


def _missed(scores: OpenScores) -> Missed:
    """The unseen share that may be there although nothing was found.

    Distances say what a class like the known ones must look like. Discriminators may see more, as
    posteriors see more of the known classes, if they learn a class that nobody labelled as well.
    """
    if not scores.hidden or scores.posteriors is None:
        return Missed()
    of_labelled, codes = scores.posteriors.of_labelled, scores.codes
    given = *effective_rows(scores), 0.5, SMALL_SHARE
    by_distances = detection_power(scores.hidden, *given)
    by_posteriors = detection_power(hidden_from_posteriors(of_labelled, codes), *given)
    more = np.maximum(by_distances, by_posteriors) - by_distances
    return missed_share(by_distances + _LEARNT * more, SMALL_SHARE)


def effective_rows(scores: OpenScores) -> tuple[float, float]:
    """New and labelled rows that count, if nothing is unseen: see ``Candidates.cells``."""
    weight = (np.maximum(scores.closed, _MIN_SHARE) / scores.counts)[scores.codes]
    blind = np.zeros((scores.n_new, 1)), np.zeros((len(scores.codes), 1)), np.zeros(1)
    cells = Candidates(*blind, scores.ratios.clusters).cells(weight)
    return float(cells.new.sum()), float(cells.labelled.sum())


def _diagnostics(
    posterior: PlacementPosterior, three: ThreeHypotheses | None, drift: Drift | None
) -> dict[str, float]:
    """Probabilities, and the Bayes factor of open against closed where no class moved."""
    unseen = posterior.probability_open if three is None else three.probability_unseen
    found = {"probability_unseen": unseen}
    if drift is None or drift.verdict == "still":
        # Where known classes moved, the factor says that the rows differ, and not by what.
        found["bayes_factor"] = posterior.bayes_factor
    if drift is not None:
        found["probability_moved"] = drift.probability_moved
        # Under three hypotheses the probability and the factor do not tell the prior.
        found["prior_unseen"] = 1 - posterior.prior_closed
    return found


def open_set_fit(
    scores: OpenScores,
    prior_closed: float,
    n_rounds: int = 3,
    small_share: float | None = None,
    lattice_of: Callable[..., WeighedLattice] = fitted_lattice,
) -> OpenSetFit:
    """Evidence at the closed-set shares, then rounds of placement and EM for the open ones.

    Without rounds the closed shares stay among the known classes. ``small_share`` is that of
    :func:`~unseen.roc.pooled.share_density`: None is .3 for one known class, .03 for several.
    ``lattice_of`` makes the lattice of curves, as :func:`~unseen.roc.pooled.fitted_lattice` does.
    """
    posteriors = scores.posteriors
    if small_share is None:
        small_share = SMALL_REST if posteriors is None else SMALL_SHARE
    prior = lattice_of, prior_closed, small_share
    posterior, known, lattice = _posterior_at_shares(scores, scores.closed, *prior)
    evidence, mixture = posterior.log_bayes_factor, scores.closed
    for _ in range(n_rounds if posteriors is not None else 0):
        mixture = mixture_of_known(scores, known)
        posterior, known, lattice = _posterior_at_shares(scores, mixture, *prior, lattice)
    return OpenSetFit(scores.closed, mixture, replace(posterior, log_bayes_factor=evidence), known)


def _posterior_at_shares(
    scores: OpenScores,
    mixture: FloatArray,
    lattice_of: Callable[..., WeighedLattice],
    prior_closed: float,
    small_share: float,
    near: CurveLattice | None = None,
) -> tuple[PlacementPosterior, FloatArray, CurveLattice]:
    """Posterior of nu, probability of each new row to be known, and the lattice of curves."""
    mixture = np.maximum(mixture, _MIN_SHARE)
    weight = (mixture / scores.counts)[scores.codes]
    candidates = Candidates.from_ratios(ratios_at_shares(scores, mixture))
    cells = candidates.cells(weight)
    weighed = lattice_of(cells, candidates.log_prior, small_share, near, scores.lattices)
    prior = prior_closed, small_share
    posterior = placement_posterior(cells, candidates.log_prior, *prior, weighed)
    arrays = chosen_arrays()
    known = arrays.zeros((scores.n_new,))
    for probability, place in zip(posterior.known, cells.place, strict=True):
        known += arrays.looked_up(probability, place)
    return posterior, arrays.host(known.clip(_MIN_RATIO, 1.0)), weighed.lattice


def _posterior_draws(
    scores: OpenScores, fit: OpenSetFit, n_draws: int, random_state: Any
) -> FloatArray:
    """Draws of the shares, (B, K + 1): nu from its posterior, the known shares by bootstrap."""
    rng = generator(random_state)
    level, wide = even_draws(n_draws, rng), for_intervals(fit.posterior)
    nu, is_open = wide.quantile(level), level < wide.probability_open
    if not is_open.all():
        within = (level[~is_open] - wide.probability_open) / (1 - wide.probability_open)
        nu[~is_open] = 1 - wide.missed.quantile(within)
    mixture, posteriors = np.ones((n_draws, len(scores.classes))), scores.posteriors
    if posteriors is not None:
        calibrated, n_open = posteriors.calibrated, int(is_open.sum())
        with own_threads():
            if n_open < n_draws:
                mixture[~is_open] = em_replicates(calibrated, fit.closed, n_draws - n_open, rng)
            if n_open:
                mixture[is_open] = em_replicates(
                    calibrated, fit.known_mixture, n_open, rng, fit.known
                )
    return np.column_stack([nu[:, None] * mixture, 1 - nu])


def _three_draws(
    scores: OpenScores,
    fit: OpenSetFit,
    moved: MovedReading,
    three: ThreeHypotheses,
    n_draws: int,
    random_state: Any,
) -> FloatArray:
    """Draws of the shares, (B, K + 1), each from one of the three hypotheses."""
    rng = generator(random_state)
    u, part = three.draws(n_draws, rng)
    mixture, posteriors = np.ones((n_draws, len(scores.classes))), scores.posteriors
    if posteriors is not None:
        too_far = moved.far > _TOO_FAR
        known = [None, fit.known, None if too_far else moved.known]
        with own_threads():
            for place in np.unique(part):
                chosen = part == place
                mixture[chosen] = em_replicates(
                    posteriors.calibrated,
                    three.mixtures[place],
                    int(chosen.sum()),
                    rng,
                    known[place],
                )
    return np.column_stack([(1 - u)[:, None] * mixture, u])
