"""One training sample and one test sample of the paper's protocol, each score made once.

A :class:`Block` is one permutation of one data set in one setting. What its test samples share is
made once: the split, the choice of hyper-parameters ("for each permutation", appendix) and the
posteriors of the whole pool. A :class:`Trial` is one test sample of it; its scores are made when
the first method asks for them, and then kept.

Two ways to make scores stand side by side. The paper's: bandwidth by the accuracy on the known
classes, C of each pair by the AUC. Ours: all by log-loss. The paper chooses in three folds, and
does not say how it scores; we score out of fold, in ten, for both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np

from paper.split import PrescribedSplit
from unseen._types import FloatArray, IntArray
from unseen.datasets import Dataset
from unseen.samples import LabelledRows
from unseen.scores import PairScores, Posteriors, PosteriorScorer
from unseen.scores.base import FOLDS
from unseen.scores.crossfit import cross_fitter
from unseen.scores.klr import KernelLogisticRegression

__all__ = ["OURS", "PAPER", "PROPORTIONS", "SETTINGS", "Block", "Trial", "Tuning"]

PROPORTIONS = (0.01, *(tenth / 10 for tenth in range(1, 10)), 0.99)
SETTINGS = ("observed", "unobserved")


@dataclass(frozen=True)
class Tuning:
    """How hyper-parameters are chosen, and in how many folds rows are scored.

    Parameters
    ----------
    scoring : str
        Score that chooses on the known classes; on pairs AUC takes the place of accuracy.
    n_folds : int
        Folds of the scores of the new rows against a class.
    """

    scoring: str
    n_folds: int


PAPER = Tuning("accuracy", 10)
OURS = Tuning("neg_log_loss", 10)


class Block:
    """One permutation of one data set in one setting, and what its test samples share.

    Parameters
    ----------
    data : Dataset
        The data set, with its class M.
    permutation : int
        Seeds the split.
    setting : {"observed", "unobserved"}
        Whether class M is in training.

    Examples
    --------
    >>> from unseen.datasets import load_dataset
    >>> from paper.trial import Block
    >>> block = Block(load_dataset("thyroid"), 0, "unobserved")
    >>> block.known, block.split.test_size
    ((-1,), 33)
    """

    def __init__(self, data: Dataset, permutation: int, setting: str) -> None:
        self.data, self.permutation, self.setting = data, permutation, setting
        self.split = PrescribedSplit.of(data.y, data.unobserved, self.seed())
        classes = self.split.classes
        self.known = classes if setting == "observed" else classes[:-1]
        labels = data.y[self.split.training]
        kept = np.isin(labels, self.known)
        self.X = data.X[self.split.training[kept]]
        codes = {label: code for code, label in enumerate(self.known)}
        self.codes = np.array([codes[label] for label in labels[kept].tolist()])
        self._posteriors: dict[Tuning, Posteriors] = {}
        self._classifiers: dict[Tuning, KernelLogisticRegression] = {}

    def seed(self, proportion: float = 0.0) -> int:
        """A seed of the permutation's own, and of each of its test samples."""
        words = [crc32(self.data.name.encode()), self.permutation, round(1000 * proportion)]
        return int(np.random.SeedSequence(words).generate_state(1)[0])

    def classifier(self, tuning: Tuning) -> KernelLogisticRegression:
        """The scorer, with what could be chosen on the known classes chosen."""
        if tuning not in self._classifiers:
            scorer = KernelLogisticRegression(scoring=tuning.scoring, random_state=self.seed())
            if len(self.known) > 1:
                tuned = scorer.fit(self.X, self.codes)
                scorer = KernelLogisticRegression(
                    tuned.bandwidth_, tuned.C_, scoring=tuning.scoring
                )
            self._classifiers[tuning] = scorer
        return self._classifiers[tuning]

    def posteriors(self, tuning: Tuning) -> Posteriors:
        """Posteriors of the known classes, of training rows out of fold and of the pool."""
        if tuning not in self._posteriors:
            pool, seed = self.data.X[self.split.pool], self.seed()
            labelled = LabelledRows(self.X, np.array(self.known), self.codes)
            # Ours are the library's own. The paper's have a bandwidth and C, and nothing else.
            scorer = PosteriorScorer(
                None if tuning == OURS else self.classifier(tuning), FOLDS, seed
            )
            found = scorer.score(labelled, pool)
            if tuning == PAPER:
                found = replace(found, prior=found.training_shares)
            self._posteriors[tuning] = found
        return self._posteriors[tuning]


class Trial:
    """One test sample of a block.

    Parameters
    ----------
    block : Block
    proportion : float
        Prescribed share of class M.

    Examples
    --------
    >>> from unseen.datasets import load_dataset
    >>> from paper.trial import Block, Trial
    >>> trial = Trial(Block(load_dataset("thyroid"), 0, "observed"), 0.5)
    >>> trial.truth.round(2), len(trial.X_new)
    (array([0.52, 0.48]), 33)
    """

    def __init__(self, block: Block, proportion: float) -> None:
        self.block, self.proportion = block, proportion
        self.seed = block.seed(proportion)
        self.places: IntArray = block.split.test(proportion)
        self._pair_scores: dict[Tuning, PairScores] = {}

    @property
    def truth(self) -> FloatArray:
        """True shares of all classes, class M last."""
        return self.block.split.shares(self.places)

    @property
    def known(self) -> tuple[Any, ...]:
        """Labels of the known classes."""
        return self.block.known

    @cached_property
    def X_new(self) -> FloatArray:
        """The new rows."""
        return self.block.data.X[self.places]

    def pair_scores(self, tuning: Tuning) -> PairScores:
        """Scores of the new rows against each known class, out of fold."""
        if tuning not in self._pair_scores:
            scorer = self.block.classifier(tuning)
            classifier = KernelLogisticRegression(scorer.bandwidth, scoring=tuning.scoring)
            pairs = cross_fitter(classifier).pairs(
                self.block.X, self.block.codes, self.X_new, tuning.n_folds, 1, self.seed
            )
            self._pair_scores[tuning] = PairScores(self.known, tuple(pairs), self.seed)
        return self._pair_scores[tuning]

    def posteriors(self, tuning: Tuning) -> Posteriors:
        """Posteriors of the known classes."""
        place_in_pool = {row: place for place, row in enumerate(self.block.split.pool.tolist())}
        places = np.array([place_in_pool[row] for row in self.places.tolist()])
        return replace(self.block.posteriors(tuning).window(places), seed=self.seed)
