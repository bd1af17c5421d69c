"""Problems over the probability simplex: projection, quadratic programs, likelihoods.

Class proportions live in ``{p >= 0, sum p = 1}`` where every class is known, and in
``{p >= 0, sum p <= 1}`` where the rest is the share of unseen classes. docs/theory.md has the
derivations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from unseen._arrays import arrays_of, chosen_arrays
from unseen._team import row_blocks
from unseen._types import Array, BoolArray, FloatArray

# Relative to the diagonal: shares that the data cannot tell apart are split evenly.
_RIDGE = 1e-12
# Finding the support squares the condition; the shares on it are then found without this one.
_SUPPORT_RIDGE = 1e-9
# Rounds of block pivoting; nearly all programs need two or three.
_PIVOTS = 12
_PULL_TOL = 1e-11
_SHARE_TOL = 1e-5  # of a step; a smaller one moves no share by as much
_MAX_STEPS = 200
_EM_STEPS = 3
_APPROXIMATE_TOL, _MU_STEPS = 1e-6, 6
# Numbers in the products of pairs of classes that are held at a time.
_PAIRS = 400_000
# Probabilities are often rounded to so many digits, and their logarithms must stay finite.
_LEAST_PROBABILITY = 1e-7
# Of a sum of probabilities: at least so much, and half a digit of each where they have two.
_SUM_TOL, _ROUNDING = 1e-3, 0.005
# Scores of which so many more rows are probabilities than of others are of another kind.
_OTHER_KIND = 0.8


def project(points: ArrayLike) -> FloatArray:
    """Nearest points of ``{p >= 0, sum p = 1}`` to points of shape (..., K)."""
    raw = np.asarray(points, dtype=np.float64)
    if raw.ndim == 0 or raw.shape[-1] == 0:
        raise ValueError(
            f"points must hold at least one coordinate per row; got shape {raw.shape}."
        )
    if not np.isfinite(raw).all():
        bad = int((~np.isfinite(raw)).sum())
        raise ValueError(f"points must be finite; got {bad} NaN or infinite of {raw.size}.")
    # Shifting a point along (1, ..., 1) leaves its projection alone and spares digits.
    raw = raw - raw.max(axis=-1, keepdims=True)
    falling = -np.sort(-raw, axis=-1)
    head = np.arange(1, raw.shape[-1] + 1)
    excess = (np.cumsum(falling, axis=-1) - 1) / head
    # The head that stays positive is a prefix, so counting it finds its end.
    support = np.count_nonzero(falling > excess, axis=-1, keepdims=True)
    shift = np.take_along_axis(excess, support - 1, axis=-1)
    return np.maximum(raw - shift, 0.0)


def project_open(points: ArrayLike) -> FloatArray:
    """Nearest points of ``{p >= 0, sum p <= 1}`` to points of shape (..., K).

    One minus their sum is the share left to unseen classes.
    """
    closed, clipped = project(points), np.maximum(np.asarray(points, dtype=np.float64), 0.0)
    return np.where(clipped.sum(axis=-1, keepdims=True) <= 1, clipped, closed)


def on_support(
    gram: FloatArray, linear: FloatArray, support: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Minimise ``pi' G pi / 2 - h' pi`` over ``sum pi = 1``, for each program.

    G has shape (..., K, K) and is not indefinite, h has shape (..., K). Shares off the support are
    held at 0, and the others may have any sign; by how much the former pull upwards comes second.
    """
    n_classes = linear.shape[-1]
    scale = np.trace(gram, axis1=-2, axis2=-1)[..., None, None] / n_classes
    scale = np.where(scale > 0, scale, 1.0)
    scaled = gram / scale
    system = np.zeros((*linear.shape[:-1], n_classes + 1, n_classes + 1))
    pairs = support[..., :, None] & support[..., None, :]
    system[..., :-1, :-1] = np.where(pairs, scaled, 0.0)
    diagonal = np.einsum("...kk->...k", system)
    diagonal[..., :-1] += _RIDGE + ~support
    system[..., -1, :-1] = system[..., :-1, -1] = support
    target = linear / scale[..., 0]
    right = np.append(np.where(support, target, 0.0), np.ones((*linear.shape[:-1], 1)), axis=-1)
    solved = np.linalg.solve(system, right[..., None])[..., 0]
    found, level = solved[..., :-1], solved[..., -1:]
    pull = target - level - np.einsum("...kl,...l->...k", scaled, found)
    return found, np.where(support, 0.0, pull)


def minimise_on_simplex(
    gram: FloatArray, linear: FloatArray, support: BoolArray | None = None
) -> FloatArray:
    """Minimise ``pi' G pi / 2 - h' pi`` over ``pi >= 0, sum pi = 1``, for each program.

    Block pivoting: all programs together are solved on their supports, and every class with the
    wrong sign changes sides, until none has. A program that goes round in circles goes to
    non-negative least squares. Shapes are those of :func:`on_support`, whose support is a guess
    here.
    """
    n_classes = linear.shape[-1]
    linears = linear.reshape(-1, n_classes)
    grams = np.broadcast_to(gram, (*linear.shape[:-1], n_classes, n_classes))
    grams = grams.reshape(-1, n_classes, n_classes)
    supports = np.ones(linears.shape, dtype=bool)
    if support is not None:
        supports = np.broadcast_to(support, linear.shape).reshape(supports.shape).copy()
        supports |= ~supports.any(axis=1, keepdims=True)
    found, left = np.empty(linears.shape), np.arange(len(linears))
    for _ in range(_PIVOTS):
        part, pull = on_support(grams[left], linears[left], supports[left])
        wrong = np.where(supports[left], part < 0, pull > _PULL_TOL)
        found[left] = part
        supports[left] ^= wrong
        supports[left] |= ~supports[left].any(axis=1, keepdims=True)
        left = left[wrong.any(axis=1)]
        if not left.size:
            break
    for program in left:
        supports[program] = _support(grams[program], linears[program])
        found[program], _ = on_support(grams[program], linears[program], supports[program])
    found = np.maximum(found, 0.0)
    found /= found.sum(axis=-1, keepdims=True)
    return found.reshape(linear.shape)


def _support(gram: FloatArray, linear: FloatArray) -> BoolArray:
    """Classes with a share above 0.

    On the simplex ``pi' G pi / 2 - h' pi`` equals ``|C pi|^2 / 2`` plus a constant, where
    ``C'C = G - h 1' - 1 h' + c 1 1'``. And the x that minimises ``|C x|^2 + (sum x - 1)^2`` over
    ``x >= 0`` points in the direction of pi.
    """
    scale = max(float(np.trace(gram)) / len(linear), np.finfo(float).tiny)
    G = gram / scale + _SUPPORT_RIDGE * np.eye(len(linear))
    h = (linear - linear.mean()) / scale
    constant = float(h @ np.linalg.solve(G, h))
    square = G - h[:, None] - h[None, :] + constant + 1.0
    values, vectors = np.linalg.eigh(square)
    root = np.sqrt(np.maximum(values, np.finfo(float).eps * values[-1]))
    factor = root[:, None] * vectors.T
    target = (vectors.T @ np.ones(len(h))) / root
    return np.asarray(nnls(factor, target)[0] > 0)


def mixture_shares(
    ratios: ArrayLike,
    weights: FloatArray | None = None,
    noise: FloatArray | None = None,
    *,
    start: FloatArray | None = None,
) -> FloatArray:
    """Maximise ``sum_j w_j log sum_k pi_k r_jk - c' pi`` over the simplex, for many w at once.

    Each Newton step maximises the quadratic model over the simplex, and is halved until it climbs.
    The ratios (m, K) are densities of the classes at the rows, up to a factor of the row's own; the
    weights (B, m) sum to 1, and ``noise`` (B, K) is c. The answer has shape (B, K), or (K,) without
    weights. Where the maximum is not unique the start (K,) decides.
    """
    arrays = chosen_arrays()
    R = arrays.put(ratios, np.float64)
    R = R / arrays.xp.amax(R, -1)[:, None]
    n_rows, n_classes = R.shape
    W = arrays.put(np.full((1, n_rows), 1 / n_rows) if weights is None else weights)
    c = np.zeros((len(W), n_classes)) if noise is None else noise
    first = np.full(n_classes, 1 / n_classes) if start is None else start
    # A share that starts at 0 could never be left by the first EM steps.
    pi = np.tile(0.99 * first + 0.01 / n_classes, (len(W), 1))
    for _ in range(_EM_STEPS):
        pi = pi * arrays.host((W / (arrays.put(pi) @ R.T)) @ R)
    going = np.arange(len(W))
    state: tuple[Array, ...] = (W, c, pi.copy(), *_heights(R, W, c, pi))
    for _ in range(_MAX_STEPS):
        before, state = state[2], _newton_step(R, *state)
        pi[going] = state[2]
        moving = np.abs(state[2] - before).max(axis=1) > _SHARE_TOL
        if not moving.any():
            break
        if not moving.all():
            going, state = going[moving], tuple(part[moving] for part in state)
    return pi[0] if weights is None else pi


def approximate_mixture_shares(
    ratios: FloatArray, weights: FloatArray, noise: FloatArray, *, start: FloatArray
) -> FloatArray:
    """Maximise as :func:`mixture_shares` does, by accelerated EM in single precision.

    A Newton step costs K^2 a row and replicate, an EM step K. Of many classes the shares come out
    within a hundredth of their standard error on average (tests/simplex states the tolerance).
    SQUAREM (Varadhan and Roland, 2008) extrapolates two EM steps, if the likelihood does not fall.
    """
    R = np.asarray(ratios / ratios.max(axis=1, keepdims=True), dtype=np.float32)
    W = weights.astype(np.float32)
    pi = np.tile(0.99 * start + 0.01 / len(start), (len(W), 1))
    active = np.arange(len(W))
    for _ in range(_MAX_STEPS):
        now, w, c = pi[active], W[active], noise[active]
        once, height = _em_step(R, w, c, now)
        twice, _ = _em_step(R, w, c, once)
        first, bend = once - now, twice - 2 * once + now
        squares = np.square(first).sum(axis=1), np.square(bend).sum(axis=1)
        length = np.sqrt(squares[0] / np.maximum(squares[1], 1e-30))
        length = np.maximum(length, 1.0)[:, None]
        ahead = np.maximum(now + 2 * length * first + length**2 * bend, 0.0)
        ahead /= ahead.sum(axis=1, keepdims=True)
        further, reached = _em_step(R, w, c, ahead)
        pi[active] = np.where((reached >= height)[:, None], further, twice)
        active = active[np.abs(first).max(axis=1) > _APPROXIMATE_TOL]
        if not active.size:
            break
    return pi


def _em_step(
    R: FloatArray, W: FloatArray, c: FloatArray, pi: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Shares after one EM step, and the height before the step.

    The step maximises ``sum_k n_k log pi_k - c_k pi_k``, so that ``pi_k = n_k / (mu + c_k)``. Their
    sum falls with mu and is convex: Newton's method climbs to mu from below.
    """
    density = np.maximum(pi.astype(R.dtype) @ R.T, np.finfo(R.dtype).tiny)
    expected = pi * ((W / density) @ R)
    height = np.einsum("bj,bj->b", W, np.log(density), dtype=np.float64)
    height -= np.einsum("bk,bk->b", c, pi)
    mu = (expected - c).max(axis=1, keepdims=True)
    for _ in range(_MU_STEPS):
        part = expected / np.maximum(mu + c, 1e-13)
        fall = (part / np.maximum(mu + c, 1e-13)).sum(axis=1, keepdims=True)
        mu = mu + (part.sum(axis=1, keepdims=True) - 1) / fall
    found = expected / np.maximum(mu + c, 1e-13)
    return found / found.sum(axis=1, keepdims=True), height


def _newton_step(
    R: Array, W: Array, c: FloatArray, pi: FloatArray, density: Array, height: FloatArray
) -> tuple[Array, ...]:
    """All of this after a step to the top of each quadratic model, halved until it climbs."""
    arrays = arrays_of(R)
    pull = W / density
    slope = arrays.host(pull @ R) - c
    curvature = _curvature(R, pull / density)
    linear = np.einsum("bkl,bl->bk", curvature, pi) + slope
    step = minimise_on_simplex(curvature, linear, pi > 0) - pi
    gain = np.einsum("bk,bk->b", slope, step)
    ahead, length = pi + step, np.ones(len(pi))
    densities, heights = _heights(R, W, c, ahead)
    for _ in range(50):
        # Near the top a rise is lost in rounding: there the full step is safe.
        low = np.flatnonzero(~(heights - height >= 1e-4 * length * gain - 1e-13))
        if not low.size:
            break
        length[low] /= 2
        ahead[low] = pi[low] + length[low, None] * step[low]
        densities[low], heights[low] = _heights(R, W[low], c[low], ahead[low])
    return W, c, ahead, densities, heights


def _curvature(R: Array, weights: Array) -> FloatArray:
    """All sums ``sum_j w_j r_jk r_jl``, one matrix per row of weights."""
    arrays, (n_rows, n_classes) = arrays_of(R), R.shape
    curvature = np.zeros((len(weights), n_classes, n_classes))
    if len(weights) * 2 < n_classes:
        for place, weight in enumerate(weights):
            scaled = R * (weight**0.5)[:, None]
            curvature[place] = arrays.host(scaled.T @ scaled)
        return curvature
    # One product for all rows of weights, over a few rows at a time: their pairs are many.
    upper, lower = np.triu_indices(n_classes)
    sums = np.zeros((len(weights), len(upper)))
    for part in row_blocks(n_rows, max(1, _PAIRS // len(upper))):
        pairs = R[part][:, upper] * R[part][:, lower]
        sums += arrays.host(weights[:, part] @ pairs)
    curvature[:, upper, lower] = curvature[:, lower, upper] = sums
    return curvature


def _heights(R: Array, W: Array, c: FloatArray, pi: FloatArray) -> tuple[Array, FloatArray]:
    """Density of each row at these shares, and what is maximised."""
    arrays = arrays_of(R)
    density = arrays.put(pi) @ R.T
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = arrays.xp.log(density)
    likelihood = arrays.host(arrays.contract("bj,bj->b", W, logs))
    height = likelihood - np.einsum("bk,bk->b", c, pi)
    return density, np.where(np.isnan(height), -np.inf, height)


def part_of_probabilities(scores: FloatArray) -> float:
    """The part of the rows whose scores are probabilities: none below 0, and 1 in sum."""
    tolerance = max(_SUM_TOL, _ROUNDING * scores.shape[1])
    fits = (scores.min(axis=1) >= 0) & (np.abs(scores.sum(axis=1) - 1) <= tolerance)
    return float(fits.mean())


def check_one_kind(part: float, part_new: float, name: str, name_new: str) -> None:
    """Raise where scores of labelled rows are probabilities and those of new rows not, or so."""
    if abs(part - part_new) > _OTHER_KIND:
        raise ValueError(
            f"{name_new} must be of one kind with {name}, probabilities or logits; {part_new:.0%} "
            f"of the new rows are probabilities (none below 0, sum 1) and {part:.0%} of the others."
        )


def score_features(scores: FloatArray, are_probabilities: bool) -> FloatArray:
    """Scores of the known classes as coordinates: K columns become K + 1.

    Probabilities become logarithms less their mean in the row, and the logarithm of the largest;
    logits stay, beside the logarithm of the sum of their exponentials, the negative energy.
    """
    if are_probabilities:
        logs = np.log(np.maximum(scores, _LEAST_PROBABILITY))
        return np.column_stack([logs - logs.mean(axis=1, keepdims=True), logs.max(axis=1)])
    return np.column_stack([scores, np.logaddexp.reduce(scores, axis=1)])
