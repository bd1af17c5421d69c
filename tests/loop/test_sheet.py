"""Sheets draw every row with its stated probability, at least half of them uniformly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unseen
from unseen.loop.sheet import draw_probabilities, draw_rows


@given(st.integers(0, 2**31 - 1), st.integers(1, 80), st.integers(0, 3))
def test_probabilities_sum_to_the_rows_and_half_of_them_is_uniform(seed, n_rows, n_groups) -> None:
    rng = np.random.RandomState(seed)
    posteriors = rng.dirichlet(np.full(4, 0.1), size=60)
    groups = rng.randint(n_groups + 1, size=60)
    found = draw_probabilities(posteriors, groups, n_rows)
    assert found.sum() == pytest.approx(min(n_rows, 60))
    assert found.max() <= 1 + 1e-12
    assert found.min() >= min(1.0, n_rows / 120) - 1e-12


def test_unsure_rows_and_groups_come_more_often() -> None:
    posteriors = np.array([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    found = draw_probabilities(posteriors, np.array([0, 0, 0, 1]), 2)
    assert found == pytest.approx([0.25, 0.25, 0.75, 0.75])


def test_rows_come_as_often_as_their_probability_says_and_their_order_is_random() -> None:
    rng = np.random.RandomState(0)
    probabilities = np.array([1.0, 0.7, 0.5, 0.3, 0.3, 0.1, 0.1])
    draws = np.array([draw_rows(probabilities, rng) for _ in range(4000)])
    often = np.bincount(draws.ravel(), minlength=7) / 4000
    assert often == pytest.approx(probabilities, abs=4 * np.sqrt(0.25 / 4000))
    first = np.bincount(draws[:, 0], minlength=7) / 4000
    assert first == pytest.approx(probabilities / 3, abs=4 * np.sqrt(0.25 / 4000))


@pytest.fixture(scope="module")
def rule():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(100, 1))
    X_new = np.concatenate([rng.normal(size=(150, 1)), rng.normal(5, 1, size=(50, 1))])
    return unseen.RejectionThreshold(random_state=0).fit(X, np.repeat("cat", 100), X_new, [0.75])


def test_the_same_seed_draws_the_same_sheet_with_every_group_in_it(rule) -> None:
    groups = np.where(np.arange(200) >= 150, 1 + np.arange(200) % 2, 0)
    one, two = (unseen.draw_sheet(rule, 40, groups=groups, random_state=3) for _ in range(2))
    assert np.array_equal(one.rows, two.rows)
    assert len(one) == len(set(one.rows.tolist())) == 40
    assert {1, 2} <= set(one.groups.tolist())
    assert len(unseen.draw_sheet(rule, 999, random_state=0)) == 200


def test_bad_arguments_are_named(rule) -> None:
    for groups in ([1, 2], ["a"] * 200, [np.nan] * 200):
        with pytest.raises(ValueError, match=r"groups must hold a whole number for each of 200"):
            unseen.draw_sheet(rule, groups=groups)
    for n_rows in (0, 2.5, "3", None):
        with pytest.raises(ValueError, match=r"n_rows must be a whole number, at least 1; got"):
            unseen.draw_sheet(rule, n_rows)
    with pytest.raises(ValueError, match=r"rule must be a fitted rejection rule; got RejectionThr"):
        unseen.draw_sheet(unseen.RejectionThreshold())
