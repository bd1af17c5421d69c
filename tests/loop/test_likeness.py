"""Whether rows look like one class or like two."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from unseen.loop.likeness import OneOrTwo, measures, place_of_groups, width
from unseen.loop.neighbours import Units


def test_a_width_is_the_root_mean_square_distance_to_the_mean() -> None:
    assert width(np.array([[0.0], [2.0]])) == 1.0
    assert width(np.array([[5.0], [5.0]])) == 0.0


def test_measures_are_both_widths_and_the_parting_and_grow_from_one_class_to_two() -> None:
    rng = np.random.RandomState(0)
    one = rng.normal(size=(40, 2))
    two = np.vstack([one, one + np.array([30, 0])])
    units = Units(np.diag([0.5, 2.0]))
    found = measures(one, units, 8), measures(two, units, 8)
    assert_allclose(np.exp(found[0][:2]), [width(one), width(one * [0.5, 2.0])])
    assert (found[1] > found[0]).all()
    assert found[1][2] == pytest.approx(1)
    assert_allclose(measures(7 * one, units, 8) - found[0], [np.log(7), np.log(7), 0], atol=1e-9)
    assert np.isfinite(measures(np.ones((9, 2)), units, 3)).all()


def test_known_classes_lie_at_nought_and_their_pairs_at_one_on_average() -> None:
    rng = np.random.RandomState(0)
    one, two = rng.normal(size=(6, 3)), rng.normal(2, 1, size=(15, 3))
    yardstick = OneOrTwo.learn(one, two)
    assert yardstick.place(one).mean() == pytest.approx(0)
    assert yardstick.place(two).mean() == pytest.approx(1)
    assert yardstick.counts.sum() == pytest.approx(1)
    halfway = (one.mean(axis=0) + two.mean(axis=0)) / 2
    assert yardstick.place(halfway[None]).tolist() == pytest.approx([0.5])
    for scale in (1e-3, 1e3):  # units of a measure do not count
        other = OneOrTwo.learn(one * [scale, 1, 1], two * [scale, 1, 1])
        assert_allclose(other.place(two * [scale, 1, 1]), yardstick.place(two))


def test_measures_count_by_their_squared_distance_in_standard_deviations() -> None:
    """Of very many classes, and of one, where all measures are as good as each other."""
    rng = np.random.RandomState(0)
    one, two = rng.normal(size=(50_000, 2)), rng.normal([2, 4], 1, size=(50_000, 2))
    assert_allclose(OneOrTwo.learn(one, two).counts, [4 / 20, 16 / 20], atol=0.005)
    few = OneOrTwo.learn(np.zeros((1, 2)), np.array([[2.0, 4.0]]))
    assert_allclose(few.counts, [0.5, 0.5])


def test_a_measure_that_is_no_higher_for_two_classes_tells_nothing() -> None:
    one, two = np.array([[0.0, 1.0], [0.2, 1.2]]), np.array([[2.0, 0.0], [2.2, 0.1]])
    yardstick = OneOrTwo.learn(one, two)
    assert yardstick.counts.tolist() == [1, 0]
    assert yardstick.place(np.array([[1.1, 1e9]])).tolist() == pytest.approx([0.5])
    nothing = OneOrTwo.learn(two, one - 5)
    assert nothing.place(two).tolist() == [0, 0]


def test_one_group_of_two_classes_is_likelier_the_farther_it_is_and_the_larger() -> None:
    places, sizes = np.array([0.0, 0.0, 1.0]), np.array([10, 10, 10])
    densities = [norm.pdf(places, mean, np.sqrt(0.5)) for mean in (0, 1)]
    # One of three groups of a size, and no matter which, is two classes.
    likelihood = np.mean(densities[1] / densities[0])
    assert place_of_groups(places, sizes) == pytest.approx(np.log(likelihood) / 2 + 0.5)
    assert places.mean() < place_of_groups(places, sizes) < places.max()
    assert place_of_groups(places, sizes) < place_of_groups(places, np.array([10, 10, 40]))
    assert place_of_groups(np.array([0.3, 0.3]), np.array([5, 9])) == pytest.approx(0.3)
