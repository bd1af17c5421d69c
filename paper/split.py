"""The paper's samples with prescribed class proportions (Sec. "Evaluation").

Rows are never drawn twice: a repeated row falls into two folds and undoes out-of-fold scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from unseen._types import FloatArray, IntArray
from unseen.datasets.generators import allot

__all__ = ["PrescribedSplit"]

# The part of each class that trains, and the largest share that can be prescribed. With these the
# sizes of the paper's last table come out for every data set that can be had.
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
    >>> from paper.split import PrescribedSplit
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
        """
        labels = np.asarray(y)
        is_last = labels == last
        if not 0 < is_last.sum() < len(labels):
            raise ValueError(
                f"last must be one of at least two classes of y; got {last!r}, with "
                f"{int(is_last.sum())} of {len(labels)} rows."
            )
        order = check_random_state(random_state).permutation(len(labels))
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
