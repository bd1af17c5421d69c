"""A full pass: models are fitted to drawn rows, then every new row is scored and counted.

The counts add up, so that batches of rows can be counted anywhere, in any order. docs/scale.md says
what a full pass buys, a smaller error of counting, and what it does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from unseen._frozen import Frozen
from unseen._progress import each
from unseen._random import whole_seed
from unseen._sklearn import some_rows
from unseen._team import one_blas_thread, row_blocks
from unseen.drift import Drift
from unseen.intervals import IntervalMethod
from unseen.mixture.slope import ROCSlope
from unseen.proportions import ProportionEstimator
from unseen.proportions.closed_set.em import SaerensEM
from unseen.proportions.per_class.incomplete import MPEIncomplete
from unseen.records import Estimate, Notice
from unseen.samples import check_new, sample_notices
from unseen.samples.draws import count_rows
from unseen.scores.counting import Counter, fit_counter

_BATCH = 65_536


@dataclass(frozen=True, eq=False)
class FullPass(Frozen):
    """Models fitted to drawn rows, ready to score and to count every new row.

    Parameters
    ----------
    estimator : MPEIncomplete, MPEProjected or SaerensEM
        A fitted estimator, which reads the shares off the counts.
    counter : Counter
        Scores rows and counts them; small enough to be sent to workers.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import FullPass, MPEIncomplete
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-4, 1, (300, 2)), rng.normal(4, 1, (300, 2))])
    >>> estimator = MPEIncomplete(random_state=0).fit(X, ["left"] * 300 + ["right"] * 300)
    >>> def batch():  # 70% left, 30% of a class that nobody has labelled
    ...     return np.vstack([rng.normal(-4, 1, (7000, 2)), rng.normal([-4, 4], 1, (3000, 2))])
    >>> full = FullPass.fit(estimator, rng.permutation(batch())[:500])
    >>> counts = full.count(batch())
    >>> for _ in range(4):
    ...     counts = counts + full.count(batch())
    >>> estimate = full.estimate(counts)
    >>> print(f"{estimate.n_new} rows, unseen {estimate.unseen:.1f}")
    50000 rows, unseen 0.3
    """

    estimator: ProportionEstimator
    counter: Counter

    @classmethod
    def fit(cls, estimator: ProportionEstimator, X_drawn: ArrayLike) -> FullPass:
        """Fit the models of a fitted estimator to its labelled rows and to some new rows.

        ``X_drawn`` (m, n_features) are some ten thousand new rows, each as likely to be drawn as
        any other.
        """
        check_full(estimator)
        check_is_fitted(estimator)
        sample = estimator.labelled_
        if sample.groups is not None:
            raise ValueError("a full pass counts rows, not groups: leave the groups out.")
        rows = check_new(sample, X_drawn)
        scorer = estimator.scorer(whole_seed(estimator.random_state))
        scorer.check(sample, rows.shape[0])
        notices = sample_notices(sample, rows, given=X_drawn)
        counter: Any = fit_counter(scorer, sample, rows)
        drawn = replace(counter.drawn, notices=(*notices, *counter.drawn.notices))
        return cls(estimator, replace(counter, drawn=drawn))

    def count(self, X_new: ArrayLike) -> Any:
        """Score new rows and count them; ``+`` adds the counts of other rows."""
        rows = check_new(self.estimator.labelled_, X_new)
        with one_blas_thread():
            return self.counter.count(self.counter.score(rows))

    def estimate(
        self,
        counts: Any,
        *,
        confidence: float | None = None,
        interval: IntervalMethod | None = None,
    ) -> Estimate:
        """The estimate from the sum of the counts that :meth:`count` made.

        ``confidence`` and ``interval`` are those of :meth:`ProportionEstimator.estimate`.
        """
        scores = self.counter.scores(counts)
        return clone(self.estimator).from_scores(scores, confidence=confidence, interval=interval)


def estimate_full(
    estimator: ProportionEstimator,
    X_drawn: ArrayLike,
    X_new: Any,
    columns: Any,
    confidence: float | None,
    drift: Drift | None,
) -> Estimate:
    """Fit models to drawn rows, then count every new row, some ten thousand at a time.

    The estimator was fitted to the labelled rows. ``X_drawn`` (m, d) are numbers; ``columns`` makes
    numbers of X_new where it is a table. Where no ``drift`` was found before, the drawn rows say.
    """
    full, n_rows = FullPass.fit(estimator, X_drawn), count_rows(X_new)
    pieces = each(row_pieces(X_new), -(-n_rows // _BATCH))
    rows = pieces if columns is None else map(columns.transform, pieces)
    found = full.estimate(reduce(add, map(full.count, rows)), confidence=confidence)
    drawn = check_new(estimator.labelled_, X_drawn)
    found = estimator.with_verdict(found, drawn, drift)
    notice = all_counted("X_new", n_rows, drawn.shape[0])
    return replace(found, notices=(notice, *found.notices))


def row_pieces(X: Any) -> Iterator[Any]:
    """The rows of a sample, some ten thousand at a time."""
    n_rows = count_rows(X)
    if n_rows <= _BATCH:
        yield X
        return
    for one in row_blocks(n_rows, _BATCH):
        yield some_rows(X, np.arange(one.start, one.stop))


def all_counted(name: str, n_rows: int, n_drawn: int) -> Notice:
    """Says that every row was counted."""
    text = f"All {n_rows:,} rows of {name} were counted, with models fitted to {n_drawn:,} of them."
    return Notice("all_rows_counted", text, "note")


def check_full(estimator: Any) -> None:
    """Raise where a method does not read counts that add up."""
    slopes = isinstance(estimator, MPEIncomplete) and (
        estimator.n_repeats == 1
        and (estimator.method is None or isinstance(estimator.method, ROCSlope))
    )
    if not slopes and not (isinstance(estimator, SaerensEM) and estimator.calibration is None):
        raise TypeError(
            "a full pass needs MPEIncomplete or MPEProjected, by ROCSlope and without repeats, or "
            f"SaerensEM without calibration; got {estimator!r}. The default weighs what the rows "
            "may be, for which drawn rows are enough."
        )
