"""Samples with prescribed proportions: exact shares, no row twice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unseen.datasets import draw_with_proportions
from unseen.datasets.generators import allot


def labels(*counts: int) -> np.ndarray:
    return np.repeat(np.arange(len(counts)), counts)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=8), st.integers(0, 500))
def test_allotted_numbers_are_within_one_of_exact_and_sum_up(weights, size):
    counts = allot(weights, size)
    exact = size * np.array(weights) / np.sum(weights)
    assert counts.sum() == size
    assert np.abs(counts - exact).max() < 1
    assert allot([0.5, 0.3, 0.2], 11).tolist() == [6, 3, 2]  # the largest remainder rounds up


def test_draw_has_exact_counts_and_no_row_twice():
    y = np.array(["cat"] * 30 + ["dog"] * 40 + ["owl"] * 5)
    places = draw_with_proportions(y, {"dog": 0.75, "cat": 0.25}, 40, random_state=1)
    assert len(set(places.tolist())) == 40
    assert sorted(y[places].tolist()) == ["cat"] * 10 + ["dog"] * 30
    assert (places == draw_with_proportions(y, {"dog": 0.75, "cat": 0.25}, 40, 1)).all()


def test_draw_names_what_is_missing():
    y = labels(3, 3)
    with pytest.raises(ValueError, match="need 4 of class 0, and y has 3"):
        draw_with_proportions(y, {0: 0.8, 1: 0.2}, 5)
    with pytest.raises(ValueError, match="proportions must be >= 0 and sum to 1"):
        draw_with_proportions(y, {0: 0.8, 1: 0.3}, 5)


def test_sizes_and_proportions_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="size must be >= 1; got -3"):
        draw_with_proportions(labels(3, 3), {0: 0.5, 1: 0.5}, -3)
    with pytest.raises(ValueError, match="proportions must be >= 0"):
        draw_with_proportions(labels(3, 3), {0: float("nan"), 1: 0.5}, 2)
