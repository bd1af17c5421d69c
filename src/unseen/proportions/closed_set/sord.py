"""Matching by the sample ordinal distance, SORD (Maletzke et al., 2019).

Moving the new rows' law of a score onto that of the known classes at the shares pi costs
``integral |F_0(t) - sum_i pi_i F_i(t)| dt``. With more than two classes each posterior is a score,
and the distances are summed. docs/theory.md, "Closed-set methods", says more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from unseen._team import row_blocks
from unseen._types import FloatArray, IntArray
from unseen.proportions.base import PosteriorEstimator, Reading, closed_reading
from unseen.scores import Posteriors
from unseen.simplex import minimise_on_simplex

# Points of all scores together at which distribution functions are taken, and the fewest of one.
_POINTS, _LEAST_POINTS = 1_000, 20
# A gap between functions below this counts by its square, as the solver needs.
_SMALL_GAP = 1e-5
_MAX_STEPS, _SHARE_TOL = 200, 1e-6
# Draws begin at the shares found, and come within a tenth of their spread in so many steps.
_STEPS_OF_DRAWS = 30
_BLOCK_SIZE = 2_000_000


class SORD(PosteriorEstimator):
    """Shares of the known classes at the least sample ordinal distance to the new rows.

    Parameters
    ----------
    classifier, n_folds, random_state, n_jobs
        As in :class:`~unseen.SaerensEM`.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import SORD
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-1, 1, (300, 2)), rng.normal(1, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-1, 1, (400, 2)), rng.normal(1, 1, (100, 2))])
    >>> round(SORD(random_state=0).fit(X, y).estimate(X_new)["left"], 1)
    0.8
    """

    def read(self, scores: Posteriors) -> Reading:
        """Bring the mixture of the known classes nearest to the new rows."""
        # Two posteriors are one score: the second column mirrors the first.
        first = 1 if len(scores.classes) == 2 else 0
        n_points = max(_POINTS // (len(scores.classes) - first), _LEAST_POINTS)
        labelled = _steps(scores.of_labelled[:, first:], n_points)
        samples = [labelled[scores.codes == code] for code in range(len(scores.classes))]
        samples.append(_steps(scores.new[:, first:], n_points))
        every = np.stack([_functions(own, n_points) for own in samples])
        classes, function = every[:-1], every[-1]
        shares = least_distance(classes, function)

        def draw(n_replicates: int, rng: np.random.Generator) -> FloatArray:
            found = np.empty((n_replicates, len(classes)))
            block = max(1, _BLOCK_SIZE // max(classes.size, len(scores.new)))
            for part in row_blocks(n_replicates, block):
                sizes = [(part.stop - part.start, own.shape[0]) for own in samples]
                *drawn, at = (
                    _functions(own, n_points, rng.standard_exponential(size))
                    for own, size in zip(samples, sizes, strict=True)
                )
                functions = np.stack(drawn, axis=1), at
                found[part] = least_distance(*functions, shares, _STEPS_OF_DRAWS)
            return found

        distance = float(np.abs(function - shares @ classes).sum() / n_points)
        return closed_reading(shares, draw, distance=distance)


def least_distance(
    classes: FloatArray,
    new: FloatArray,
    start: FloatArray | None = None,
    max_steps: int = _MAX_STEPS,
) -> FloatArray:
    """Minimise ``sum_t |F_0(t) - sum_i pi_i F_i(t)|`` over the simplex, for many programs at once.

    Each step bounds every gap by a parabola that touches it, ``|g| <= g^2 / (2 |g_0|) + |g_0| /
    2``, and solves the quadratic program: the distance never grows. Distribution functions of the
    known classes have the shape (..., K, T), of the new rows (..., T), the shares (..., K).
    """
    n_classes = classes.shape[-2]
    shares = np.full(n_classes, 1 / n_classes) if start is None else start
    shares = np.broadcast_to(shares, (*new.shape[:-1], n_classes))
    for _ in range(max_steps):
        gap = np.abs(new - (shares[..., None, :] @ classes)[..., 0, :])
        weighted = classes / np.maximum(gap, _SMALL_GAP)[..., None, :]
        gram, linear = weighted @ np.swapaxes(classes, -1, -2), weighted @ new[..., None]
        last, shares = shares, minimise_on_simplex(gram, linear[..., 0])
        if np.abs(shares - last).max() < _SHARE_TOL:
            break
    return shares


def _steps(scores: FloatArray, n_points: int) -> Any:
    """Where each score of each row lies on its grid of points: one 1 in each, a sparse matrix."""
    n_rows, n_scores = scores.shape
    place: IntArray = np.minimum((scores * n_points).astype(np.intp), n_points - 1)
    columns = (place + n_points * np.arange(n_scores)).ravel()
    shape = n_rows, n_points * n_scores
    return sparse.csr_array(
        (np.ones(len(columns)), columns, n_scores * np.arange(n_rows + 1)), shape=shape
    )


def _functions(steps: Any, n_points: int, weights: FloatArray | None = None) -> FloatArray:
    """Distribution functions of all scores, side by side; for each weighting (B, n) of the rows."""
    if weights is None:
        means = np.asarray(steps.sum(axis=0)) / steps.shape[0]
    else:
        means = np.asarray((weights / weights.sum(axis=1, keepdims=True)) @ steps)
    apart = means.reshape(*means.shape[:-1], -1, n_points)
    return np.asarray(apart.cumsum(axis=-1).reshape(means.shape))
