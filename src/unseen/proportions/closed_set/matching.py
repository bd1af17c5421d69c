"""Distribution matching as a quadratic program on the simplex.

The shares minimise ``|| P_0 - sum_i pi_i P_i ||^2``. With the inner products ``G_ik = <P_i, P_k>``
and ``h_k = <P_k, P_0>`` this is ``min pi' G pi / 2 - h' pi``. Methods differ only in the inner
product of two samples: over kernel densities (Titterington), over distribution functions (Hall).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unseen._random import generator
from unseen._types import FloatArray, IntArray
from unseen.proportions.bootstrap import bootstrap_means, class_bootstrap_means, class_means
from unseen.simplex import minimise_on_simplex

__all__ = [
    "Matching",
    "gradient_noise",
    "matching",
    "matching_replicates",
]


class Matching(NamedTuple):
    """Inner products of the known classes with each other, and with the new rows."""

    gram: FloatArray
    linear: FloatArray


def matching(labelled: FloatArray, codes: IntArray, new: FloatArray) -> Matching:
    """The program of distribution matching, from inner products row by row.

    Parameters
    ----------
    labelled : ndarray of shape (n, K + 1)
        Inner product of each labelled row, taken as a point mass, with the sample of each class
        and, last, with the sample of new rows.
    codes : ndarray of shape (n,)
        Classes of the labelled rows.
    new : ndarray of shape (m, K + 1)
        Inner products of the new rows.

    Examples
    --------
    The inner product of two points is their product: only means are matched.

    >>> x, codes, x_new = np.array([0.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([2.0])
    >>> means = np.array([1.0, 4.0, 2.0])
    >>> program = matching(np.outer(x, means), codes, np.outer(x_new, means))
    >>> minimise_on_simplex(*program).round(3)
    array([0.667, 0.333])
    """
    n_classes = labelled.shape[1] - 1
    gram = class_means(labelled[:, :-1], codes, n_classes)
    # Inner products without the overlap of a row with itself need not be those of a norm.
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    gram = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return Matching(gram, new[:, :-1].mean(axis=0))


def matching_replicates(
    labelled: FloatArray,
    codes: IntArray,
    new: FloatArray,
    n_replicates: int,
    random_state: Any,
    minimise: Callable[[FloatArray, FloatArray], FloatArray] | None = None,
) -> FloatArray:
    """Shares that match under Bayesian-bootstrap weights of the rows, (B, K).

    Weights move the gradient ``h - G pi`` at the shares found. Inner products are linear in the
    weights of either sample, so to first order the move is a sum of weighted means over rows.
    With G held fixed it belongs into h, and every replicate is one more program.

    Parameters
    ----------
    labelled, codes, new
        As in :func:`matching`.
    n_replicates : int
        Number of replicates, B.
    random_state : int, RandomState, Generator or None
        Where all randomness comes from.
    minimise : callable, optional
        Solves the programs; :func:`minimise_on_simplex` when left out.

    Returns
    -------
    ndarray of shape (B, K)
    """
    minimise = minimise_on_simplex if minimise is None else minimise
    program = matching(labelled, codes, new)
    shares = minimise(*program)
    # Each row's inner product with every class, and with what the mixture leaves unmatched.
    rows = np.column_stack([labelled[:, :-1], labelled[:, -1] - labelled[:, :-1] @ shares])
    rng = generator(random_state)
    noise = gradient_noise(rows, codes, new[:, :-1], shares, n_replicates, rng)
    return minimise(np.tile(program.gram, (n_replicates, 1, 1)), program.linear + noise)


def gradient_noise(
    labelled: FloatArray,
    codes: IntArray,
    new: FloatArray,
    shares: FloatArray,
    n_replicates: int,
    rng: np.random.Generator,
) -> FloatArray:
    """How weights of the rows move ``E_0[v_k] - sum_i pi_i E_i[v_k] + E_k[w]``; (B, K).

    Parameters
    ----------
    labelled : ndarray of shape (n, K + 1)
        ``v_1 ... v_K`` and ``w`` at the labelled rows.
    codes : ndarray of shape (n,)
        Classes of the labelled rows.
    new : ndarray of shape (m, K)
        ``v_1 ... v_K`` at the new rows.
    shares : ndarray of shape (K,)
        The shares pi.
    n_replicates, rng
        The number B of replicates, and the source of all randomness.
    """
    args = (labelled, codes, len(shares))
    moved = class_bootstrap_means(*args, n_replicates, rng) - class_means(*args)
    moved_new = bootstrap_means(new, n_replicates, rng) - new.mean(axis=0)
    return moved_new - np.einsum("i,bik->bk", shares, moved[..., :-1]) + moved[..., -1]
