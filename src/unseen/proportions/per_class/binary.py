"""Two classes, rescaled: right even where one class hides inside the other (Prop. 3).

    1 - nu(P_0, P_2) = pi_1 (1 - nu(P_1, P_2)),    1 - nu(P_0, P_1) = pi_2 (1 - nu(P_2, P_1))

Least squares solves both (docs/theory.md, "Several classes"). A hidden class puts kinks into the
ROCs, which smooth models cannot follow, so the best bin is the default method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import ClassifierTags, Tags

from unseen._sklearn import HasMethods
from unseen._types import FloatArray
from unseen.mixture.bbe import BestBin
from unseen.proportions.base import Reading, closed_reading
from unseen.proportions.per_class.incomplete import (
    PerClassEstimator,
    class_evidence,
    replicate_slopes,
    with_seed,
)
from unseen.records import EstimatesMixture, Notice
from unseen.scores import TwoClassScorer, TwoClassScores

# With less of each class outside the other than this, the classes are as good as one.
_LEAST_DIFFERENCE = 1e-6
_SAME_CLASSES = Notice(
    "same_classes", "nothing tells the two classes apart, so one half each is given."
)


@dataclass(eq=False, repr=False)
class BinaryRescaled(PerClassEstimator):
    """Shares of two classes from three samples, also where condition (A) fails (Prop. 3).

    Parameters
    ----------
    method : mixture estimator or None, default=None
        Reads a mixture proportion off scores; None is :class:`~unseen.BestBin`, which has no
        trouble with kinks in a ROC. Its own ``classifier`` and ``n_folds`` play no part here.
    classifier, n_folds, n_repeats, random_state, n_jobs
        As in :class:`~unseen.MPEIncomplete`.

    Examples
    --------
    Half of the first class looks like the second, so that condition (A) fails:

    >>> import numpy as np
    >>> from unseen import BinaryRescaled
    >>> rng = np.random.default_rng(0)
    >>> def first(n):
    ...     return rng.normal(np.where(rng.random((n, 1)) < 0.5, -4, 4), 1, (n, 2))
    >>> X = np.vstack([first(600), rng.normal(4, 1, (600, 2))])
    >>> y = ["both"] * 600 + ["right"] * 600
    >>> X_new = np.vstack([first(600), rng.normal(4, 1, (200, 2))])
    >>> estimate = BinaryRescaled(random_state=0).fit(X, y).estimate(X_new)
    >>> bool(abs(estimate["both"] - 0.75) < 0.1)
    True
    """

    method: EstimatesMixture | None = None

    _parameter_constraints = PerClassEstimator._parameter_constraints | {
        "method": [None, HasMethods(["from_scores", "get_params"])]
    }

    reads = TwoClassScores
    sees_unseen = False
    n_classes = (2, 2)

    def scorer(self, seed: int) -> TwoClassScorer:
        """The scorer of the new rows against each class, and of the classes against each other."""
        return TwoClassScorer(self.classifier, self.n_folds, seed, self.n_jobs, self.n_repeats)

    def read(self, scores: TwoClassScores) -> Reading:
        """Four mixture proportions, and the shares that agree with them best.

        The paper's pi_1' and pi_2', which need not sum to one, are among the diagnostics.
        """
        method = with_seed(BestBin() if self.method is None else self.method, scores.seed)
        mixtures = [method.from_scores(*pair) for pair in scores.all_pairs]
        nu = np.array([mixture.proportion for mixture in mixtures])
        # The paper's pi_1' and pi_2'; None where the division has no answer.
        divided = [
            float((1 - whole) / (1 - part)) if part < 1 - _LEAST_DIFFERENCE else None
            for whole, part in zip(nu[1::-1], nu[2:], strict=True)
        ]

        def draw(n_replicates: int, rng: np.random.Generator) -> FloatArray:
            # The ROCs between the classes get weights of their own.
            groups = scores.pairs, scores.all_pairs[2:3], scores.all_pairs[3:]
            whole, *parts = (replicate_slopes(method, one, n_replicates, rng) for one in groups)
            return rescaled_proportions(whole, np.hstack(parts))

        inside = dict(zip(scores.classes, nu[2:].tolist(), strict=True))
        shares = rescaled_proportions(nu[:2], nu[2:])
        return replace(
            closed_reading(shares, draw, inside_other=inside, rescaled=divided),
            roc=class_evidence(scores, mixtures[:2]),
            notices=() if (nu[2:] < 1 - _LEAST_DIFFERENCE).any() else (_SAME_CLASSES,),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def rescaled_proportions(in_new: ArrayLike, in_other: ArrayLike) -> FloatArray:
    """Shares of two classes that solve the two equations of Prop. 3 by least squares.

    ``in_new`` (..., 2) holds ``nu(P_0, P_1)`` and ``nu(P_0, P_2)``, ``in_other`` (..., 2) holds
    ``nu(P_1, P_2)`` and ``nu(P_2, P_1)``. Classes that are the same get one half each.
    """
    # 1 - nu(P_0, P_2) belongs to pi_1, so the pair of the new rows is turned round.
    b_1, b_2 = np.moveaxis(1 - np.asarray(in_new, dtype=float)[..., ::-1], -1, 0)
    a_1, a_2 = np.moveaxis(1 - np.asarray(in_other, dtype=float), -1, 0)
    # Minimises (b_1 - a_1 p)^2 + (b_2 - a_2 (1 - p))^2 over p.
    weight, first = a_1**2 + a_2**2, a_1 * b_1 + a_2 * (a_2 - b_2)
    differ = weight > _LEAST_DIFFERENCE**2
    share = np.clip(np.where(differ, first / np.where(differ, weight, 1.0), 0.5), 0.0, 1.0)
    return np.stack([share, 1 - share], axis=-1)
