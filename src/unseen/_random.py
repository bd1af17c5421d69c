"""Seeds and random generators."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from unseen._types import FloatArray, IntArray


def whole_seed(random_state: Any) -> int:
    """A whole number that seeds a whole run; a record can say how to repeat the run by it."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def generator(random_state: Any) -> np.random.Generator:
    """A generator from a seed, a RandomState or a generator, which is used as it is."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))


def even_draws(n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Uniform draws, one in each of equal parts, in an order drawn by chance.

    Quantiles of a law at such levels have next to no noise.

    Examples
    --------
    >>> sorted(np.floor(10 * even_draws(10, np.random.default_rng(0))).astype(int).tolist())
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    return (rng.permutation(n_draws) + rng.random(n_draws)) / n_draws


def water_level(counts: IntArray, n_rows: int) -> int:
    """The largest t with sum of min(count, t) at most ``n_rows``; ``n_rows`` if all fit."""
    ascending = np.sort(np.asarray(counts, dtype=np.int64))
    if ascending.sum() <= n_rows:
        return n_rows
    taken, left = 0, len(ascending)
    for count in ascending:
        if taken + count * left > n_rows:
            break
        taken, left = taken + int(count), left - 1
    return int((n_rows - taken) // left)


def seeded(estimator: Any, seed: int) -> Any:
    """A fresh copy of an estimator that draws all its randomness, nested too, from the seed."""
    model = clone(estimator)
    names = [name for name in model.get_params() if name.endswith("random_state")]
    return model.set_params(**dict.fromkeys(names, int(seed)))
