"""What labels buy, against closed forms and against counting."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta, binom, norm

from unseen.labelling import LabellingValue, default_sizes, labelling_value
from unseen.records import Estimate

Z = norm.ppf(0.975)


def made(unseen: float = 0.3, half_width: float = 0.05, n_rows: int = 400) -> Estimate:
    ends = np.array([1 - unseen, unseen])
    return Estimate(
        ("cat",),
        [1 - unseen],
        unseen,
        "made",
        n_labelled={"cat": 90},
        n_new=n_rows,
        intervals=np.column_stack([ends - half_width, ends + half_width]),
        confidence=0.95,
    )


def test_precisions_add() -> None:
    value = labelling_value(made(), [10, 100, 1000])
    alone, together = value.labels_alone, value.together
    assert_allclose(1 / together**2, 1 / 0.05**2 + 1 / alone**2)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
def test_labels_alone_leave_the_spread_of_jeffreys_beta(share) -> None:
    sizes = np.array([1, 10, 100, 1000])
    value = LabellingValue(None, share, 0.05, 0.95, sizes)
    spread = beta(sizes * share + 0.5, sizes * (1 - share) + 0.5).std()
    assert_allclose(value.labels_alone, Z * spread)


@pytest.mark.parametrize("share", [0.0, 0.005, 0.02, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("size", [10, 50, 1000])
def test_labels_alone_are_as_wide_as_jeffreys_interval_is_on_average(share, size) -> None:
    value = LabellingValue(None, share, 0.05, 0.95, np.array([size]))
    counts = np.arange(size + 1)
    lower, upper = jeffreys_interval(counts, size)
    mean = binom.pmf(counts, size, share) @ (upper - lower) / 2
    assert_allclose(value.labels_alone, mean, rtol=0.15)


def jeffreys_interval(counts, size):
    """At either end it is one-sided: of no row the lower end is 0, and of all the upper one 1."""
    rows = beta(counts + 0.5, size - counts + 0.5)
    lower, upper = rows.ppf(0.025), rows.ppf(0.975)
    return np.where(counts == 0, 0.0, lower), np.where(counts == size, 1.0, upper)


def test_many_labels_are_those_of_the_binomial() -> None:
    value = LabellingValue(None, 0.3, 0.05, 0.95, np.array([10**6]))
    assert_allclose(value.labels_alone, Z * np.sqrt(0.3 * 0.7 / 10**6), rtol=1e-5)


def test_as_many_labels_as_it_is_worth_are_as_precise_as_the_estimate() -> None:
    value = labelling_value(made())
    assert_allclose(value.half_width_alone(value.worth), 0.05)
    assert_allclose(value.half_width_together(value.worth), 0.05 / np.sqrt(2))


def test_worth_does_not_hang_on_the_level() -> None:
    wide = replace(made(half_width=0.05 / Z * norm.ppf(0.995)), confidence=0.99)
    assert_allclose(labelling_value(wide).worth, labelling_value(made()).worth)


def test_an_estimate_by_counting_labels_is_worth_those_labels() -> None:
    counted = made(0.3, Z * beta(75.5, 175.5).std())
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
@pytest.mark.parametrize("upper", [0.02, 0.1, 0.22])
def test_at_the_end_it_is_worth_so_many_labels_as_leave_its_interval(unseen, upper) -> None:
    """Not one of k labels unseen: the k whose one-sided interval is as wide."""
    value = labelling_value(made(unseen, upper / 2, n_rows=1000))
    sizes = np.arange(1, 1000)
    exact = sizes[np.argmax(jeffreys_interval(0, sizes)[1] <= upper)]
    assert_allclose(value.worth, exact, rtol=0.15)


def test_to_know_that_fewer_than_one_in_fifty_is_unseen_takes_well_over_a_hundred_labels() -> None:
    value = labelling_value(made(0.0, 0.01, n_rows=1000), [10])
    assert 120 < value.worth < 180
    assert 0.1 < value.labels_alone[0] < 0.13  # none of ten leaves 0 to 22%
    assert_allclose(value.together, 0.01, rtol=0.01)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.5])
def test_more_labels_are_worth_more(share) -> None:
    value = LabellingValue(None, share, 0.05, 0.95, np.array([10.0]))
    assert (np.diff(value.half_width_alone(np.geomspace(0.1, 1e6, 200))) < 0).all()


def test_what_says_less_than_one_label_is_worth_none() -> None:
    value = LabellingValue(None, 0.5, 0.9, 0.95, np.array([10.0]))
    assert value.worth == 0.0
    assert value.sentence == "This estimate is worth hardly one labelled row"


def test_a_known_class_by_name() -> None:
    assert_allclose(labelling_value(made(), label="cat").share, 0.7)
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
    assert default_sizes(120) == (10, 20, 50, 100)
    assert default_sizes(7) == (7,)
