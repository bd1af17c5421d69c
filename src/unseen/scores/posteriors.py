"""Posterior probabilities of the known classes, made once, for every closed-set method.

The labelled rows are scored by models that did not see them, the new rows by a model of all
labelled rows. Making posteriors costs nearly all the time; reading shares off them next to none.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from unseen._frozen import Frozen, frozen_array
from unseen._types import FloatArray, IntArray, Matrix
from unseen.records import Notice
from unseen.samples import Clusters, LabelledRows, check_closed_set, check_folds, group_clusters
from unseen.scores.base import FOLDS, Pool, Scorer, Scores
from unseen.scores.boosting import boosted_posteriors, may_boost
from unseen.scores.calibration import (
    SPREAD,
    Rescaling,
    assumed_shares,
    needed_rescaling,
    probable_rescaling,
)
from unseen.scores.crossfit import cross_fitter
from unseen.scores.scales import dense

# A classifier whose prior differs by less from the label shares is nothing to speak of.
_NAMED_DIFFERENCE = 0.05


@dataclass(frozen=True, eq=False)
class RowScores(Scores):
    """A few numbers for each labelled and each new row, from which shares can be read."""

    classes: tuple[Any, ...]  # at least two
    codes: IntArray  # (n,), class of each labelled row
    labelled: FloatArray | None  # (n, S), or None where a method needs the new rows only
    new: FloatArray  # (m, S)
    seed: int | None = None
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        for name in ("labelled", "new"):
            if getattr(self, name) is not None:
                rows = frozen_array(getattr(self, name), np.float64)
                if rows.ndim != 2 or 0 in rows.shape:
                    raise ValueError(f"{name} must be 2-d and not empty; got shape {rows.shape}.")
                if not (finite := np.isfinite(rows)).all():
                    raise ValueError(f"{name} must be finite; got {(~finite).sum()} that are not.")
                object.__setattr__(self, name, rows)
        object.__setattr__(self, "codes", frozen_array(self.codes, np.intp))
        check_closed_set(np.asarray(self.classes))
        n_rows, n_columns = self.codes.shape, self.new.shape[1]
        if self.labelled is not None and (self.labelled.shape != (*n_rows, n_columns)):
            raise ValueError(
                "labelled must hold one row per code and the columns of new, "
                f"{(*n_rows, n_columns)}; got shape {self.labelled.shape}."
            )
        if set(np.unique(self.codes)) != set(range(len(self.classes))):
            raise ValueError(
                f"codes must name each of the {len(self.classes)} classes at least once, as "
                f"0 to {len(self.classes) - 1}; got {np.unique(self.codes).tolist()}."
            )
        super().__post_init__()

    @property
    def n_new(self) -> int:
        """New rows."""
        return len(self.new)

    @property
    def of_labelled(self) -> FloatArray:
        """Scores of the labelled rows, for methods that cannot do without."""
        if self.labelled is None:
            raise ValueError("scores must hold the labelled rows too; got scores without folds.")
        return self.labelled


@dataclass(frozen=True, eq=False)
class PosteriorSums(Frozen):
    """Sums over new rows of the slopes ``s_k = r_k / sum_l pi_l r_l`` of their log-likelihood.

    They hold gradient and curvature of the likelihood of the shares at ``shares``, and the noise
    of the gradient. ``+`` joins the sums of other rows.
    """

    shares: FloatArray  # (K,), the pi at which the slopes are taken
    n_rows: int
    slopes: FloatArray  # (K,), sums of s_k
    products: FloatArray  # (K, K), sums of s_k s_l

    def __add__(self, other: PosteriorSums) -> PosteriorSums:
        if not np.array_equal(self.shares, other.shares):
            raise ValueError("sums add only where the slopes are taken at the same shares.")
        sums = self.n_rows + other.n_rows, self.slopes + other.slopes
        return PosteriorSums(self.shares, *sums, self.products + other.products)


@dataclass(frozen=True, eq=False)
class Posteriors(RowScores):
    """Posterior probabilities of the known classes, one column each.

    Parameters
    ----------
    classes : tuple
        Labels of the known classes, at least two.
    codes : ndarray of shape (n,)
        Class of each labelled row, as its place among ``classes``.
    labelled : ndarray of shape (n, K) or None
        Posteriors of the labelled rows, each from a model fitted without the row.
    new : ndarray of shape (m, K)
        Posteriors of the new rows, from a model fitted to all labelled rows.
    seed : int or None
        Seed that made the scores.
    notices : tuple of Notice
        Facts that a person should know about the rows.
    prior : ndarray of shape (K,) or None
        Shares of the classes that the posteriors take for granted. None means those of
        the labelled rows; give others if the classifier was trained on other shares. The scorer
        finds out by itself (:func:`~unseen.scores.calibration.assumed_shares`).
    clusters : Clusters or None, default=None
        Rows in groups, which intervals draw whole; None where each row is drawn by itself.
    rescaling : Rescaling or None, default=None
        Calibrates the posteriors before densities are read off them; None takes them as they are,
        at their prior.
    sums : PosteriorSums or None, default=None
        Sums over all new rows, where ``new`` holds drawn rows only.
    calibration : Rescaling or None, default=None
        Calibrates the posteriors before shares are read off them (:attr:`calibrated`); None is
        learnt from the labelled rows when it is asked for.
    boosted : bool, default=False
        Whether gradient boosting took the place of the default classifier (``scores/boosting.py``).

    Examples
    --------
    >>> from unseen.scores import Posteriors
    >>> record = Posteriors(("a", "b"), [0, 0, 1], [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]],
    ...                     [[0.8, 0.2], [0.5, 0.5]])
    >>> record.prior.round(3), record.counts
    (array([0.667, 0.333]), array([2, 1]))
    """

    prior: FloatArray = None  # type: ignore[assignment]
    clusters: Clusters | None = None
    rescaling: Rescaling | None = None
    sums: PosteriorSums | None = field(default=None, kw_only=True)
    calibration: Rescaling | None = field(default=None, kw_only=True)
    boosted: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        n_classes = len(self.classes)
        for name in ("labelled", "new"):
            rows = getattr(self, name)
            if rows is not None and rows.shape[1] != n_classes:
                raise ValueError(
                    f"{name} must have one column per class; got {rows.shape[1]} for {n_classes} "
                    "classes."
                )
            # As a product, which is the faster sum of a few columns.
            off = 0.0 if rows is None else abs(rows @ np.ones(n_classes) - 1).max()
            if rows is not None and (rows.min() < 0 or off > 1e-3):
                raise ValueError(
                    f"{name} must hold posteriors, >= 0 with rows that sum to 1; got a least value "
                    f"of {rows.min():g} and a row sum off by {off:g}."
                )
        given = self.training_shares if self.prior is None else self.prior
        prior = np.asarray(given, dtype=np.float64)
        if prior.shape != (n_classes,) or not (prior > 0).all() or abs(prior.sum() - 1) > 1e-6:
            raise ValueError(
                f"prior must hold {n_classes} shares > 0 that sum to 1; got {prior.tolist()}."
            )
        object.__setattr__(self, "prior", frozen_array(prior / prior.sum()))

    @property
    def n_new(self) -> int:
        """New rows."""
        return len(self.new) if self.sums is None else self.sums.n_rows

    @property
    def training_shares(self) -> FloatArray:
        """Shares of the classes among the labelled rows."""
        return np.asarray(self.counts / len(self.codes))

    @cached_property
    def ratios(self) -> FloatArray:
        """Class densities at the new rows, up to a factor for each row."""
        return self._densities(self.new)

    @cached_property
    def labelled_ratios(self) -> FloatArray:
        """Class densities at the labelled rows, up to a factor for each row."""
        return self._densities(self.of_labelled)

    def _densities(self, rows: FloatArray) -> FloatArray:
        """Posteriors over the prior, which is that of the labels once they are rescaled."""
        if self.rescaling is None:
            found = rows / self.prior
        else:
            found = np.asarray(self.rescaling(rows) / self.training_shares)
        found.flags.writeable = False
        return found

    @cached_property
    def calibrated(self) -> Posteriors:
        """The record with densities by the temperature and biases that its labelled rows ask for.

        Shares are read off it: what posteriors have wrong in all rows alike moves shares most.
        """
        if self.rescaling is not None:
            return self
        found = self.calibration or probable_rescaling(self.of_labelled, self.codes, spread=SPREAD)
        return replace(self, rescaling=found)

    def window(self, places: IntArray) -> Posteriors:
        """Posteriors of some of the new rows."""
        clusters = None if self.clusters is None else self.clusters.part(new=places)
        calibration = None if self.labelled is None else self.calibrated.rescaling
        return replace(self, new=self.new[places], clusters=clusters, calibration=calibration)


@dataclass(frozen=True, eq=False)
class PosteriorScorer(Scorer):
    """Scores rows by the posteriors of the known classes.

    Parameters
    ----------
    classifier : scikit-learn classifier or None, default=None
        The classifier of the known classes, with ``predict_proba``; None is kernel logistic
        regression.
    n_folds : int or None, default=10
        Folds behind the posteriors of the labelled rows; None leaves these out.
    seed : int, default=0
        Seed of all randomness.
    n_jobs : int or None, default=None
        Fits that run at the same time; the scores do not depend on it.

    Examples
    --------
    >>> from unseen.scores import PosteriorScorer
    >>> PosteriorScorer().serves(PosteriorScorer(n_folds=None))
    True
    """

    classifier: Any = None
    n_folds: int | None = FOLDS
    seed: int = 0
    n_jobs: int | None = None
    needs_posteriors: ClassVar[bool] = True

    def check(self, labelled: LabelledRows, n_new: int) -> None:
        """Raise where classes are too small for the folds; new rows are in no fold."""
        if self.n_folds is not None:
            check_folds(labelled, self.n_folds)

    def score(
        self, labelled: LabelledRows, X_new: Matrix, clusters: Clusters | None = None
    ) -> Posteriors:
        """Score checked rows; ``clusters`` are those found before, where there are any."""
        codes, clusters = labelled.codes, clusters or group_clusters(labelled, X_new)
        fitter = cross_fitter(self.classifier, self.n_jobs)
        sample = labelled.rows, codes, X_new
        races = self.classifier is None and may_boost(*sample)
        # It takes folds to choose, and the choice must not depend on who asks.
        n_folds: Any = self.n_folds or (FOLDS if races else None)
        given = *sample, n_folds, self.seed, clusters
        found, better = fitter.posteriors(*given), None
        if races and found[0] is not None:
            better = boosted_posteriors(found[0], *given, self.n_jobs)
        (of_labelled, new), boosted = better or found, better is not None
        if self.n_folds is None or of_labelled is None:
            return Posteriors(labelled.labels, codes, None, new, self.seed, boosted=boosted)
        prior = assumed_shares(of_labelled, codes)
        told = self.seed, _prior_notices(prior, labelled), prior
        groups = None if labelled.groups is None else clusters
        # Where log-loss chose the settings, a sharper scale would trust rows of no known class.
        tuned = fitter.tuned and not boosted
        rescaling = None if tuned else needed_rescaling(of_labelled, codes)
        samples = labelled.labels, codes, of_labelled, new
        return Posteriors(*samples, *told, groups, rescaling, boosted=boosted)

    def serves(self, other: Scorer) -> bool:
        """Posteriors with folds also serve methods that need those of the new rows only."""
        return self == other or replace(self, n_folds=None) == other

    def pool(self, labelled: LabelledRows, X_new: Matrix, posteriors: Posteriors | None) -> Pool:
        """The new rows of many windows, each of which takes its part of the posteriors."""
        return Pool(self, labelled, X_new, posteriors)


def _prior_notices(prior: FloatArray, labelled: LabelledRows) -> tuple[Notice, ...]:
    """What a person should know of a classifier with another prior than the label shares."""
    given = labelled.counts / len(labelled.codes)
    raised = int(np.argmax(prior - given))
    if prior[raised] - given[raised] < _NAMED_DIFFERENCE:
        return ()
    label = labelled.labels[raised]
    text = (
        f"the classifier assumes a share of {prior[raised]:.0%} for class {label!r}, which has "
        f"{given[raised]:.0%} of the labelled rows: it weights or resamples classes. The shares "
        "found allow for this."
    )
    return (Notice("other_prior", text, "note", about=label),)


@dataclass(frozen=True, eq=False)
class RawScorer(Scorer):
    """Takes the columns themselves as scores."""

    seed: int = 0
    n_jobs: int | None = None

    def score(self, labelled: LabelledRows, X_new: Matrix) -> RowScores:
        """Score checked rows."""
        rows, new = dense(labelled.rows), dense(X_new)
        return RowScores(labelled.labels, labelled.codes, rows, new, self.seed)
