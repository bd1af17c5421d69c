"""Bayesian-bootstrap replicates of shares: rows are weighted, nothing is refitted."""

from __future__ import annotations

import numpy as np

from unseen._types import FloatArray, IntArray
from unseen.scores import Posteriors
from unseen.simplex import approximate_mixture_shares, minimise_on_simplex, mixture_shares

__all__ = ["bootstrap_means", "class_bootstrap_means", "class_means", "em_replicates"]

# Up to so many rows each row draws its own weight. Above, a weighted mean is drawn from the
# normal law that it then follows: the sum of that many weights has no other shape left.
EXACT_ROWS = 20_000
_BLOCK_SIZE = 2_000_000
# From so many classes on a Newton step of a replicate costs far more than accelerated EM.
_MANY_CLASSES = 20
_MIN_POSTERIOR = 1e-15


def bootstrap_means(rows: FloatArray, n_replicates: int, rng: np.random.Generator) -> FloatArray:
    """Means of the rows (n, S) under Bayesian-bootstrap weights, (B, S)."""
    n_rows = len(rows)
    if n_rows > EXACT_ROWS:
        spread = rows - rows.mean(axis=0)
        values, vectors = np.linalg.eigh(spread.T @ spread)
        root = vectors * np.sqrt(np.maximum(values, 0.0)) / n_rows
        return rows.mean(axis=0) + rng.standard_normal((n_replicates, rows.shape[1])) @ root.T
    means = np.empty((n_replicates, rows.shape[1]))
    block = max(1, _BLOCK_SIZE // n_rows)
    for first in range(0, n_replicates, block):
        part = slice(first, min(first + block, n_replicates))
        weights = rng.standard_exponential((part.stop - first, n_rows))
        means[part] = weights @ rows / weights.sum(axis=1, keepdims=True)
    return means


def class_means(rows: FloatArray, codes: IntArray, n_classes: int) -> FloatArray:
    """Mean row of each class, (K, S)."""
    return np.stack([rows[codes == code].mean(axis=0) for code in range(n_classes)])


def class_bootstrap_means(
    rows: FloatArray,
    codes: IntArray,
    n_classes: int,
    n_replicates: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Means of the rows of each class under Bayesian-bootstrap weights, (B, K, S)."""
    return np.stack(
        [bootstrap_means(rows[codes == code], n_replicates, rng) for code in range(n_classes)],
        axis=1,
    )


def em_replicates(
    record: Posteriors,
    shares: FloatArray,
    n_replicates: int,
    rng: np.random.Generator,
    known: FloatArray | None = None,
) -> FloatArray:
    """Shares under Bayesian-bootstrap weights of all rows, (B, K), from the shares found.

    New rows are weighted in the likelihood. Labelled rows stand behind the class densities:
    by moving those, their weights add a linear term to it (:func:`labelled_noise`).

    Parameters
    ----------
    record : Posteriors
    shares : ndarray of shape (K,)
        Where the likelihood is highest.
    n_replicates : int
        Number of replicates, B.
    rng : Generator
        Where all randomness comes from.
    known : ndarray of shape (m,) or None, default=None
        Probability of each new row to belong to a known class, by which the row counts; None
        is 1 for all.

    Returns
    -------
    ndarray of shape (B, K)
    """
    ratios, n_rows = record.ratios, len(record.new)
    if known is None and n_rows > EXACT_ROWS:
        noise = labelled_noise(record, shares, n_replicates, rng)
        return _one_step(ratios, shares, noise, n_replicates, rng)
    if known is not None and n_rows > EXACT_ROWS:
        # Of very many rows a part is enough: intervals come out wider, never narrower.
        some = rng.permutation(n_rows)[:EXACT_ROWS]
        ratios, known, n_rows = ratios[some], known[some], EXACT_ROWS
    noise = labelled_noise(record, shares, n_replicates, rng)
    solver = mixture_shares if len(shares) < _MANY_CLASSES else approximate_mixture_shares
    found = np.empty((n_replicates, len(shares)))
    block = max(1, _BLOCK_SIZE // max(n_rows, len(shares) ** 2))
    for first in range(0, n_replicates, block):
        part = slice(first, min(first + block, n_replicates))
        weights = rng.standard_exponential((part.stop - first, n_rows))
        weights = weights if known is None else known * weights
        weights /= weights.sum(axis=1, keepdims=True)
        found[part] = solver(ratios, weights, noise[part], start=shares)
    return found


def labelled_noise(
    record: Posteriors, shares: FloatArray, n_replicates: int, rng: np.random.Generator
) -> FloatArray:
    """How weights of the labelled rows tilt the likelihood of the shares, (B, K).

    If the densities of the classes move by ``d_i``, the slope ``E_0[r_k / sum_l pi_l r_l]`` at
    the maximum moves, to first order, by ``- sum_i pi_i integral d_i r_k / sum_l pi_l r_l``. With
    ``d_i`` the move of a class's sample under its weights this is a weighted mean over labelled
    rows, taken at their out-of-fold posteriors.
    """
    ratios = record.of_labelled / record.prior
    slopes = ratios / np.maximum(ratios @ shares, _MIN_POSTERIOR)[:, None]
    noise = np.zeros((n_replicates, len(shares)))
    for code, share in enumerate(shares):
        rows = slopes[record.codes == code]
        noise += share * (bootstrap_means(rows, n_replicates, rng) - rows.mean(axis=0))
    return noise


def _one_step(
    ratios: FloatArray,
    shares: FloatArray,
    noise: FloatArray,
    n_replicates: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Replicates by one Newton step from the shares found: with many rows all they need."""
    slopes = ratios / (ratios @ shares)[:, None]
    curvature = slopes.T @ slopes / len(slopes)
    pull = bootstrap_means(slopes, n_replicates, rng) - noise
    return minimise_on_simplex(np.tile(curvature, (len(pull), 1, 1)), curvature @ shares + pull)
