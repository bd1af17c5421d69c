"""The handwritten digits, three of which training never sees: compute a record, draw nothing.

Training holds the digits 0 to 6, equally often. The new batch holds them in other shares (label
shift), and 30% of it are sevens, eights and nines. A closed-set method must hand these rows to
the digits it knows; an open-set method need not.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits

from unseen._types import FloatArray, IntArray
from unseen.api import estimate as unseen_shares
from unseen.records import Estimate
from unseen.scores.klr import KernelLogisticRegression

_TRAINING_ROWS = 85
_NEW_ROWS = {0: 90, 1: 80, 2: 65, 3: 50, 4: 35, 5: 20, 6: 10, 7: 50, 8: 50, 9: 50}
_HIDDEN = (7, 8, 9)


@dataclass(frozen=True, eq=False)
class Demo:
    """The estimated shares, the true shares, and the shares by a closed-set method."""

    estimate: Estimate
    truth: FloatArray  # (K + 1,): each known class, then unseen
    closed_set: FloatArray  # (K + 1,): by classify and count
    seconds: float  # wall-clock time of both methods together

    @classmethod
    def run(cls, random_state: int = 0) -> Demo:
        """Draw the two samples and estimate; ``random_state`` seeds samples and methods."""
        X, y, X_new, y_new = digit_samples(random_state)
        start = time.perf_counter()
        estimate = unseen_shares(X, y, X_new, random_state=random_state)
        classifier = KernelLogisticRegression(random_state=random_state).fit(X, y)
        closed_set = known_shares(classifier.predict(X_new), estimate.classes)
        seconds = time.perf_counter() - start
        return cls(estimate, known_shares(y_new, estimate.classes), closed_set, seconds)

    @property
    def estimated(self) -> FloatArray:
        """Estimated share of each known class, then of unseen."""
        return np.append(self.estimate.proportions, self.estimate.unseen)

    @property
    def holds(self) -> bool:
        """Whether the interval of the unseen share, as the screen rounds it, holds the truth."""
        limits = self.estimate.intervals
        assert limits is not None
        lower, upper, truth = np.round([*limits[-1], self.truth[-1]], 3)
        return bool(lower <= truth <= upper)

    @property
    def errors(self) -> tuple[float, float]:
        """Total-variation error of the estimate, and of the closed-set method."""
        ours, closed = (total_variation(p, self.truth) for p in (self.estimated, self.closed_set))
        return ours, closed


def digit_samples(random_state: int) -> tuple[FloatArray, IntArray, FloatArray, IntArray]:
    """Labelled rows with their labels, then new rows with their true labels."""
    pixels, digits = load_digits(return_X_y=True)
    pixels = pixels[:, np.ptp(pixels, axis=0) > 0]  # three are white in every picture
    rng = np.random.default_rng(random_state)
    parts = []
    for digit, n_new in _NEW_ROWS.items():
        rows = rng.permutation(np.flatnonzero(digits == digit))
        n_training = 0 if digit in _HIDDEN else _TRAINING_ROWS
        parts.append(np.split(rows[: n_training + n_new], [n_training]))
    labelled, new = map(np.concatenate, zip(*parts, strict=True))
    return pixels[labelled] / 16, digits[labelled], pixels[new] / 16, digits[new]


def known_shares(labels: IntArray, classes: tuple[int, ...]) -> FloatArray:
    """Share of each known class among labels, then of all others."""
    shares = [float(np.mean(labels == label)) for label in classes]
    return np.array([*shares, 1 - sum(shares)])


def total_variation(p: FloatArray, q: FloatArray) -> float:
    """Half the sum of absolute differences: the mass that would have to move from p to get q."""
    return float(np.abs(p - q).sum() / 2)
