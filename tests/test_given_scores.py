"""Scores of a classifier as features: both samples have the same columns, and one novelty each."""

import numpy as np
import pandas as pd
import pytest

from unseen.preparing import scores_as_features

SCORES, NEW = np.random.default_rng(0).dirichlet([1, 1], size=(2, 30))


def named(rows, names) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(names))


def test_columns_in_another_order_are_refused_as_they_are_of_features() -> None:
    with pytest.raises(ValueError, match="same order; got 'b', 'a' where scores has 'a', 'b'"):
        scores_as_features(named(SCORES, "ab"), named(NEW, "ba"))
    for one, other in zip(
        scores_as_features(named(SCORES, "ab"), named(NEW, "ab")),
        scores_as_features(SCORES, named(NEW, "ab")),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("novelty", "novelty_new", "words"),
    [
        (np.zeros(30), None, "novelty and novelty_new must be given both"),
        (np.zeros(30), np.zeros(9), r"novelty_new must be one number for each of 30 rows; got \(9"),
        (SCORES, NEW, r"novelty must be one number for each of 30 rows; got \(30, 2\)"),
        (np.zeros(30), np.full(30, np.inf), "novelty_new must be finite; 30 values are not"),
    ],
)
def test_a_novelty_is_one_finite_number_for_each_row(novelty, novelty_new, words) -> None:
    with pytest.raises(ValueError, match=words):
        scores_as_features(SCORES, NEW, novelty, novelty_new)


def test_the_unit_of_a_novelty_does_not_matter() -> None:
    own, new = np.random.default_rng(1).normal(size=(2, 30))
    for one, other in zip(
        scores_as_features(SCORES, NEW, own, new),
        scores_as_features(SCORES, NEW, 1000 * own, 1000 * new),
        strict=True,
    ):
        np.testing.assert_allclose(one, other)
