"""What labels buy, against closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from unseen.base import Estimate
from unseen.labelling import LabellingValue, default_sizes, labelling_value

Z = norm.ppf(0.975)


def made(unseen: float = 0.3, half_width: float = 0.05, n_rows: int = 400) -> Estimate:
    ends = np.array([1 - unseen, unseen])
    return Estimate(
        ("cat",),
        [1 - unseen],
        unseen,
        "made",
        n_labelled={"cat": 90},
        n_unlabelled=n_rows,
        intervals=np.column_stack([ends - half_width, ends + half_width]),
        confidence=0.95,
    )


def test_precisions_add() -> None:
    value = labelling_value(made(), [10, 100, 1000])
    alone, together = value.labels_alone, value.together
    assert_allclose(1 / together**2, 1 / 0.05**2 + 1 / alone**2)
    share = (400 * 0.3 + 0.5) / 401
    assert_allclose(alone, Z * np.sqrt(share * (1 - share) / np.array([10, 100, 1000])))


def test_as_many_labels_as_it_is_worth_are_as_precise_as_the_estimate() -> None:
    value = labelling_value(made())
    assert_allclose(value.half_width_alone(value.worth), 0.05)
    assert_allclose(value.half_width_together(value.worth), 0.05 / np.sqrt(2))


def test_worth_does_not_hang_on_the_level() -> None:
    wide = replace(made(half_width=0.05 / Z * norm.ppf(0.995)), confidence=0.99)
    assert_allclose(labelling_value(wide).worth, labelling_value(made()).worth)


def test_an_estimate_by_counting_labels_is_worth_those_labels() -> None:
    share = (10**6 * 0.3 + 0.5) / (10**6 + 1)
    counted = made(0.3, Z * np.sqrt(share * (1 - share) / 250), n_rows=10**6)
    assert_allclose(labelling_value(counted).worth, 250)


def test_two_independent_estimates_combined_scatter_as_promised() -> None:
    rng = np.random.default_rng(0)
    n_labels, deviation = 200, 0.04
    counts = rng.binomial(n_labels, 0.3, 20_000) / n_labels
    guesses = rng.normal(0.3, deviation, 20_000)
    value = labelling_value(made(0.3, Z * deviation, 10**6), [n_labels])
    weight = value.labels_alone**-2.0, value.half_width**-2.0
    combined = (weight[0] * counts + weight[1] * guesses) / sum(weight)
    assert_allclose(combined.std(), value.together[0] / Z, rtol=0.02)


@pytest.mark.parametrize("unseen", [0.0, 1.0])
def test_a_share_at_the_end_is_pulled_in_by_half_a_row(unseen) -> None:
    value = labelling_value(made(unseen))
    assert_allclose(min(value.share, 1 - value.share), 0.5 / 401)
    assert 0 < value.worth < 10


def test_a_known_class_by_name() -> None:
    assert_allclose(labelling_value(made(), label="cat").share, (400 * 0.7 + 0.5) / 401)
    with pytest.raises(ValueError, match="label must be None or one of 'cat'; got 'dog'"):
        labelling_value(made(), label="dog")


def test_no_width_is_worth_more_than_any_number() -> None:
    value = LabellingValue(None, 0.3, 0.0, 0.95, np.array([10.0]))
    assert value.worth == np.inf
    assert value.together.tolist() == [0.0]
    assert "any number of labelled rows" in str(value)


@pytest.mark.parametrize("sizes", [[], [0], [10, -1], [float("inf")]])
def test_sizes_are_checked(sizes) -> None:
    with pytest.raises(ValueError, match="sizes must be numbers of rows"):
        labelling_value(made(), sizes)


def test_intervals_are_needed() -> None:
    with pytest.raises(ValueError, match="estimate must have intervals"):
        labelling_value(replace(made(), intervals=None))


@pytest.mark.parametrize("n_rows", [1, 9, 10, 999, 1000, 123_456])
def test_sizes_rise_to_the_rows_that_there_are(n_rows) -> None:
    sizes = default_sizes(n_rows)
    assert sizes == tuple(sorted(set(sizes)))
    assert n_rows / 2.5 < sizes[-1] <= n_rows
