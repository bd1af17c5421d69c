"""Has anything changed between two samples of new rows? Permutation tests of class probabilities.

The rows of a window and of the reference are scored as one shuffled sample. Each row gets its
probability of each known class and of none; the tests compare the means of these probabilities,
and permute which rows make the window. docs/monitor.md, "The two tests", has the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen._arrays import chosen_arrays
from unseen._types import BoolArray, FloatArray, IntArray
from unseen.mixture.placement import Candidates
from unseen.proportions.open_set import open_set_fit
from unseen.scores.open import OpenScores, ratios_at_shares

_LEAST_SHARE = 1e-6
_LEAST_SPREAD = 1e-6
_LEAST_DIRECTION = 1e-3
_LEAST_SEPARATION = 1e-2
_ROUNDING = 1e-9
_BLOCK_SIZE = 2_000_000
_ENOUGH = 100  # permutations as extreme as what happened


@dataclass(frozen=True, eq=False)
class ClassProbabilities:
    """Probabilities that each row belongs to each class, and to none, by its scores.

    Parameters
    ----------
    among_known, among_known_labelled : ndarray of shape (m, K) and (n, K)
        Probability of each known class given that the row belongs to one, of new rows and of
        labelled ones.
    novelty, novelty_labelled : ndarray of shape (m,) and (n,)
        Probability that the row belongs to no known class.
    codes : ndarray of shape (n,)
        Class of each labelled row, as its place among the classes.

    Examples
    --------
    >>> known = np.array([[0.9, 0.1], [0.5, 0.5]])
    >>> rows = ClassProbabilities(known, known, np.array([0.0, 0.8]), np.zeros(2), np.array([0, 1]))
    >>> rows.new.round(2)
    array([[0.9, 0.1, 0. ],
           [0.1, 0.1, 0.8]])
    """

    among_known: FloatArray
    among_known_labelled: FloatArray
    novelty: FloatArray
    novelty_labelled: FloatArray
    codes: IntArray

    @property
    def new(self) -> FloatArray:
        """Probability of each known class and then of none, one row per new row."""
        known = self.among_known * (1 - self.novelty)[:, None]
        return np.column_stack([known, self.novelty])


def class_probabilities(scores: OpenScores) -> ClassProbabilities:
    """Probabilities of the rows of both windows, at the shares they have if some are unseen."""
    # No row's probability depends on how likely "nothing is unseen" is; the second round and a
    # finer lattice move them by little.
    fit = open_set_fit(scores, prior_closed=0.5, n_rounds=1, fine=False)
    mixture = np.maximum(fit.known_mixture, _LEAST_SHARE)
    candidates = Candidates.from_ratios(ratios_at_shares(scores, mixture))
    cells = candidates.cells((mixture / scores.counts)[scores.codes])
    known_labelled = np.zeros(len(scores.codes))
    host = chosen_arrays().host
    new, labelled, place = map(host, (candidates.new, candidates.labelled, cells.place))
    for candidate in np.flatnonzero(np.isfinite(candidates.log_prior)):
        # A labelled row is known with the probability of the new rows that score alike.
        score_new, known = new[:, candidate], fit.posterior.known[candidate]
        order = np.argsort(score_new, kind="stable")
        cell = np.interp(labelled[:, candidate], score_new[order], place[candidate][order])
        known_labelled += np.interp(cell, np.arange(len(known)), known)
    among, among_labelled = np.ones((scores.n_new, 1)), np.ones((len(scores.codes), 1))
    if scores.posteriors is not None:
        ratios = scores.posteriors.ratios, scores.posteriors.labelled_ratios
        shares = [rows * mixture for rows in ratios]
        among, among_labelled = [rows / rows.sum(axis=1, keepdims=True) for rows in shares]
    return ClassProbabilities(
        among, among_labelled, 1 - fit.known, 1 - known_labelled, scores.codes
    )


def change_p_values(
    probabilities: ClassProbabilities,
    n_window: int,
    n_permutations: int = 1999,
    random_state: int | np.random.Generator | None = None,
) -> tuple[float, float]:
    """P-values of "nothing has changed" and of "the unseen share has not changed".

    The probabilities are those of the ``n_window`` rows of the window, then of the rows of the
    reference. ``random_state`` draws at most B permutations, and no p-value is below
    ``1 / (B + 1)``. They end early where a hundred were as extreme as what happened: a p-value that
    large needs no more digits.

    Examples
    --------
    Half of the first hundred rows are unseen, and none of the second hundred.

    >>> novelty = np.r_[np.tile([0.0, 1.0], 50), np.zeros(100)]
    >>> known = np.tile([[0.8, 0.2], [0.2, 0.8]], (100, 1))
    >>> rows = ClassProbabilities(known, known, novelty, np.zeros(200), np.tile([0, 1], 100))
    >>> change_p_values(rows, 100, 999, random_state=0)
    (0.001, 0.001)
    """
    rng = np.random.default_rng(random_state)
    new = probabilities.new
    centred = new - new.mean(axis=0)
    spread = centred.std(axis=0)
    used, directions = spread > _LEAST_SPREAD, np.zeros((len(centred), 1))
    if used.any():  # uncorrelated, with equal variance
        left, sizes, _ = np.linalg.svd(centred[:, used] / spread[used], full_matrices=False)
        directions = left[:, sizes > _LEAST_DIRECTION * sizes[0]]
    novelty, class_noise = _novelty_beyond_classes(probabilities)
    values = np.column_stack([directions, novelty])
    counts = np.array([[n_window], [len(values) - n_window]])
    found, as_extreme = np.empty((2, 0)), np.zeros((2, 0), dtype=bool)
    done, size = 0, 2 * _ENOUGH
    # Batches, each of as many permutations as all before.
    while done < n_permutations and not (as_extreme.sum(axis=1) >= _ENOUGH).all():
        means = _permuted_means(values, n_window, min(size, n_permutations - done), rng)
        window, rest = means[..., : directions.shape[1]], means[..., directions.shape[1] :]
        any_change = np.square(window[0] - window[1]).sum(axis=1)
        # The difference of the means of psi over its standard error.
        psi, square, shares = rest[..., 0], rest[..., 1], rest[..., 2:]
        noise = ((square - np.square(psi)) / counts).sum(axis=0)
        noise += np.square(shares[0] - shares[1]) @ class_noise
        error = np.sqrt(np.maximum(noise, 0.0)) + _LEAST_SPREAD / np.sqrt(len(values))
        both = np.stack([any_change, np.abs((psi[0] - psi[1]) / error)])
        # The first of every batch is the actual one.
        found = np.append(found, both[:, 1:] if found.size else both, axis=1)
        as_extreme = found[:, 1:] >= found[:, :1] * (1 - _ROUNDING)
        done, size = done + size, done + size
    any_p, unseen_p = map(_p_value, as_extreme)
    return any_p, unseen_p


def _novelty_beyond_classes(rows: ClassProbabilities) -> tuple[FloatArray, FloatArray]:
    """Novelty with the same mean in every known class, psi, and the parts of its standard error.

    The first array (m, K + 2) has of each new row psi, its square, and the shares of the known
    classes that the row stands for: over rows of known classes their mean is the shares of the
    classes. The second (K,) is the variance of the mean of psi over the labelled rows of a class.
    """
    counts = np.bincount(rows.codes)
    indicator = (rows.codes == np.arange(len(counts))[:, None]) / counts[:, None]
    confusion = indicator @ rows.among_known_labelled
    inverse = np.linalg.pinv(confusion, rcond=_LEAST_SEPARATION)
    weights = inverse @ (indicator @ rows.novelty_labelled)
    psi = rows.novelty - rows.among_known @ weights
    labelled = rows.novelty_labelled - rows.among_known_labelled @ weights
    spread = indicator @ np.square(labelled) - np.square(indicator @ labelled)
    columns = np.column_stack([psi, np.square(psi), rows.among_known @ inverse])
    return columns, np.maximum(spread, 0.0) / counts


def _permuted_means(
    values: FloatArray, n_window: int, n_permutations: int, rng: np.random.Generator
) -> FloatArray:
    """Means over the window and over the reference: shape (2, 1 + B, columns), unpermuted first."""
    n_rows = len(values)
    sums = np.empty((1 + n_permutations, values.shape[1]))
    sums[0] = values[:n_window].sum(axis=0)
    block = max(1, _BLOCK_SIZE // n_rows)
    for first in range(1, 1 + n_permutations, block):
        part = slice(first, min(first + block, 1 + n_permutations))
        chosen = np.zeros((part.stop - first, n_rows))
        chosen[:, :n_window] = 1.0
        sums[part] = rng.permuted(chosen, axis=1) @ values
    rest = (values.sum(axis=0) - sums) / (n_rows - n_window)
    return np.stack([sums / n_window, rest])


def _p_value(as_extreme: BoolArray) -> float:
    """Part of the permutations, the actual one included, that are as extreme as the actual one.

    Where enough are, those up to the last that was needed count: the sequential p-value of Besag
    and Clifford (1991), which is exact as well.
    """
    reached = np.flatnonzero(as_extreme)[_ENOUGH - 1 : _ENOUGH]
    if reached.size:
        return float(_ENOUGH / (1 + reached[0]))
    return float((1 + as_extreme.sum()) / (1 + len(as_extreme)))
