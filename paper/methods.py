"""The methods that the paper compares, and ours beside them.

A method reads the scores of a :class:`~paper.trial.Trial` and gives the shares of
its classes. Names with a star are the paper's methods in our form: log-loss instead of accuracy
and AUC, and mu = 1 in the concave model. ``OpenSet`` is the library's default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from paper.trial import OURS, PAPER, Trial, Tuning
from unseen import (
    AdjustedCount,
    ClassifyAndCount,
    KLDivergence,
    L2Distance,
    MPEIncomplete,
    MPEJoint,
    SaerensEM,
)
from unseen._types import FloatArray
from unseen.intervals import band_limits, band_slopes
from unseen.mixture import BestBin, DensityRatio, ROCSlope
from unseen.mixture.base import MixtureEstimator
from unseen.mixture.slope import SMOOTHING_REPLICATES
from unseen.proportions.base import ClosedSetEstimator, PosteriorEstimator
from unseen.proportions.open_set import OpenSetEstimator
from unseen.proportions.per_class.incomplete import incomplete_shares
from unseen.records import Estimate
from unseen.roc.models import Concave
from unseen.samples import LabelledRows
from unseen.scores import OpenScorer
from unseen.scores.base import FOLDS
from unseen.simplex import project

__all__ = ["METHODS", "Answer", "Method"]

CONFIDENCE = 0.95
# "Due to computational constraints, we limited the input to the KL-Divergence method" (Sec. 6.3).
_KL_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Answer:
    """Shares of the known classes, of unseen ones, and perhaps limits of the former.

    Parameters
    ----------
    shares : ndarray of shape (K,)
        Shares of the known classes.
    unseen : float
        The share that the method leaves to unseen classes; 0 for closed-set methods.
    limits : ndarray of shape (K + 1, 2) or None
        Lower and upper limits of the known shares and, last, of the unseen one.
    """

    shares: FloatArray
    unseen: float = 0.0
    limits: FloatArray | None = None


@dataclass(frozen=True)
class Method:
    """A column of the tables.

    Parameters
    ----------
    name : str
        Its title.
    answer : callable
        Takes a trial, gives an :class:`Answer`.
    opens : bool, default=False
        Whether it leaves room for unseen classes. A method that does not has one possible
        answer when there is a single known class, and is not asked.
    applies : callable, default=always
        Takes a trial; whether the method is run on it.
    """

    name: str
    answer: Callable[[Trial], Answer]
    opens: bool = False
    applies: Callable[[Trial], bool] = lambda trial: True

    def __call__(self, trial: Trial) -> Answer:
        """The answer of the method to a trial."""
        if len(trial.known) == 1 and not self.opens:
            return Answer(np.ones(1))
        return self.answer(trial)


def all_observed(trial: Trial) -> bool:
    """Whether class M is in training; the paper's extensions are for that setting alone."""
    return trial.block.setting == "observed"


def is_binary(trial: Trial) -> bool:
    """Whether the data set has two classes."""
    return len(trial.block.split.classes) == 2


def paper_incomplete(trial: Trial) -> Answer:
    """MPE-Incomplete to the letter: slopes as they are, limits from the bands of the ROCs."""
    slopes = paper_slopes(trial)
    return Answer(slopes, 1 - float(slopes.sum()), _paper_limits(trial))


def paper_projected(trial: Trial) -> Answer:
    """MPE-Projected to the letter: the same slopes, projected on the simplex."""
    return Answer(project(paper_slopes(trial)))


@lru_cache(maxsize=1)
def paper_slopes(trial: Trial) -> FloatArray:
    """Right-end slopes as in the paper: mu is free, fitted to the mean curve of a bootstrap."""
    method = ROCSlope(Concave(mu=None), smooth=True, random_state=trial.seed)
    return _slopes(method, trial, PAPER)


def paper_joint(trial: Trial) -> Answer:
    """MPE-Joint to the letter: the Gaussian model, fitted to all ROCs at once."""
    return _shares(MPEJoint(smooth=True).from_scores(trial.pair_scores(PAPER)))


def incomplete(trial: Trial) -> Answer:
    """MPE-Incomplete as the library ships it, with its calibrated intervals."""
    return _shares(MPEIncomplete().from_scores(trial.pair_scores(OURS), confidence=CONFIDENCE))


def open_set(trial: Trial) -> Answer:
    """The library's default, with the intervals of its posterior."""
    block = trial.block
    labelled = LabelledRows(block.X, np.array(trial.known), block.codes)
    posteriors = trial.posteriors(OURS) if len(trial.known) > 1 else None
    scorer = OpenScorer(n_folds=FOLDS, seed=trial.seed)
    scores = scorer.beside(labelled, trial.X_new, posteriors)
    return _shares(OpenSetEstimator().from_scores(scores, confidence=CONFIDENCE))


def joint(trial: Trial) -> Answer:
    """MPE-Joint on our scores; open where class M is not observed."""
    estimator = MPEJoint(closed=all_observed(trial))
    return _shares(estimator.from_scores(trial.pair_scores(OURS)))


def per_class(method: MixtureEstimator, trial: Trial) -> Answer:
    """MPE-Incomplete with another estimator of the mixture proportion."""
    shares = incomplete_shares(_slopes(method, trial, OURS))
    return Answer(shares[:-1], float(shares[-1]))


def projected(trial: Trial) -> Answer:
    """MPE-Projected on our scores."""
    return Answer(project(_slopes(ROCSlope(), trial, OURS)))


def from_posteriors(estimator: PosteriorEstimator, tuning: Tuning, trial: Trial) -> Answer:
    """A closed-set method on posteriors of the known classes."""
    return _shares(estimator.from_scores(trial.posteriors(tuning)))


def l2(trial: Trial) -> Answer:
    """Titterington's L2 distance of kernel densities."""
    return _from_rows(L2Distance(random_state=trial.seed), trial)


def kl(trial: Trial) -> Answer:
    """The KL divergence of du Plessis and Sugiyama, on at most 1000 and 1000 rows."""
    return _from_rows(KLDivergence(random_state=trial.seed), trial, _KL_ROWS)


def _from_rows(estimator: ClosedSetEstimator, trial: Trial, limit: int | None = None) -> Answer:
    rng = np.random.RandomState(trial.seed)
    old, new = (rng.permutation(size)[:limit] for size in (len(trial.block.X), len(trial.X_new)))
    fitted = estimator.fit(trial.block.X[old], trial.block.codes[old])
    return _shares(fitted.estimate(trial.X_new[new]))


def _slopes(method: MixtureEstimator, trial: Trial, tuning: Tuning) -> FloatArray:
    pairs = trial.pair_scores(tuning).pairs
    return np.array([method.from_scores(*pair).proportion for pair in pairs])


def _paper_limits(trial: Trial) -> FloatArray | None:
    """One minus the others' upper limits is a lower limit only if all classes are observed."""
    if not all_observed(trial):
        return None
    bands = band_slopes(
        trial.pair_scores(PAPER).pairs,
        CONFIDENCE,
        Concave(mu=None),
        SMOOTHING_REPLICATES,
        trial.seed,
    )
    return band_limits(*bands, closed=True)


def _shares(estimate: Estimate) -> Answer:
    return Answer(estimate.proportions, float(estimate.unseen), estimate.intervals)


METHODS = (
    Method("MPE-Incomplete", paper_incomplete, opens=True),
    Method("MPE-Projected", paper_projected, applies=all_observed),
    Method("MPE-Joint", paper_joint, applies=all_observed),
    Method("EM-KLR", partial(from_posteriors, SaerensEM(), PAPER)),
    Method("L2", l2),
    Method("KL", kl, applies=is_binary),
    Method("baseline", partial(from_posteriors, ClassifyAndCount(), PAPER)),
    Method("OpenSet", open_set, opens=True),
    Method("MPE-Incomplete*", incomplete, opens=True),
    Method("MPE-Projected*", projected, applies=all_observed),
    Method("MPE-Joint*", joint, opens=True),
    Method("BBE", partial(per_class, BestBin()), opens=True),
    Method("DEDPUL", partial(per_class, DensityRatio()), opens=True),
    Method("EM*", partial(from_posteriors, SaerensEM(), OURS)),
    Method("PACC", partial(from_posteriors, AdjustedCount(), OURS)),
    Method("ACC", partial(from_posteriors, AdjustedCount(soft=False), OURS)),
)
