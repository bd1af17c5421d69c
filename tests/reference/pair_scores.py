"""Scores of the new rows against each known class, with shares that are known."""

from __future__ import annotations

import numpy as np

from unseen.records import Notice
from unseen.scores import PairScores

ODD = Notice("constant_columns", "odd rows")


def gaussian_pairs(
    shares: list[float], n: int = 1000, seed: int = 0, shift: float = 4.0
) -> PairScores:
    """Per class: scores of F = (1 - share) N(shift, 1) + share N(0, 1), and of H = N(0, 1)."""
    rng = np.random.default_rng(seed)
    pairs = tuple(
        (rng.normal(np.where(np.arange(n) < share * n, 0, shift), 1), rng.normal(0, 1, n))
        for share in shares
    )
    return PairScores(tuple("abcdef"[: len(shares)]), pairs, seed=5, notices=(ODD,))
