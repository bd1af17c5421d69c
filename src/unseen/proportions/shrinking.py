"""Shares of many classes, drawn towards the label shares as far as the data allow.

Where classes are many and their rows few, EM takes noise for shares. A Dirichlet prior with the
label shares as its mean is worth so many more rows, spread as the labels are: its strength. The
new rows say how probable each strength is. docs/default.md derives the average over strengths.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from unseen._types import FloatArray
from unseen.proportions.bootstrap import EXACT_ROWS
from unseen.scores import Posteriors
from unseen.simplex import approximate_mixture_shares

# With fewer classes nothing was gained where shares had changed (chosen on development problems).
_MANY_CLASSES = 10
# Strengths, in rows a class. The first stands for "shares may be anything", and leaves EM alone.
_STRENGTHS = 4.0 ** np.arange(-1, 5)
_LEAST_SHARE = 1e-12


def shrunk_shares(
    record: Posteriors, shares: FloatArray, known: FloatArray | None = None
) -> FloatArray:
    """Shares by EM, (K,), drawn towards the label shares; as they are if classes are few.

    So are they if rows are very many. ``known`` (m,) is the probability of each new row to belong
    to a known class, by which the row counts; None is 1 for all.
    """
    ratios, n_classes = record.ratios, len(shares)
    if n_classes < _MANY_CLASSES or len(ratios) > EXACT_ROWS:
        return shares
    ratios = ratios / ratios.max(axis=1, keepdims=True)
    rows = np.ones(len(ratios)) if known is None else known
    prior = n_classes * _STRENGTHS[:, None] * record.training_shares
    found = np.maximum(_most_probable(ratios, rows, prior, shares), _LEAST_SHARE)
    evidence = np.array([_evidence(ratios, rows, *one) for one in zip(prior, found, strict=True)])
    weight = np.exp(evidence - evidence.max())
    found[0] = shares
    return np.asarray(weight @ found / weight.sum())


def _most_probable(
    ratios: FloatArray, rows: FloatArray, prior: FloatArray, start: FloatArray
) -> FloatArray:
    """The most probable shares under each prior (B, K), in the coordinates log(share).

    A prior is worth ``prior_k`` rows that can be of class k alone.
    """
    weights = np.hstack([np.tile(rows, (len(prior), 1)), prior])
    weights /= weights.sum(axis=1, keepdims=True)
    every = np.vstack([ratios, np.eye(len(start))])
    return approximate_mixture_shares(every, weights, np.zeros(prior.shape), start=start)


def _evidence(ratios: FloatArray, rows: FloatArray, prior: FloatArray, shares: FloatArray) -> float:
    """Log-probability of the new rows under a Dirichlet prior, by Laplace's method at its peak.

    In the coordinates ``log(share)``, where the prior has no edge, the curvature is
    ``diag(prior) + sum_j p_j p_j' - n shares shares'``, with the posteriors ``p_j`` of the rows and
    n rows, those of the prior included. Along (1, ..., 1) nothing changes: that direction is given
    the curvature n.
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
