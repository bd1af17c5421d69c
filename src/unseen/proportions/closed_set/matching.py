"""Distribution matching as a quadratic program on the simplex.

The shares minimise ``|| P_0 - sum_i pi_i P_i ||^2``. With the inner products ``G_ik = <P_i, P_k>``
and ``h_k = <P_k, P_0>`` this is ``min pi' G pi / 2 - h' pi``. Methods differ only in the inner
product of two samples: over kernel densities (Titterington), over distribution functions (Hall).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unseen._types import FloatArray, IntArray
from unseen.proportions.bootstrap import bootstrap_means, class_means
from unseen.simplex import minimise_on_simplex


def matching(
    labelled: FloatArray, codes: IntArray, new: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The program, G (K, K) and h (K,), from inner products row by row.

    ``labelled`` (n, K + 1) and ``new`` (m, K + 1) hold the inner products of each row, taken as a
    point mass, with the sample of each class and, last, with the sample of new rows.
    """
    gram = class_means(labelled[:, :-1], codes, labelled.shape[1] - 1)
    # Inner products without the overlap of a row with itself need not be those of a norm.
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    gram = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return gram, new[:, :-1].mean(axis=0)


def matching_replicates(
    labelled: FloatArray,
    codes: IntArray,
    new: FloatArray,
    n_replicates: int,
    rng: np.random.Generator,
    minimise: Callable[[FloatArray, FloatArray], FloatArray] = minimise_on_simplex,
) -> FloatArray:
    """Shares that match under Bayesian-bootstrap weights of the rows, (B, K).

    Weights move the gradient ``h - G pi`` at the shares found: to first order by a sum of weighted
    means over rows. With G held fixed it belongs into h, and every replicate is one more program.
    """
    gram, linear = matching(labelled, codes, new)
    shares = minimise(gram, linear)
    # Each row's inner product with every class, and with what the mixture leaves unmatched.
    rows = np.column_stack([labelled[:, :-1], labelled[:, -1] - labelled[:, :-1] @ shares])
    noise = gradient_noise(rows, codes, new[:, :-1], shares, n_replicates, rng)
    return minimise(gram, linear + noise)


def gradient_noise(
    labelled: FloatArray,
    codes: IntArray,
    new: FloatArray,
    shares: FloatArray,
    n_replicates: int,
    rng: np.random.Generator,
) -> FloatArray:
    """How weights of the rows move ``E_0[v_k] - sum_i pi_i E_i[v_k] + E_k[w]``; (B, K).

    ``labelled`` (n, K + 1) holds ``v_1 ... v_K`` and ``w``, ``new`` (m, K) holds ``v_1 ... v_K``.
    """
    by_class = [labelled[codes == code] for code in range(len(shares))]
    moves = [bootstrap_means(own, n_replicates, rng) - own.mean(axis=0) for own in by_class]
    moved = np.stack(moves, axis=1)
    moved_new = bootstrap_means(new, n_replicates, rng) - new.mean(axis=0)
    return moved_new - np.einsum("i,bik->bk", shares, moved[..., :-1]) + moved[..., -1]
