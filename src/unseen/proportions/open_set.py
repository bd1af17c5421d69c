"""The default: closed-set EM if nothing is unseen, the placement likelihood if something is.

    closed   P_0 = sum_i rho_i P_i                                  prior ``prior_closed``
    open     P_0 = nu sum_i rho_i P_i + (1 - nu) P_unseen           prior ``1 - prior_closed``
    moved    the same, where every P_i may have moved (docs/drift.md)

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

from unseen._arrays import chosen_arrays
from unseen._frozen import Frozen
from unseen._random import even_draws, generator
from unseen._sklearn import Interval
from unseen._team import own_threads
from unseen._types import FloatArray, IntArray, Matrix
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
    LARGEST_LOG,
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
from unseen.proportions.bootstrap import em_replicates, shrunk_shares
from unseen.proportions.overlap import known_overlap
from unseen.records import Estimate, RocEvidence
from unseen.roc.pooled import fitted_lattice
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
_MOST_TO_SHOW = 0.5  # detection limit up to which the rows can show a class


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
        classes have moved (docs/drift.md); None is 0.45 for several known classes and 0.18 for
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
            fit, (overlap, doubts) = open_set_fit(scores, float(prior)), known_overlap(scores)
            missed, limit = _unfound(scores, float(prior))
            fit = replace(fit, posterior=replace(fit.posterior, overlap=overlap, missed=missed))
            if self.prior_moved != 0 and prior < 1:
                if fit.posterior.probability_open >= _SURELY_CLOSED:
                    moved = moved_reading(scores, fit)
                    three = weigh_three(fit, moved, self.prior_moved)
                seen = (three.probability_moved, moved.far) if three and moved else (0.0, 0.0)
                alone = None if three is None else three.moved_class
                drift = drift_record(scores, *seen, fit.shares[-1], alone)
            fit, three = _shrunk(scores, fit, three)
        # With one class little tells a class that moved from a new one that overlaps it: the
        # verdict and the intervals allow for moved, and the shares follow where the verdict is
        # "moved". Rows that lie as far off as those of a new class are taken for one where moved
        # is not sure.
        sure = len(scores.classes) > 1 or self.prior_moved is not None
        sure = sure or (drift is not None and drift.verdict == "moved")
        follows = three if sure and drift is not None and not drift.as_class else None
        shares = fit.shares if follows is None else follows.shares
        pooled = _pooled_roc(scores, shares)
        return OpenSetReading(
            shares=shares,
            replicates=partial(_draws, scores, fit, moved, three),
            roc={scores.classes[0]: pooled} if len(scores.classes) == 1 else {},
            pooled=pooled,
            diagnostics=_diagnostics(fit.posterior, three, drift),
            notices=(*doubts, *(() if drift is None else drift.notices)),
            drift=drift,
            detection_limit=limit,
            fit=fit,
            three=follows,
        )

    def with_verdict(self, estimate: Estimate, rows: Matrix, drift: Drift | None) -> Estimate:
        """The estimate, or the answer to the question asked again (``proportions/again.py``)."""
        return asked_again(self, self.labelled_, estimate, rows)


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


def _unfound(scores: OpenScores, prior_closed: float) -> tuple[Missed, float | None]:
    """The unseen share that may be there unfound, and the one that is found 4 times in 5.

    Distances say what a class like the known ones must look like. Discriminators may see more, as
    posteriors see more of the known classes, if they learn a class that nobody labelled as well.
    """
    if not scores.hidden or prior_closed == 1:
        return Missed(), None
    counted, limit = effective_rows(scores), None
    if prior_closed > 0:
        power = detection_power(scores.hidden, *counted, prior_closed, SMALL_SHARE)
        limit = detection_limit(power)
    if scores.posteriors is None:
        return Missed(), limit
    seen_by_posteriors = hidden_from_posteriors(scores.posteriors.of_labelled, scores.codes)
    by_distances, by_posteriors = (
        detection_power(hidden, *counted, 0.5, SMALL_SHARE)
        for hidden in (scores.hidden, seen_by_posteriors)
    )
    more = np.maximum(by_distances, by_posteriors) - by_distances
    # Where not even half of the rows would show a class, that none was found says hardly anything,
    # and a prior for small shares must not say it instead.
    shows = limit is not None and limit <= _MOST_TO_SHOW
    small = SMALL_SHARE if shows else SMALL_REST
    return missed_share(by_distances + _LEARNT * more, small), limit


def effective_rows(scores: OpenScores) -> tuple[float, float]:
    """New and labelled rows that count, if nothing is unseen: see ``Candidates.cells``."""
    weight = (np.maximum(scores.closed, _MIN_SHARE) / scores.counts)[scores.codes]
    blind = np.zeros((scores.n_new, 1)), np.zeros((len(scores.codes), 1)), np.zeros(1)
    cells = Candidates(*blind, scores.ratios.clusters).cells(weight)
    return float(cells.new.sum()), float(cells.labelled.sum())


def _pooled_roc(scores: OpenScores, shares: FloatArray) -> RocEvidence:
    """The ROC of the candidate of least log-loss, at the shares of the answer."""
    mixture, best = np.maximum(shares[:-1], _MIN_SHARE), scores.ratios.best
    ratios = ratios_at_shares(scores, mixture / mixture.sum())
    weight = (mixture / scores.counts)[scores.codes]
    pair = ratios.new[:, best], ratios.labelled[:, best]
    return scored_evidence(*pair, 1 - float(shares[-1]), weight)


def _diagnostics(
    posterior: PlacementPosterior, three: ThreeHypotheses | None, drift: Drift | None
) -> dict[str, float]:
    """Probabilities, and the Bayes factor of open against closed where no class moved."""
    unseen = posterior.probability_open if three is None else three.probability_unseen
    found = {"probability_unseen": unseen}
    if drift is None or drift.verdict == "still":
        # Where known classes moved, the factor says that the rows differ, and not by what.
        found["bayes_factor"] = float(np.exp(min(posterior.log_bayes_factor, LARGEST_LOG)))
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
    fine: bool = True,
) -> OpenSetFit:
    """Evidence at the closed-set shares, then rounds of placement and EM for the open ones.

    Without rounds the closed shares stay among the known classes. ``small_share`` is that of
    :func:`~unseen.roc.pooled.share_density`: None is .3 for one known class, .03 for several.
    If not ``fine``, the lattice of curves is a coarse one.
    """
    if small_share is None:
        small_share = SMALL_REST if scores.posteriors is None else SMALL_SHARE
    arrays, mixture, near = chosen_arrays(), scores.closed, None
    turns = 0 if scores.posteriors is None else n_rounds
    for turn in range(turns + 1):
        counted = np.maximum(mixture, _MIN_SHARE)
        candidates = Candidates.from_ratios(ratios_at_shares(scores, counted))
        cells = candidates.cells((counted / scores.counts)[scores.codes])
        lattices = small_share, near, scores.lattices, fine
        weighed = fitted_lattice(cells, candidates.log_prior, *lattices)
        posterior, near = placement_posterior(weighed, prior_closed), weighed.lattice
        if turn == 0:
            evidence = posterior.log_bayes_factor
        probability = arrays.zeros((scores.n_new,))
        for one, place in zip(posterior.known, cells.place, strict=True):
            probability += arrays.looked_up(one, place)
        known = arrays.host(probability.clip(_MIN_RATIO, 1.0))
        if turn < turns:
            mixture = mixture_of_known(scores, known)
    return OpenSetFit(scores.closed, mixture, replace(posterior, log_bayes_factor=evidence), known)


def _draws(
    scores: OpenScores,
    fit: OpenSetFit,
    moved: MovedReading | None,
    three: ThreeHypotheses | None,
    n_draws: int,
    random_state: Any,
) -> FloatArray:
    """Draws of the shares, (B, K + 1), each from one of the hypotheses.

    The unseen share u is drawn from its posterior, the shares of the known classes by bootstrap.
    """
    rng = generator(random_state)
    if three is None or moved is None:
        level, wide = even_draws(n_draws, rng), for_intervals(fit.posterior)
        nu, is_open = wide.quantile(level), wide.probability_open
        part: IntArray = (level < is_open).astype(np.intp)
        nu[part == 0] = 1 - wide.missed.quantile((level[part == 0] - is_open) / (1 - is_open))
        u, mixtures, known = 1 - nu, [fit.closed, fit.known_mixture], [None, fit.known]
    else:
        u, part = three.draws(n_draws, rng)
        nu, mixtures = 1 - u, [*three.mixtures]
        known = [None, fit.known, None if moved.far > _TOO_FAR else moved.known]
    mixture = np.ones((n_draws, len(scores.classes)))
    if scores.posteriors is not None:
        calibrated = scores.posteriors.calibrated
        with own_threads():
            for place in np.unique(part):
                chosen = part == place
                if three is not None and three.read_wrongly and place == 2:
                    mixture[chosen] = rng.dirichlet(np.ones(mixture.shape[1]), int(chosen.sum()))
                    continue
                given = mixtures[place], int(chosen.sum()), rng, known[place]
                mixture[chosen] = em_replicates(calibrated, *given)
    return np.column_stack([nu[:, None] * mixture, u])
