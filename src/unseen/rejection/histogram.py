"""The rule of least risk over the cells of a partition: a histogram with the label "unseen".

Every labelling of the cells is a classifier, and the best labelling takes no search: each cell gets
the label of least cost by its own masses. With the default number of cells the risk tends to the
Bayes risk, by the theorem in ``docs/rejection.md``.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from unseen._sklearn import HasMethods, Interval, StrOptions
from unseen.rejection.base import RejectionRule
from unseen.rejection.cells.cells import CellRule, cell_rule, effective_size, growing_cells
from unseen.rejection.cells.partitions import GRID_FEATURES, Partition, QuantileCells, VoronoiCells
from unseen.rejection.learning.sample import OpenSample

__all__ = ["RejectionHistogram"]


class RejectionHistogram(RejectionRule):
    """The rule of least estimated risk over all labellings of the cells of a partition.

    Simple, fast, and the paper's theorem word for word; trees, and above all forests, have cells in
    better places.

    Parameters
    ----------
    partition : Partition or None, default=None
        :class:`EqualWidthCells`, :class:`QuantileCells`, :class:`VoronoiCells`, or any object with
        ``fit(X, n_cells, rng)``. None is quantiles in up to three features, else Voronoi cells.
        The partition is fitted to the new rows, whose distribution the risk is about.
    n_cells : int or "auto", default="auto"
        Number of cells. "auto" is ``n^(d / (d + 2))``, where n is about the number of rows
        (:func:`~unseen.rejection.cells.cells.effective_size`) and d the number of features, at most
        4, as the theorem asks.
    unseen_label, n_folds, random_state
        Parameters of every rule.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import RejectionHistogram
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat(["left", "right"], 200)
    >>> X = rng.normal(size=(400, 1)) + np.where(y == "left", -4, 4)[:, None]
    >>> X_new = rng.normal(size=(600, 1)) + np.repeat([-4, 4, 0], 200)[:, None]
    >>> rule = RejectionHistogram(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> rule.predict([[-4.0], [0.0], [4.0]])
    array(['left', 'unseen', 'right'], dtype='<U6')
    """

    _accepts_sparse: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "partition": [None, HasMethods("fit")],
        "n_cells": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        **RejectionRule._parameter_constraints,
    }

    def __init__(
        self,
        partition: Partition | None = None,
        n_cells: int | str = "auto",
        *,
        unseen_label: Any = "auto",
        n_folds: int = 5,
        random_state: Any = None,
    ) -> None:
        super().__init__(unseen_label=unseen_label, n_folds=n_folds, random_state=random_state)
        self.partition = partition
        self.n_cells = n_cells

    def _fit_rule(self, sample: OpenSample, rng: np.random.RandomState) -> CellRule:
        n_features = sample.X.shape[1]
        size = effective_size(sample)
        n_cells = growing_cells(size, n_features) if self.n_cells == "auto" else float(self.n_cells)
        few = n_features <= GRID_FEATURES
        partition = self.partition or (QuantileCells() if few else VoronoiCells())
        return cell_rule(partition.fit(sample.X_new, n_cells, rng), sample)
