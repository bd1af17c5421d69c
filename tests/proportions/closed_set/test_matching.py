"""Bootstrap means of rows, and replicates of distribution matching against slow twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unseen.proportions.bootstrap import bootstrap_means
from unseen.proportions.closed_set.matching import matching, matching_replicates
from unseen.simplex import minimise_on_simplex


@pytest.mark.parametrize("exact_rows", [10**6, 10])
def test_bootstrap_means_have_the_moments_of_dirichlet_weights(monkeypatch, exact_rows) -> None:
    monkeypatch.setattr("unseen.proportions.bootstrap.EXACT_ROWS", exact_rows)
    rows = np.random.default_rng(0).normal([1.0, 2.0], [1.0, 3.0], (400, 2))
    means = bootstrap_means(rows, 20_000, np.random.default_rng(1))
    assert_allclose(means.mean(axis=0), rows.mean(axis=0), atol=0.005 * 3)
    # The variance of a mean under Dirichlet(1, ..., 1) weights is that of the rows over n + 1.
    assert_allclose(means.var(axis=0), rows.var(axis=0) / 401, rtol=0.05)


def test_replicates_spread_as_resolving_with_weights_does() -> None:
    """Matching the means of two features: the weighted programs can be solved one by one."""
    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1], 150)
    x = rng.normal(0, 1, (300, 2)) + codes[:, None] * [2.0, 1.0]
    x_new = rng.normal(0, 1, (200, 2)) + (np.arange(200) < 60)[:, None] * [2.0, 1.0]
    samples = [x[codes == 0], x[codes == 1], x_new]
    means = np.array([sample.mean(axis=0) for sample in samples])
    # The inner product of two points is their product: only means are matched.
    rows = x @ means.T, codes, x_new @ means.T
    gram, linear = matching(*rows)
    assert_allclose(gram, means[:2] @ means[:2].T, atol=1e-12)
    assert_allclose(linear, means[:2] @ means[2])
    found = matching_replicates(*rows, 2000, np.random.default_rng(0))
    slow = []
    for _ in range(2000):
        m = np.array([rng.dirichlet(np.ones(len(sample))) @ sample for sample in samples])
        slow.append(minimise_on_simplex(m[:2] @ m[:2].T, m[:2] @ m[2]))
    assert_allclose(found.mean(axis=0), np.mean(slow, axis=0), atol=0.005)
    assert_allclose(found.std(axis=0), np.std(slow, axis=0), rtol=0.1)
