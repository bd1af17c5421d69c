"""Bayesian-bootstrap replicates of shares: rows are weighted, nothing is refitted.

Rows of one person, site or batch are alike. Where rows have groups, groups are weighted in their
place, all rows of a group alike.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unseen._arrays import arrays_of, chosen_arrays, kept_there
from unseen._team import row_blocks
from unseen._types import Array, FloatArray, IntArray
from unseen.scores import Posteriors
from unseen.scores.posteriors import PosteriorSums
from unseen.simplex import approximate_mixture_shares, minimise_on_simplex, mixture_shares

# Up to so many rows each row draws its own weight. Above, a weighted mean is drawn from the
# normal law that it then follows: the sum of that many weights has no other shape left.
EXACT_ROWS = 20_000
# Weights drawn at a time: so many stay in the cache, and products of fewer replicates are slow.
_AT_HAND, _LEAST_BLOCK = 2**17, 64
# From so many classes on a Newton step of a replicate costs far more than accelerated EM.
_MANY_CLASSES = 20
_MIN_POSTERIOR = 1e-15
_LEAST_SHAPE = 0.2


def bootstrap_means(
    rows: Array,
    n_replicates: int,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> FloatArray:
    """Means of the rows (n, S) under Bayesian-bootstrap weights of rows, or of groups, (B, S)."""
    arrays = arrays_of(rows)
    if groups is None and len(rows) > EXACT_ROWS:
        mean = arrays.host(rows.mean(axis=0))
        return mean + _normal_noise(rows - arrays.put(mean), len(rows), n_replicates, rng)
    rows = arrays.host(rows)
    mean, sums, sizes = rows.mean(axis=0), rows, np.ones(len(rows))
    if groups is not None:
        sizes = np.bincount(groups).astype(float)
        sums = np.zeros((len(sizes), rows.shape[1]))
        np.add.at(sums, groups, rows)
    if len(sums) > EXACT_ROWS:
        spread = sums - sizes[:, None] * mean
        return mean + _normal_noise(spread, len(rows), n_replicates, rng)
    means = np.empty((n_replicates, rows.shape[1]))
    for part in _blocks(n_replicates, len(sums)):
        weights = _weights(len(sums), part.stop - part.start, rng, groups is not None)
        means[part] = weights @ sums / (weights @ sizes)[:, None]
    return means


def _blocks(n_replicates: int, n_rows: int) -> list[slice]:
    """Replicates of weights of so many rows that are worked on at a time."""
    return row_blocks(n_replicates, max(_LEAST_BLOCK, _AT_HAND // n_rows))


def _normal_noise(
    spread: Array, n_rows: int, n_replicates: int, rng: np.random.Generator
) -> FloatArray:
    """Draws of the normal law of a sum over this spread (G, S), as a mean of so many rows."""
    values, vectors = np.linalg.eigh(arrays_of(spread).host(spread.T @ spread))
    root = vectors * np.sqrt(np.maximum(values, 0.0)) / n_rows
    return np.asarray(rng.standard_normal((n_replicates, spread.shape[1])) @ root.T)


def _weights(
    n_drawn: int, n_replicates: int, rng: np.random.Generator, of_groups: bool
) -> FloatArray:
    """Bayesian-bootstrap weights of rows, (B, n), or of G groups.

    Weights of shape ``(G - 2) / G`` give the mean of G groups the variance ``s^2 / G`` with the
    unbiased ``s^2``. Exponential weights, which serve for rows, give ``(G - 1) / (G + 1)`` of
    this: half of it for three groups.
    """
    if not of_groups:
        return rng.standard_exponential((n_replicates, n_drawn))
    shape = max((n_drawn - 2) / n_drawn, _LEAST_SHAPE)
    # A weight as small as 0 for all groups would leave no mean.
    drawn = rng.standard_gamma(shape, (n_replicates, n_drawn))
    return np.maximum(drawn, np.finfo(np.float64).tiny)


def drawn_groups(record: Posteriors, sample: int) -> IntArray | None:
    """Groups of labelled (sample 0) or new (1) rows; None where most rows are drawn alone."""
    if record.clusters is None:
        return None
    numbers = record.clusters.together[sample]
    found, groups = np.unique(numbers, return_inverse=True)
    return groups if 2 * len(found) <= len(numbers) else None


def class_means(rows: FloatArray, codes: IntArray, n_classes: int) -> FloatArray:
    """Mean row of each class, (K, S)."""
    return np.stack([rows[codes == code].mean(axis=0) for code in range(n_classes)])


def em_replicates(
    record: Posteriors,
    shares: FloatArray,
    n_replicates: int,
    rng: np.random.Generator,
    known: FloatArray | None = None,
) -> FloatArray:
    """Shares under Bayesian-bootstrap weights of all rows, (B, K), from the shares found.

    New rows are weighted in the likelihood. Labelled rows stand behind the class densities:
    by moving those, their weights add a linear term to it (:func:`labelled_noise`). Where the
    record has groups, these are weighted. ``known`` (m,) is the probability of each new row to
    belong to a known class, by which the row counts; None is 1 for all.
    """
    n_rows = len(record.new)
    if known is None and n_rows > EXACT_ROWS:
        return _one_step(record, shares, n_replicates, rng)
    ratios, groups = record.ratios, drawn_groups(record, 1)
    if known is not None and n_rows > EXACT_ROWS:
        # Of very many rows a part is enough: intervals come out wider, never narrower.
        some = rng.permutation(n_rows)[:EXACT_ROWS]
        ratios, known, n_rows = ratios[some], known[some], EXACT_ROWS
        groups = None if groups is None else groups[some]
    noise = labelled_noise(record, shares, n_replicates, rng)
    solver = mixture_shares if len(shares) < _MANY_CLASSES else approximate_mixture_shares
    n_drawn = n_rows if groups is None else int(groups.max()) + 1

    def drawn() -> Iterator[tuple[slice, FloatArray]]:
        for part in _blocks(n_replicates, n_rows):
            yield part, _weights(n_drawn, part.stop - part.start, rng, groups is not None)

    def solved(part: tuple[slice, FloatArray]) -> FloatArray:
        some, weights = part
        if groups is not None:
            weights = weights[:, groups]
        if known is not None:
            weights *= known
        weights /= weights.sum(axis=1, keepdims=True)
        return solver(ratios, weights, noise[some], start=shares)

    return np.concatenate(chosen_arrays().side_by_side(solved, drawn()))


def labelled_noise(
    record: Posteriors, shares: FloatArray, n_replicates: int, rng: np.random.Generator
) -> FloatArray:
    """How weights of the labelled rows tilt the likelihood of the shares, (B, K).

    If the densities of the classes move by ``d_i``, the slope ``E_0[r_k / sum_l pi_l r_l]`` at
    the maximum moves, to first order, by ``- sum_i pi_i integral d_i r_k / sum_l pi_l r_l``. With
    ``d_i`` the move of a class's sample under its weights this is a weighted mean over labelled
    rows, taken at their out-of-fold posteriors.
    """
    ratios, arrays = kept_there(record, "labelled_ratios"), chosen_arrays()
    slopes = ratios / (ratios @ arrays.put(shares)).clip(min=_MIN_POSTERIOR)[:, None]
    groups = drawn_groups(record, 0)
    if groups is not None:
        slopes = arrays.host(slopes)
        # A group's weight moves all its classes at once: to first order, one mean over all rows.
        part = shares / record.training_shares
        apart = slopes - class_means(slopes, record.codes, len(shares))[record.codes]
        return bootstrap_means(part[record.codes, None] * apart, n_replicates, rng, groups)
    noise = np.zeros((n_replicates, len(shares)))
    for code, share in enumerate(shares):
        rows = slopes[arrays.put(record.codes == code)]
        drawn = bootstrap_means(rows, n_replicates, rng)
        noise += share * (drawn - arrays.host(rows.mean(axis=0)))
    return noise


def _one_step(
    record: Posteriors, shares: FloatArray, n_replicates: int, rng: np.random.Generator
) -> FloatArray:
    """Replicates by one Newton step from the shares found: with many rows all they need."""
    noise = labelled_noise(record, shares, n_replicates, rng)
    ratios = kept_there(record, "ratios")
    arrays = arrays_of(ratios)
    slopes = ratios / (ratios @ arrays.put(shares))[:, None]
    curvature = arrays.host(slopes.T @ slopes) / len(slopes)
    pull = bootstrap_means(slopes, n_replicates, rng, drawn_groups(record, 1)) - noise
    return minimise_on_simplex(np.tile(curvature, (len(pull), 1, 1)), curvature @ shares + pull)


def shares_by_sums(sums: PosteriorSums, pull: FloatArray | None = None) -> FloatArray:
    """Shares of the highest likelihood, by one Newton step from the shares of drawn rows.

    Those are off by some 1 / sqrt(m), and a Newton step squares an error: what is left is of the
    order 1 / m. ``pull`` (B, K) tilts the likelihood for replicates.
    """
    curvature = sums.products / sums.n_rows
    slope = sums.slopes / sums.n_rows
    linear = curvature @ sums.shares + (slope if pull is None else slope + pull)
    return minimise_on_simplex(np.broadcast_to(curvature, (*linear.shape, len(slope))), linear)


def sums_replicates(
    record: Posteriors, shares: FloatArray, n_replicates: int, rng: np.random.Generator
) -> FloatArray:
    """Shares under the noise of all new rows, by their sums, and of the labelled rows, (B, K)."""
    sums = record.sums
    assert sums is not None
    slope = sums.slopes / sums.n_rows
    values, vectors = np.linalg.eigh(sums.products / sums.n_rows - np.outer(slope, slope))
    root = vectors * np.sqrt(np.maximum(values, 0.0) / sums.n_rows)
    noise = rng.standard_normal((n_replicates, len(slope))) @ root.T
    return shares_by_sums(sums, noise - labelled_noise(record, shares, n_replicates, rng))
