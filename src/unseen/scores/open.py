"""Scores behind the default estimator: posteriors, density ratios, and distances.

The density ratios are of the new rows against the labelled rows weighted to some shares of the
classes. Against other shares they need no new discriminator: the posteriors say what changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from unseen._arrays import chosen_arrays, kept_there
from unseen._progress import between
from unseen._types import FloatArray, IntArray, Matrix, ScorePair
from unseen.records import Notice
from unseen.roc.pooled import Lattices
from unseen.samples import Clusters, LabelledRows, all_clusters, group_clusters
from unseen.scores.base import FOLDS, Distances, Pool, RatioScores, Scorer, Scores
from unseen.scores.crossfit import WINDOW_SEARCH, CrossFitter, Search, cross_fitter
from unseen.scores.distances import hidden_classes, steady_distances
from unseen.scores.moves import Moves, made_moves
from unseen.scores.posteriors import Posteriors
from unseen.simplex import mixture_shares

FOLDS_OF_MANY, MANY_ROWS = 5, 5_000
# A class that EM finds absent keeps so large a part of its weight: a later round may need it.
_MIN_PART = 0.01
_MIN_RATIO = 1e-12
# At most a hundredth of the rows of H, and of windows a twentieth; see RatioScores.
_ODDS_STEP, _ODDS_STEP_OF_WINDOWS = 0.01, 0.05


@dataclass(frozen=True, eq=False)
class OpenScores(Scores):
    """Out-of-fold scores behind the default estimator.

    Parameters
    ----------
    classes : tuple
        Labels of the known classes.
    codes : ndarray of shape (n,)
        Class of each labelled row, as its place among ``classes``.
    posteriors : Posteriors or None
        Posteriors of the known classes; None where there is only one.
    ratios : RatioScores
        Log density ratios of the new rows against the labelled ones.
    closed : ndarray of shape (K,)
        Shares of the known classes by EM, if nothing is unseen.
    mixture : ndarray of shape (K,)
        Shares that the labelled rows were weighted to have when the ratios were made.
    seed : int or None
        Seed that made the scores.
    notices : tuple of Notice
        Facts that a person should know about the rows.
    moves : Moves or None, default=None
        What tells known classes that moved from classes that are new; None where the scores are
        not the scorer's.
    hidden : tuple
        Distances of known classes as if each were unseen (:mod:`unseen.scores.distances`).
    lattices : Lattices
        Where readings keep what the next reading of such scores may ask for again.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import OpenSetEstimator
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal([[-4]] * 50 + [[4]] * 50), ["left"] * 50 + ["right"] * 50
    >>> X_new = rng.normal([[-4]] * 45 + [[4]] * 15)
    >>> scores = OpenSetEstimator(random_state=0).fit(X, y).scores(X_new)
    >>> scores.classes, scores.n_new, scores.closed.round(2).tolist()
    (('left', 'right'), 60, [0.75, 0.25])
    """

    classes: tuple[Any, ...]
    codes: IntArray
    posteriors: Posteriors | None
    ratios: RatioScores
    closed: FloatArray
    mixture: FloatArray
    seed: int | None = None
    notices: tuple[Notice, ...] = ()
    moves: Moves | None = None
    hidden: tuple[tuple[ScorePair, ...], ...] = ()
    lattices: Lattices = field(default_factory=Lattices, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.posteriors is None) != (len(self.classes) == 1):
            raise ValueError(
                "posteriors must be there for several classes, and None for one; "
                f"got {self.posteriors!r} for {len(self.classes)}."
            )
        if len(self.codes) != len(self.ratios.labelled):
            raise ValueError(
                "codes must hold one class per labelled row; "
                f"got {len(self.codes)} for {len(self.ratios.labelled)} rows."
            )

    @property
    def n_new(self) -> int:
        """New rows."""
        return len(self.ratios.new)


@dataclass(frozen=True, eq=False)
class OpenScorer(Scorer):
    """Makes posteriors, density ratios and distances for the default estimator.

    Parameters
    ----------
    classifier : scikit-learn classifier or None, default=None
        The classifier that tells the known classes apart, and new rows from labelled ones; None is
        kernel logistic regression.
    n_folds : int or None, default=None
        Folds; None is 10, and 5 from 5,000 rows on, where a model loses little by the
        rows that a fold leaves out.
    seed : int, default=0
        Seed of all randomness.
    n_jobs : int or None, default=None
        Fits that run at the same time; the scores do not depend on it.

    Examples
    --------
    >>> from unseen.scores import OpenScorer
    >>> OpenScorer().settled(6000).n_folds
    5
    """

    classifier: Any = None
    n_folds: int | None = None
    seed: int = 0
    n_jobs: int | None = None
    needs_posteriors: ClassVar[bool] = True

    def settled(self, n_rows: int) -> Self:
        """A copy of the scorer, with its number of folds chosen for so many rows."""
        if self.n_folds is not None:
            return self
        return replace(self, n_folds=FOLDS_OF_MANY if n_rows >= MANY_ROWS else FOLDS)

    def score(self, labelled: LabelledRows, X_new: Matrix) -> OpenScores:
        """Score checked rows."""
        scorer = self.settled(len(labelled.codes) + X_new.shape[0])
        posteriors, clusters = None, all_clusters(labelled, X_new)
        several = len(labelled.classes) > 1
        if several:
            with between(0.0, 0.5):
                posteriors = scorer.posterior_scorer().score(labelled, X_new, clusters)
        with between(0.5 if several else 0.0, 1.0):
            scores = scorer.beside(labelled, X_new, posteriors, clusters)
        ratios = scores.ratios
        if ratios.distances is None:
            return scores
        return replace(scores, hidden=hidden_classes(labelled, ratios.clusters, self.seed))

    def beside(
        self,
        labelled: LabelledRows,
        X_new: Matrix,
        posteriors: Posteriors | None,
        clusters: Clusters | None = None,
    ) -> OpenScores:
        """Density ratios and distances, beside posteriors that have been made before."""
        fitter = cross_fitter(self.classifier, self.n_jobs)
        scores = self.still(fitter, labelled, X_new, posteriors, clusters)
        given = posteriors, scores.ratios.distances, scores.ratios.clusters
        far = steady_distances(X_new, labelled.rows, *given, self.seed)
        return replace(scores, moves=made_moves(scores, labelled, X_new, far))

    def still(
        self,
        fitter: CrossFitter,
        labelled: LabelledRows,
        X_new: Matrix,
        posteriors: Posteriors | None,
        clusters: Clusters | None = None,
        distances: Distances | None = None,
    ) -> OpenScores:
        """Density ratios beside posteriors, without what tells whether known classes moved.

        No distance is taken between rows of a cluster; None are the groups of the rows. Distances
        are None where they are made with the density ratios.
        """
        codes, n_folds = labelled.codes, self.n_folds or FOLDS
        closed: FloatArray = np.ones(1)
        mixture, weight = closed, None
        if posteriors is not None:
            densities = kept_there(posteriors.calibrated, "ratios")
            closed = mixture_shares(densities, start=posteriors.prior)
            mixture = present = posteriors.training_shares
            if fitter.takes_weights:
                mixture = (1 - _MIN_PART) * closed + _MIN_PART * present
                weight = (mixture / present)[codes]
        clusters = clusters or group_clusters(labelled, X_new)
        part = weight, codes, n_folds, self.seed, clusters, distances
        ratios = replace(fitter.ratios(X_new, labelled.rows, *part), odds_step=_ODDS_STEP)
        notices = () if posteriors is None else posteriors.notices
        found = ratios, closed, mixture, self.seed, notices
        return OpenScores(labelled.labels, codes, posteriors, *found)

    def pool(
        self,
        labelled: LabelledRows,
        X_new: Matrix,
        posteriors: Posteriors | None,
        search: Search = WINDOW_SEARCH,
    ) -> OpenPool:
        """The new rows of many windows, with the posteriors and distances that they share."""
        fitter = replace(cross_fitter(self.classifier, self.n_jobs), search=search)
        clusters = all_clusters(labelled, X_new)
        distances = fitter.distances(X_new, labelled.rows, self.seed, clusters)
        return OpenPool(self, labelled, X_new, posteriors, clusters, distances, fitter)


@dataclass(frozen=True, eq=False)
class OpenPool(Pool):
    """New rows of many windows, with what they share: posteriors and distances.

    Density ratios are made window by window: in a pool of all windows, a class that is new in one
    of them would be too rare to be learnt.
    """

    scorer: OpenScorer
    clusters: Clusters
    distances: Distances | None
    fitter: CrossFitter  # makes the density ratios
    lattices: Lattices = field(default_factory=Lattices, repr=False)  # of all windows

    @cached_property
    def steady(self) -> Distances | None:
        """Distances of all new rows that small moves hardly change."""
        given = self.posteriors, self.distances, self.clusters
        return steady_distances(self.rows, self.labelled.rows, *given, self.scorer.seed)

    @cached_property
    def hidden(self) -> tuple[tuple[ScorePair, ...], ...]:
        """Distances of known classes as if each were unseen."""
        if self.distances is None:
            return ()
        return hidden_classes(self.labelled, self.clusters, self.scorer.seed)

    def window(self, places: IntArray) -> OpenScores:
        """Scores of some of the new rows."""
        far = None if self.steady is None else self.steady.window(places)
        scores = self.still(places)
        moves = made_moves(scores, self.labelled, self.rows[places], far)
        return replace(scores, moves=moves, hidden=self.hidden)

    def still(self, places: IntArray) -> OpenScores:
        """Scores of some of the new rows, without what tells whether known classes moved."""
        posteriors = None if self.posteriors is None else self.posteriors.window(places)
        far = None if self.distances is None else self.distances.window(places)
        given = self.labelled, self.rows[places], posteriors, None, far
        scores = self.scorer.still(self.fitter, *given)
        even = replace(scores.ratios, odds_step=_ODDS_STEP_OF_WINDOWS)
        return replace(scores, ratios=even, lattices=self.lattices)


def mixture_of_known(scores: OpenScores, known: FloatArray) -> FloatArray:
    """Shares of the known classes by EM over rows that count as far as they are known, (K,).

    ``known`` (m,) is the probability of each new row to belong to a known class.
    """
    if scores.posteriors is None:
        return np.ones(1)
    densities = kept_there(scores.posteriors.calibrated, "ratios")
    return mixture_shares(densities, (known / known.sum())[None], start=scores.mixture)[0]


def ratios_at_shares(scores: OpenScores, shares: FloatArray) -> RatioScores:
    """Log density ratios against the known classes mixed in other ``shares`` (K,).

    They are on the device that the work runs on.
    """
    posteriors, ratios = scores.posteriors, scores.ratios
    if posteriors is None:
        return ratios
    arrays = chosen_arrays()
    new, labelled = (kept_there(ratios, sample) for sample in ("new", "labelled"))
    known = (kept_there(posteriors, sample) for sample in ("ratios", "labelled_ratios"))
    # The correction comes from another model for labelled rows than for new ones. A candidate that
    # says nothing must stay so, or this difference alone would order its rows.
    speaks = (labelled != 0).any(0) | (new != 0).any(0)
    moved = []
    for values, densities in zip((new, labelled), known, strict=True):
        before, after = (
            arrays.xp.log((densities @ arrays.put(mixed)).clip(min=_MIN_RATIO))
            for mixed in (scores.mixture, shares)
        )
        moved.append(values + (before - after)[:, None] * speaks)
    return replace(ratios, new=moved[0], labelled=moved[1])
