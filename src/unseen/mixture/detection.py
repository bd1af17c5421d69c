"""The probability that the data would have shown an unseen class, by its share.

Each known class is hidden in turn: the ROC g of its distances from the others says how visible such
a class is. A share u of it gives new rows the ROC ``f = u g + (1 - u) alpha``, and the cells of f
an expected log Bayes factor and a variance. No discriminator is fitted, and no constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import logit, ndtr

from unseen._frozen import Frozen
from unseen._types import FloatArray, ScorePair
from unseen.roc import RocSketch, concave_hull
from unseen.roc.pooled import (
    FALSE_ALARMS,
    N_CELLS,
    CurveLattice,
    cell_rates,
    log_sums,
    separation_limits,
)

SHARES = np.geomspace(0.005, 1.0, 24)
# One distance has a quarter of the prior weight of all candidates.
_LOG_CANDIDATES = np.log(4.0)
_GAMMA = np.append(1 - np.geomspace(1.0, 0.002, 40), 1.0)
_SEPARATIONS = 13


@dataclass(frozen=True, eq=False)
class Missed(Frozen):
    """Law of an unseen share that leaves no trace in the data; all at 0 by default."""

    share: FloatArray = field(default_factory=lambda: np.zeros(1))
    probability: FloatArray = field(default_factory=lambda: np.ones(1))

    def quantile(self, level: FloatArray) -> FloatArray:
        """Quantiles of the unseen share."""
        middle = np.cumsum(self.probability) - self.probability / 2
        # Below the middle of the mass at 0 lies 0 itself.
        return np.interp(level, np.append(self.probability[0], middle[1:]), self.share)


def detection_power(
    hidden: Sequence[Sequence[ScorePair]],
    n_new: float,
    n_labelled: float,
    prior_closed: float,
    small_share: float = np.inf,
) -> FloatArray:
    """Probability that each of ``SHARES`` would have been found, for a class like the known ones.

    ``hidden`` holds, for each class that was hidden and each scale, scores of its rows and of the
    others. Numbers of rows are effective ones.
    """
    n_rows = n_new + n_labelled
    share = n_new / n_rows
    limits = separation_limits(n_rows * share * (1 - share))
    separations = np.geomspace(*limits, _SEPARATIONS)
    lattice = CurveLattice(share, limits, small_share, _GAMMA, separations)
    # The concave hull of the ROC of each class and scale, at the tabled false alarms.
    sketches = [[RocSketch.from_scores(*pair) for pair in scales] for scales in hidden]
    hulls = [[concave_hull(*sketch.roc()) for sketch in scales] for scales in sketches]
    curves = np.array([[np.interp(FALSE_ALARMS, *hull) for hull in scales] for scales in hulls])
    # Of a curve that starts with a step, interpolation knows the upper end alone.
    curves[..., 0] = 0.0
    mixed = SHARES[:, None] * curves[..., None, :] + (1 - SHARES[:, None]) * FALSE_ALARMS
    rate = cell_rates(mixed.reshape(-1, FALSE_ALARMS.size), share)
    per_cell = n_rows / N_CELLS
    fit = (
        rate @ np.log(lattice.rate / share).T
        + (1 - rate) @ np.log((1 - lattice.rate) / (1 - share)).T
    )
    # A class is found where the log Bayes factor makes "open" the likelier hypothesis.
    least = logit(prior_closed) + _LOG_CANDIDATES
    expected = log_sums(per_cell * fit + lattice.log_prior, axis=1)
    variance = per_cell * (rate * (1 - rate) * (logit(rate) - logit(share)) ** 2).sum(axis=1)
    found = ndtr((expected - least) / np.sqrt(np.maximum(variance, 1e-12)))
    return np.asarray(found.reshape(mixed.shape[:-1]).max(axis=1).mean(axis=0))


def detection_limit(power: FloatArray, level: float = 0.8) -> float | None:
    """The least share found with this probability; None where no share would be."""
    rising = np.maximum.accumulate(power)
    if rising[-1] < level:
        return None
    above = int(np.argmax(rising >= level))
    if above == 0:
        return float(SHARES[0])
    ends = slice(above - 1, above + 1)
    return float(np.exp(np.interp(level, rising[ends], np.log(SHARES[ends]))))


def missed_share(power: FloatArray, small_share: float) -> Missed:
    """The share u if nothing was found and, before rows were seen, 0 and more were as likely.

    ``power`` is that of ``SHARES``; u above 0 has the density ``1 / (u + small_share)``.
    """
    ends = np.concatenate([[0.0], np.sqrt(SHARES[1:] * SHARES[:-1]), [1.0]])
    prior = np.diff(np.log(ends + small_share))
    weight = np.append(1.0, prior / prior.sum() * (1 - np.maximum.accumulate(power)))
    return Missed(np.append(0.0, SHARES), weight / weight.sum())
