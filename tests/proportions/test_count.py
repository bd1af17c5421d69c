"""Classify and count: a plain count, and plainly wrong under a shift."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from reference.closed_twins import gaussian_record
from unseen import ClassifyAndCount
from unseen.scores import Posteriors


def test_it_counts_the_most_probable_classes() -> None:
    new = [[0.9, 0.1], [0.6, 0.4], [0.4, 0.6], [0.7, 0.3]]
    record = Posteriors(("a", "b"), [0, 1], [[0.8, 0.2], [0.4, 0.6]], new)
    assert ClassifyAndCount().from_scores(record)["a"] == 0.75
    assert ClassifyAndCount(soft=True).from_scores(record)["a"] == pytest.approx(0.65)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_its_limit_is_the_share_classified_not_the_true_share(share) -> None:
    """Two unit Gaussians at -1 and 1 are told apart with error Phi(-1) either way."""
    record = gaussian_record([[-1.0], [1.0]], [1 - share, share], 10, 40_000, seed=0)
    wrong = norm.cdf(-1)
    limit = share * (1 - wrong) + (1 - share) * wrong
    assert ClassifyAndCount().from_scores(record)[1] == pytest.approx(limit, abs=0.01)


def test_replicates_have_the_spread_of_a_proportion() -> None:
    record = gaussian_record([[-1.0], [1.0]], [0.5, 0.5], 10, 500, seed=1)
    share = ClassifyAndCount().from_scores(record)[1]
    found = ClassifyAndCount().replicates(record, 4000, 0)
    assert_allclose(found[:, 1].std(), np.sqrt(share * (1 - share) / 501), rtol=0.05)
