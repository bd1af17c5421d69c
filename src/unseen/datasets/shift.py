"""Samples with prescribed class proportions, from any labelled data.

The paper's experiments (Sec. "Evaluation") need test samples whose class proportions are known
because they were prescribed: :class:`PrescribedSplit` splits labelled rows into a training sample
and a pool, and cuts test samples of one size out of the pool, with any share of one class. For
other designs :func:`draw_with_proportions` draws any number of rows of each class. Rows are never
drawn twice: a repeated row falls into two folds and undoes out-of-fold scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unseen._types import FloatArray, IntArray

__all__ = ["PrescribedSplit", "allot", "draw_with_proportions"]

# So large a part of each class trains, and at most so large a share can be prescribed: with these
# the sizes of the paper's last table come out for every data set that can be had.
_TRAINING_PART = 0.505
_LARGEST_SHARE = 0.99


@dataclass(frozen=True, eq=False)
class PrescribedSplit:
    """A training sample, and a pool from which test samples of one size are cut.

    Sizes do not depend on the share that is prescribed, as in the paper: training takes 50.5% of
    class M and 50.5% of the others, and the test size is the largest for which the pool holds
    enough rows for shares of 1% to 99% of class M.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of all rows.
    last : label
        Class M, whose share is prescribed; the others share the rest as they do in the pool.
    training : ndarray of int
        Places of the training rows.
    pool : ndarray of int
        Places of the other rows, in the order in which they are taken.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.datasets import PrescribedSplit
    >>> y = np.repeat(["cat", "dog", "owl"], [400, 300, 300])
    >>> split = PrescribedSplit.of(y, "cat", random_state=0)
    >>> len(split.training), split.test_size, split.classes
    (505, 200, ('dog', 'owl', 'cat'))
    >>> split.shares(split.test(0.25))
    array([0.37, 0.38, 0.25])
    """

    y: Any
    last: Any
    training: IntArray
    pool: IntArray

    @classmethod
    def of(cls, y: ArrayLike, last: Any, random_state: Any = None) -> PrescribedSplit:
        """Split labelled rows at random.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels of at least two classes.
        last : label
            Class M, whose share will be prescribed.
        random_state : int, RandomState or None
            Draws the permutation.

        Returns
        -------
        PrescribedSplit
        """
        labels = np.asarray(y)
        is_last = labels == last
        if not 0 < is_last.sum() < len(labels):
            raise ValueError(
                f"last must be one of at least two classes of y; got {last!r}, with "
                f"{int(is_last.sum())} of {len(labels)} rows."
            )
        order = _generator(random_state).permutation(len(labels))
        parts = [order[is_last[order]], order[~is_last[order]]]
        cuts = [ceil(_TRAINING_PART * len(part)) for part in parts]
        if any(cut == len(part) for cut, part in zip(cuts, parts, strict=True)):
            raise ValueError(
                "class M and the others must each have at least 3 rows, so that some are left to "
                f"test on; got {len(parts[0])} of {last!r} and {len(parts[1])} others."
            )
        training, pool = (
            np.concatenate([part[span] for part, span in zip(parts, spans, strict=True)])
            for spans in ([slice(cut) for cut in cuts], [slice(cut, None) for cut in cuts])
        )
        return cls(labels, last, training, pool)

    @property
    def classes(self) -> tuple[Any, ...]:
        """All labels, class M last."""
        labels = np.unique(self.y).tolist()
        last = next(label for label in labels if label == self.last)
        return (*(label for label in labels if label != last), last)

    @property
    def test_size(self) -> int:
        """Rows of every test sample."""
        n_last = int((self.y[self.pool] == self.last).sum())
        return ceil(min(n_last, len(self.pool) - n_last) / _LARGEST_SHARE)

    def test(self, share: float) -> IntArray:
        """Places of a test sample with a prescribed share of class M.

        Samples of one split overlap: each class gives the first rows of its part of the pool.

        Parameters
        ----------
        share : float
            Share of class M, between 0.01 and 0.99.

        Returns
        -------
        ndarray of int of shape (test_size,)
        """
        if not abs(share - 0.5) <= _LARGEST_SHARE - 0.5 + 1e-9:
            raise ValueError(f"share must lie between 0.01 and 0.99; got {share}.")
        labels = self.y[self.pool]
        in_pool = np.array([(labels == label).sum() for label in self.classes])
        n_last = round(share * self.test_size)
        # Python rounds halves to even, which may ask for one row more than there is.
        n_last = min(max(n_last, self.test_size - int(in_pool[:-1].sum())), int(in_pool[-1]))
        counts = [*allot(in_pool[:-1], self.test_size - n_last), n_last]
        return np.concatenate(
            [
                self.pool[labels == label][:count]
                for label, count in zip(self.classes, counts, strict=True)
            ]
        )

    def shares(self, places: IntArray) -> FloatArray:
        """True shares of the classes among some rows, in the order of ``classes``."""
        return np.array([np.mean(self.y[places] == label) for label in self.classes])


def draw_with_proportions(
    y: ArrayLike, proportions: Mapping[Any, float], size: int, random_state: Any = None
) -> IntArray:
    """Places of rows drawn without replacement, with prescribed class proportions.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.
    proportions : dict of label to float
        Share of each class; they sum to 1. Classes that are not named get none.
    size : int
        Rows to draw. Where shares of it are no whole numbers, :func:`allot` rounds them.
    random_state : int, RandomState or None
        Where all randomness comes from.

    Returns
    -------
    ndarray of int of shape (size,)

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.datasets import draw_with_proportions
    >>> y = np.repeat(["cat", "dog"], 50)
    >>> places = draw_with_proportions(y, {"cat": 0.9, "dog": 0.1}, 20, random_state=0)
    >>> int((y[places] == "cat").sum())
    18
    """
    labels = np.asarray(y)
    shares = np.array(list(proportions.values()), dtype=np.float64)
    if not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9:
        raise ValueError(f"proportions must be >= 0 and sum to 1; got {dict(proportions)}.")
    if size < 1:
        raise ValueError(f"size must be >= 1; got {size}.")
    rng = _generator(random_state)
    drawn = []
    for label, count in zip(proportions, allot(shares, size), strict=True):
        rows = np.flatnonzero(labels == label)
        if count > len(rows):
            raise ValueError(
                f"size must leave enough rows of each class; {size} rows with these proportions "
                f"need {count} of class {label!r}, and y has {len(rows)}."
            )
        drawn.append(rng.permutation(rows)[:count])
    return rng.permutation(np.concatenate(drawn))


def allot(shares: ArrayLike, size: int) -> IntArray:
    """Whole numbers in proportion to shares, with sum ``size``: largest remainders round up.

    Examples
    --------
    >>> allot([0.5, 0.3, 0.2], 11)
    array([6, 3, 2])
    """
    weights = np.asarray(shares, dtype=np.float64)
    exact = size * weights / weights.sum()
    counts = np.floor(exact + 1e-9).astype(np.int64)
    short = size - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:short]] += 1
    return counts


def _generator(random_state: Any) -> np.random.RandomState:
    # Late, so that naming a data set does not load scikit-learn.
    from sklearn.utils import check_random_state

    return check_random_state(random_state)
