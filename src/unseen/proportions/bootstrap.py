"""What shares by EM are worth: Bayesian-bootstrap replicates, and shrinkage of many classes.

Rows are weighted, nothing is refitted. Where rows have groups (persons, sites), groups are weighted
in their place, all rows of a group alike.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln

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
_MIN_POSTERIOR, _LEAST_SHARE = 1e-15, 1e-12
_LEAST_SHAPE = 0.2
# With fewer classes nothing was gained by shrinking where shares had changed (chosen on development
# problems).
_SHRUNK_CLASSES = 10
# Strengths of the prior, in rows a class. The first stands for "shares may be anything", and leaves
# EM alone.
_STRENGTHS = 4.0 ** np.arange(-1, 5)


def bootstrap_means(
    rows: Array,
    n_replicates: int,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> FloatArray:
    """Means of the rows (n, S) under Bayesian-bootstrap weights of rows, or of groups, (B, S)."""
    sums, sizes = rows, np.ones(len(rows))
    if groups is not None:
        rows, sizes = arrays_of(rows).host(rows), np.bincount(groups).astype(float)
        sums = np.zeros((len(sizes), rows.shape[1]))
        np.add.at(sums, groups, rows)
    arrays = arrays_of(sums)
    if len(sums) > EXACT_ROWS:
        mean = rows.mean(axis=0)
        spread = rows - mean if groups is None else sums - sizes[:, None] * mean
        values, vectors = np.linalg.eigh(arrays.host(spread.T @ spread))
        root = vectors * np.sqrt(np.maximum(values, 0.0)) / len(rows)
        drawn = rng.standard_normal((n_replicates, spread.shape[1]))
        return np.asarray(arrays.host(mean) + drawn @ root.T)
    sums = arrays.host(sums)
    means = np.empty((n_replicates, rows.shape[1]))
    for part, weights in _weights(len(sums), len(sums), n_replicates, rng, groups is not None):
        means[part] = weights @ sums / (weights @ sizes)[:, None]
    return means


def _weights(
    n_drawn: int, n_rows: int, n_replicates: int, rng: np.random.Generator, of_groups: bool
) -> Iterator[tuple[slice, FloatArray]]:
    """Bayesian-bootstrap weights of rows, or of G groups, for some replicates (b, n) at a time.

    Weights of shape ``(G - 2) / G`` give the mean of G groups the variance ``s^2 / G`` with the
    unbiased ``s^2``; exponential ones, which serve for rows, half of it for three groups.
    """
    for part in row_blocks(n_replicates, max(_LEAST_BLOCK, _AT_HAND // n_rows)):
        size = part.stop - part.start, n_drawn
        if of_groups:
            drawn = rng.standard_gamma(max((n_drawn - 2) / n_drawn, _LEAST_SHAPE), size)
            # A weight as small as 0 for all groups would leave no mean.
            yield part, np.maximum(drawn, np.finfo(np.float64).tiny)
        else:
            yield part, rng.standard_exponential(size)


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
    """Shares under Bayesian-bootstrap weights of all rows or groups, (B, K), from the shares found.

    New rows are weighted in the likelihood; weights of labelled rows add a linear term to it
    (:func:`labelled_noise`). ``known`` (m,) is the probability of each new row to belong to a known
    class, by which the row counts; None is 1 for all.
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

    def solved(part: tuple[slice, FloatArray]) -> FloatArray:
        some, weights = part
        if groups is not None:
            weights = weights[:, groups]
        if known is not None:
            weights *= known
        weights /= weights.sum(axis=1, keepdims=True)
        return solver(ratios, weights, noise[some], start=shares)

    drawn = _weights(n_drawn, n_rows, n_replicates, rng, groups is not None)
    return np.concatenate(chosen_arrays().side_by_side(solved, drawn))


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
    return minimise_on_simplex(curvature, curvature @ shares + pull)


def shares_by_sums(sums: PosteriorSums, pull: FloatArray | None = None) -> FloatArray:
    """Shares of the highest likelihood, by one Newton step from the shares of drawn rows.

    Those are off by some 1 / sqrt(m), and a Newton step squares an error. ``pull`` (B, K) tilts the
    likelihood for replicates.
    """
    curvature = sums.products / sums.n_rows
    slope = sums.slopes / sums.n_rows
    linear = curvature @ sums.shares + (slope if pull is None else slope + pull)
    return minimise_on_simplex(curvature, linear)


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


def shrunk_shares(
    record: Posteriors, shares: FloatArray, known: FloatArray | None = None
) -> FloatArray:
    """Shares by EM, (K,), drawn towards the label shares; as they are if classes are few.

    Where classes are many and their rows few, EM takes noise for shares. A Dirichlet prior with the
    label shares as its mean is worth so many more rows: its strength. The new rows say how probable
    each strength is (docs/default.md). ``known`` is that of :func:`em_replicates`.
    """
    ratios, n_classes = record.ratios, len(shares)
    if n_classes < _SHRUNK_CLASSES or len(ratios) > EXACT_ROWS:
        return shares
    ratios = ratios / ratios.max(axis=1, keepdims=True)
    rows = np.ones(len(ratios)) if known is None else known
    prior = n_classes * _STRENGTHS[:, None] * record.training_shares
    # The most probable shares, in the coordinates log(share): a prior is worth ``prior_k`` rows
    # that can be of class k alone.
    weights = np.hstack([np.tile(rows, (len(prior), 1)), prior])
    weights /= weights.sum(axis=1, keepdims=True)
    every = np.vstack([ratios, np.eye(n_classes)])
    found = approximate_mixture_shares(every, weights, np.zeros(prior.shape), start=shares)
    found = np.maximum(found, _LEAST_SHARE)
    evidence = np.array([_evidence(ratios, rows, *one) for one in zip(prior, found, strict=True)])
    weight = np.exp(evidence - evidence.max())
    found[0] = shares
    return np.asarray(weight @ found / weight.sum())


def _evidence(ratios: FloatArray, rows: FloatArray, prior: FloatArray, shares: FloatArray) -> float:
    """Log-probability of the new rows under a Dirichlet prior, by Laplace's method at its peak.

    In the coordinates ``log(share)`` the curvature is ``diag(prior) + sum_j p_j p_j' - n shares
    shares'``, with the posteriors ``p_j`` of the rows and n rows, those of the prior included.
    Along (1, ..., 1) nothing changes: that direction is given the curvature n.
    """
    mixed = ratios * shares
    density = mixed.sum(axis=1)
    posteriors = mixed / density[:, None]
    n_rows = rows.sum() + prior.sum()
    curvature = np.diag(prior) + (posteriors * rows[:, None]).T @ posteriors
    curvature += n_rows * (1 / len(shares) - np.outer(shares, shares))
    spread = (np.log(n_rows) - np.linalg.slogdet(curvature)[1]) / 2
    height = rows @ np.log(density) + prior @ np.log(shares)
    return float(height + gammaln(prior.sum()) - gammaln(prior).sum() + spread)
